package import CallCore

/// The lag of a paced simulation: for every event, the time by which the machine's clock was ahead of it.
package struct LagRecord: Sendable {
  /// A histogram up to 2 s in steps of 100 µs; the last step includes longer lags.
  private var counts: [UInt32] = Array(repeating: 0, count: 20_000)
  private static let step = Interval.microseconds(100)
  private var total = 0
  package private(set) var maximum = Interval.zero
  /// The virtual time of the event with the longest lag.
  package private(set) var worst = Instant.zero

  package init() {}

  package mutating func add(_ lag: Interval, at time: Instant) {
    let lag = max(.zero, lag)
    if lag > maximum { (maximum, worst) = (lag, time) }
    total += 1
    let index = min(Int(lag.nanoseconds / Self.step.nanoseconds), counts.count - 1)
    counts[index] &+= 1
  }

  /// Returns the lag that at least this share of the events did not exceed, rounded up to a step.
  package func quantile(_ share: Double) -> Interval {
    guard total > 0 else { return .zero }
    let rank = Int((Double(total) * share).rounded(.up))
    var seen = 0
    for (index, count) in counts.enumerated() {
      seen += Int(count)
      if seen >= rank { return index == counts.count - 1 ? maximum : min(maximum, Self.step * Int64(index + 1)) }
    }
    return maximum
  }
}
