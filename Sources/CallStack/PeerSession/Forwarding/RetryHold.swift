internal import CallCore

/// A time for which nothing is tried again, doubled with each failure that follows soon after a try.
struct RetryHold {
  private static let length = (first: Interval.seconds(2), longest: Interval.seconds(32))
  /// A try that has lasted for so long has not failed.
  private static let trial = Interval.seconds(10)

  private var length = Self.length.first
  private var until: Instant?

  func isOn(at now: Instant) -> Bool { until.map { now < $0 } ?? false }

  /// Begins anew.
  ///
  /// - Parameters:
  ///   - failed: When the last try failed.
  ///   - tried: When it began; nil before the first.
  mutating func begin(at now: Instant, failed: Instant, tried: Instant?) {
    let isFailure = tried.map { failed - $0 < Self.trial } ?? false
    length = isFailure ? min(length * 2, Self.length.longest) : Self.length.first
    until = now + length
  }
}
