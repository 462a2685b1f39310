internal import Codecs
package import PeerSession

/// Puts beside each sample that is played the one that was recorded at its position.
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

  /// Calls `body` with pairs of equally long pieces.
  ///
  /// - Parameters:
  ///   - heard: The samples that are played, at 48 kHz.
  ///   - position: Of the first one; nil if it is concealed.
  ///   - sound: Returns the recorded sound from a position on, and the position after it.
  package mutating func pair(
    _ heard: [Int16], at position: AudioPosition?,
    sound: (AudioPosition, Int) -> (samples: [Int16], end: AudioPosition)?,
    _ body: (_ said: [Int16], _ heard: [Int16]) -> Void
  ) {
    if let position, let next, next.ssrc == position.ssrc { fill(from: next, to: position, sound, body) }
    guard let start = position ?? next else { return }
    guard let said = sound(start, heard.count) else {
      next = nil
      return
    }
    next = said.end
    body(said.samples, heard)
  }

  /// Pairs the sound that was left out with silence.
  private func fill(
    from start: AudioPosition, to end: AudioPosition,
    _ sound: (AudioPosition, Int) -> (samples: [Int16], end: AudioPosition)?, _ body: ([Int16], [Int16]) -> Void
  ) {
    let frame = audioDevicePeriod.samplesPerChannel
    var pieces: [[Int16]] = []
    var position = start
    while let piece = sound(position, frame), Int32(bitPattern: end.timestamp &- piece.end.timestamp) >= 0 {
      pieces.append(piece.samples)
      position = piece.end
      if pieces.count > Self.longestGap / 10 { return }
    }
    guard pieces.count > Self.compression / 10 else { return }
    for piece in pieces { body(piece, Array(repeating: 0, count: frame)) }
  }
}
