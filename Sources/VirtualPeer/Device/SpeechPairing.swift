internal import Codecs
package import PeerSession

/// Puts beside each piece of sound that is played what was recorded at its position.
///
/// What is heard stays whole and in order. While concealment or comfort noise is played, the place in the recording is
/// unknown: the next sound that was sent tells what was lost meanwhile, and what only came later. After sound that was
/// stretched or compressed the recording goes on at the new position.
package struct SpeechPairing<Heard> {
  /// What became of a piece that was said.
  package enum Fate {
    /// It is what is heard.
    case played(Heard)
    /// Concealment or comfort noise is heard in its place.
    case replaced(Heard)
    /// Nothing is heard in its place: a frame of ``audioDevicePeriod`` was left out.
    case leftOut
  }

  /// The position after the last sample that was played or is known to be lost.
  private var next: AudioPosition?
  /// What was heard since in place of sound that was sent, a piece each.
  private var pending: [Heard] = []
  /// Compression leaves out up to a pitch period a time, whose sound is heard in the rest; what is longer is missing.
  private let compression = 4
  /// What has not come after so many pieces, twice a second's worth, never will: no jitter buffer waits for longer.
  private let patience = 200
  /// As much as a recording keeps: ten seconds.
  private let longestGap = 1_000

  package init() {}

  /// Calls `body` with each piece that was due to be heard.
  ///
  /// - Parameters:
  ///   - heard: What is played for ``audioDevicePeriod``.
  ///   - position: Of its first sample; nil if it is concealed.
  ///   - recorded: Returns what was recorded from a position on, and the position after it.
  ///   - body: Takes what was said; nil where nothing was, because what was sent came later.
  package mutating func pair<Piece>(
    _ heard: Heard, at position: AudioPosition?,
    recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?, _ body: (Piece?, Fate) -> Void
  ) {
    guard let position else {
      guard next != nil else { return }
      pending.append(heard)
      if pending.count > patience { giveUp(recorded, body) }
      return
    }
    settle(before: position, recorded, body)
    let said = recorded(position)
    next = said?.end
    if let said { body(said.piece, .played(heard)) }
  }

  /// Gives up the oldest piece that was due.
  private mutating func giveUp<Piece>(
    _ recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?, _ body: (Piece?, Fate) -> Void
  ) {
    let said = next.flatMap(recorded)
    body(said?.piece, .replaced(pending.removeFirst()))
    if let said { next = said.end }
  }

  /// Tells what became of the sound from the last known position up to one that is played.
  private mutating func settle<Piece>(
    before position: AudioPosition, _ recorded: (AudioPosition) -> (piece: Piece, end: AudioPosition)?,
    _ body: (Piece?, Fate) -> Void
  ) {
    var lost: [Piece] = []
    if var place = next, place.ssrc == position.ssrc {
      while lost.count < longestGap, let said = recorded(place),
        Int32(bitPattern: position.timestamp &- said.end.timestamp) >= 0
      {
        lost.append(said.piece)
        place = said.end
      }
    }
    if pending.isEmpty, lost.count <= compression { return }
    for (index, heard) in pending.enumerated() { body(index < lost.count ? lost[index] : nil, .replaced(heard)) }
    for piece in lost.dropFirst(pending.count) { body(piece, .leftOut) }
    pending.removeAll(keepingCapacity: true)
  }
}
