internal import Codecs

/// The position of a sender in its media, and the ticks of the RTP media clock at it.
///
/// A change of the clock rate keeps the clock continuous: it advances by the old rate up to the change (RFC 7160 section
/// 4.1).
struct SendingClock {
  /// The number of 48 kHz samples since the beginning.
  var position: Int64 = 0
  private var start: (position: Int64, ticks: UInt32) = (0, 0)
  /// The number of 48 kHz samples in one tick.
  private(set) var samplesPerTick: Int64

  init(rate: UInt32) { samplesPerTick = Self.samples(rate) }

  private static func samples(_ rate: UInt32) -> Int64 { max(1, Int64(audioSampleRate) / Int64(max(1, rate))) }

  mutating func setRate(_ rate: UInt32) {
    let next = Self.samples(rate)
    guard next != samplesPerTick else { return }
    start = (position, ticks(at: position))
    samplesPerTick = next
  }

  /// Returns the ticks at a position since the last change.
  func ticks(at position: Int64) -> UInt32 {
    start.ticks &+ UInt32(truncatingIfNeeded: (position - start.position) / samplesPerTick)
  }
}
