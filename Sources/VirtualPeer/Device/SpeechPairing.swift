internal import Codecs
package import PeerSession

/// Puts beside each piece of sound that is played what was recorded at its position.
///
/// What is heard stays whole: beside concealed sound stands what was said meanwhile. After sound that was stretched or
/// compressed the recording goes on at the new position. Sound that was left out is heard as silence.
package struct SpeechPairing {
  /// The position after the last played sample.
  private var next: AudioPosition?
  /// Compression leaves out up to a pitch period a time, whose sound is heard in the rest; what is longer is missing.
  private static let compression = 40
  /// What is longer is another beginning.
  private static let longestGap = 2_000

  package init() {}

  /// What became of a piece that was said.
  package enum Fate: Hashable, Sendable {
    /// It is what is heard.
    case played
    /// Concealment or comfort noise is heard in its place.
    case replaced
    /// Nothing is heard in its place: a frame of ``audioDevicePeriod`` was left out.
    case leftOut
  }

  /// Calls `body` with each piece that was due to be heard.
  ///
  /// - Parameters:
  ///   - count: The number of samples that are played, at 48 kHz.
  ///   - position: Of the first one; nil if it is concealed.
  ///   - recorded: Returns what was recorded from a position on, and the position after it.
  package mutating func pair<Piece>(
    _ count: Int, at position: AudioPosition?, recorded: (AudioPosition, Int) -> (piece: Piece, end: AudioPosition)?,
    _ body: (Piece, Fate) -> Void
  ) {
    if let position, let next, next.ssrc == position.ssrc { fill(from: next, to: position, recorded, body) }
    guard let start = position ?? next else { return }
    guard let said = recorded(start, count) else {
      next = nil
      return
    }
    next = said.end
    body(said.piece, position == nil ? .replaced : .played)
  }

  private func fill<Piece>(
    from start: AudioPosition, to end: AudioPosition,
    _ recorded: (AudioPosition, Int) -> (piece: Piece, end: AudioPosition)?, _ body: (Piece, Fate) -> Void
  ) {
    var pieces: [Piece] = []
    var position = start
    while let said = recorded(position, audioDevicePeriod.samplesPerChannel),
      Int32(bitPattern: end.timestamp &- said.end.timestamp) >= 0
    {
      pieces.append(said.piece)
      position = said.end
      if pieces.count > Self.longestGap / 10 { return }
    }
    guard pieces.count > Self.compression / 10 else { return }
    for piece in pieces { body(piece, .leftOut) }
  }
}
