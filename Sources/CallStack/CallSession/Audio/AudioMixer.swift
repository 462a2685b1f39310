internal import CallCore
package import Codecs

/// Adds up what several streams play, as an output device does: with saturation.
///
/// A single stream is played straight into the output.
package final class AudioMixer {
  private var scratch: UnsafeMutableBufferPointer<Int16>?
  private var streams = 0
  /// The sum of the squares of their levels, for streams that yield no samples.
  private var power = 0.0
  private var single = AudioLevel.silence
  /// The longest pull of a jitter buffer: 120 ms.
  private static let capacity = 5_760

  package init() {}

  deinit { scratch?.deallocate() }

  package func begin() {
    streams = 0
    power = 0
  }

  /// Adds what one stream plays; `play` appends its samples, and returns nil when the stream is silent for good.
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

  /// How loud all of it is; nil when nothing played.
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
