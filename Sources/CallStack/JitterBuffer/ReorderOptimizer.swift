import CallCore

/// Finds the delay that is worth waiting for reordered packets: 20 ms for each percent of packets that it saves
/// (libwebrtc's `ReorderOptimizer`, with its defaults).
struct ReorderOptimizer: Sendable {
  private static let millisecondsAPercent: Int64 = 20

  private var histogram = DelayHistogram(forgetting: 0.9993)
  private(set) var delay: Interval?

  /// - Parameter base: the delay that exists in any case, and so costs nothing.
  mutating func add(_ relativeDelay: Interval, isReordered: Bool, base: Interval) {
    histogram.add(isReordered ? relativeDelay : .zero)
    var lost = DelayHistogram.certain
    var best = (cost: Int64.max, bucket: 0)
    for bucket in 0...histogram.highest {
      lost -= histogram.probabilities[bucket]
      let extra = max(.zero, DelayHistogram.bucketWidth * Int64(bucket) - base)
      let cost =
        extra.nanoseconds / 1_000_000 * DelayHistogram.certain + 100 * Self.millisecondsAPercent * lost
      if cost < best.cost { best = (cost, bucket) }
    }
    delay = DelayHistogram.end(of: best.bucket)
  }
}
