internal import Codecs

/// What was heard and is to be said again. A ring: while nobody takes, the oldest is overwritten.
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

  /// The next sample, or silence when there is none.
  func next() -> Int16 {
    guard count > 0 else { return 0 }
    defer {
      start = (start + 1) % samples.count
      count -= 1
    }
    return samples[start]
  }
}
