internal import Codecs

/// A ring buffer of received audio that is sent back. A full buffer overwrites its oldest samples.
final class AudioEcho {
  private var samples = [Int16](repeating: 0, count: audioSampleRate / 5)
  private var start = 0
  private var count = 0

  func append(_ heard: Span<Int16>) {
    for index in heard.indices {
      samples[(start + count) % samples.count] = heard[index]
      if count < samples.count { count += 1 } else { start = (start + 1) % samples.count }
    }
  }

  /// Returns the next sample, or silence if there is none.
  func next() -> Int16 {
    guard count > 0 else { return 0 }
    defer {
      start = (start + 1) % samples.count
      count -= 1
    }
    return samples[start]
  }
}
