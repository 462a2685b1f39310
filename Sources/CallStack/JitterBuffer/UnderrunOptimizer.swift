import CallCore

/// Finds the delay at which the buffer seldom runs empty: a quantile of the maximum delay of each half second
/// (libwebrtc's `UnderrunOptimizer`, with its defaults).
struct UnderrunOptimizer: Sendable {
  private static let period = Interval.milliseconds(500)
  private static let quantile = 0.95

  private var histogram = DelayHistogram(forgetting: 0.983)
  private var periodStart: Instant?
  private var largest = Interval.zero
  /// The optimal delay; nil in the first half second.
  private(set) var delay: Interval?

  mutating func add(_ relativeDelay: Interval, at now: Instant) {
    let start = periodStart ?? now
    periodStart = start
    if now - start > Self.period {
      histogram.add(largest)
      delay = histogram.quantile(Self.quantile)
      periodStart = now
      largest = .zero
    }
    largest = max(largest, relativeDelay)
  }
}
