internal import CallCore
package import Codecs

/// Adds the samples of several streams with saturation, as an output device does.
///
/// A single stream is written directly into the output.
package final class AudioMixer {
  private var scratch: UnsafeMutableBufferPointer<Int16>?
  private var streams = 0
  /// The sum of the squared levels, for streams that produce no samples.
  private var power = 0.0
  private var single = AudioLevel.silence
  /// The largest number of samples pulled from a jitter buffer at once: 120 ms.
  private static let capacity = 5_760

  package init() {}

  deinit { scratch?.deallocate() }

  package func begin() {
    streams = 0
    power = 0
  }

  /// Adds the output of one stream. `play` appends its samples, and returns nil if the stream has nothing to play.
  package func add(into output: inout OutputSpan<Int16>, _ play: (inout OutputSpan<Int16>) -> AudioLevel?) {
    let level: AudioLevel?
    if streams == 0 {
      level = play(&output)
    } else {
      let memory = scratch ?? .allocate(capacity: Self.capacity)
      scratch = memory
      var more = OutputSpan<Int16>(buffer: memory, initializedCount: 0)
      level = play(&more)
      Self.add(more.span, to: &output)
      _ = more.finalize(for: memory)
    }
    guard let level else { return }
    streams += 1
    single = level
    power += level.linear * level.linear
  }

  /// Returns the level of the mix; nil when nothing played.
  package func level(of output: borrowing OutputSpan<Int16>) -> AudioLevel? {
    switch streams {
    case 0: nil
    case 1: single
    default: output.isEmpty ? AudioLevel(linear: power.squareRoot()) : AudioLevel(of: output.span)
    }
  }

  private static func add(_ samples: Span<Int16>, to output: inout OutputSpan<Int16>) {
    var mixed = output.mutableSpan
    for index in 0..<min(samples.count, mixed.count) {
      let sum = Int32(mixed[index]) + Int32(samples[index])
      mixed[index] = Int16(clamping: sum)
    }
  }
}
