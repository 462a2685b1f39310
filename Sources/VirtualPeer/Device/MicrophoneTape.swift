internal import CallCore
internal import PeerSession

/// The last seconds of sound that a microphone gave to each of its streams, at 48 kHz.
package struct MicrophoneTape {
  private struct Reel {
    var samples: [Int16] = Array(repeating: 0, count: capacity)
    /// The number of samples written, of which the last ones are held.
    var written = 0
    /// The position after the last sample.
    var end: RecordingPosition
  }

  /// Fifteen seconds: more than any playout delay.
  private static let capacity = 720_000
  private var reels: [UInt32: Reel] = [:]
  /// The frame of the microphone that is being sent.
  var frame: [Int16] = []

  /// Keeps the frame for a stream.
  mutating func keep(before end: RecordingPosition) {
    guard !frame.isEmpty else { return }
    let ssrc = end.position.ssrc
    var reel = reels.removeValue(forKey: ssrc) ?? Reel(end: end)
    let isNext = reel.end.clockRate == end.clockRate && reel.end.ticks(until: end.position) == end.ticks(frame.count)
    if !isNext { reel.written = 0 }
    for sample in frame {
      reel.samples[reel.written % Self.capacity] = end.isSent ? sample : 0
      reel.written += 1
    }
    reel.end = end
    reels[ssrc] = reel
  }

  /// Returns the sound that a stream carries from a position on, and the position after it; nil if the tape does not
  /// have all of it.
  func sound(at position: AudioPosition, count: Int) -> (piece: [Int16], end: AudioPosition)? {
    guard let reel = reels[position.ssrc] else { return nil }
    // The decoded sound comes after its timestamps by the delay of the codec.
    let delay = Int(reel.end.codecDelay.nanoseconds * 48 / 1_000_000)
    let age = -reel.end.ticks(until: position) * reel.end.samplesPerTick + delay
    guard age >= count, age <= min(reel.written, Self.capacity) else { return nil }
    let start = reel.written - age
    let samples = (start..<start + count).map { reel.samples[$0 % Self.capacity] }
    return (samples, reel.end.position(count, after: position))
  }
}

extension RecordingPosition {
  /// The number of samples at 48 kHz in a tick of the media clock.
  fileprivate var samplesPerTick: Int { max(1, 48_000 / max(1, Int(clockRate))) }

  fileprivate func ticks(_ samples: Int) -> Int { samples / samplesPerTick }

  /// Returns the position that many samples at 48 kHz after another one of the stream.
  func position(_ samples: Int, after other: AudioPosition) -> AudioPosition {
    AudioPosition(ssrc: other.ssrc, timestamp: other.timestamp &+ UInt32(truncatingIfNeeded: ticks(samples)))
  }

  fileprivate func ticks(until other: AudioPosition) -> Int {
    Int(Int32(bitPattern: other.timestamp &- position.timestamp))
  }
}
