/// Where somebody speaks in a stream, from its beginning on, in ticks of the media clock.
struct SpeechRuns {
  /// The timestamps are those that follow the first.
  private var first: UInt32?
  /// The place after the last frame.
  private var end: UInt32 = 0
  private var runs: [Range<UInt32>] = []

  /// Adds a frame, after those before it.
  mutating func add(before timestamp: UInt32, ticks: UInt32, isSpeech: Bool) {
    let first = self.first ?? timestamp &- ticks
    self.first = first
    end = timestamp &- first
    // Media clocks that are set back begin a stream anew, which is none of ours.
    guard isSpeech, end >= ticks else { return }
    if let last = runs.last, last.upperBound == end &- ticks {
      runs[runs.count - 1] = last.lowerBound..<end
    } else if runs.last.map({ $0.upperBound < end - ticks }) ?? true {
      runs.append(end - ticks..<end)
    }
  }

  /// Returns whether somebody speaks at a timestamp; nil before the first frame and after the last.
  func isSpeech(at timestamp: UInt32) -> Bool? {
    guard let first else { return nil }
    let place = timestamp &- first
    guard place < end else { return nil }
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].upperBound <= place { low = middle + 1 } else { high = middle }
    }
    return low < runs.count && runs[low].contains(place)
  }
}
