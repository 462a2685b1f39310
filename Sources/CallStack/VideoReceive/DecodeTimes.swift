package import CallCore

/// The time that all but one in twenty of the frames of the last ten seconds took to decode.
package struct DecodeTimes: Sendable {
  private var times: [(at: Instant, duration: Interval)] = []
  private var ignored = 0
  private static let window = Interval.seconds(10)
  private static let maximumCount = 512
  /// The number of first frames that are ignored, because the decoder warms up.
  private static let ignoredCount = 5

  package init() {}

  package mutating func append(_ duration: Interval, at now: Instant) {
    guard ignored >= Self.ignoredCount else {
      ignored += 1
      return
    }
    let old = now - Self.window
    times.removeFirst(times.firstIndex { $0.at >= old } ?? times.count)
    if times.count >= Self.maximumCount { times.removeFirst() }
    times.append((now, max(.zero, duration)))
    percentile = compute()
  }

  /// The 95th percentile; zero before there is a sample.
  package private(set) var percentile = Interval.zero

  private func compute() -> Interval {
    let sorted = times.map(\.duration).sorted()
    return sorted.isEmpty ? .zero : sorted[min(sorted.count - 1, sorted.count * 95 / 100)]
  }
}
