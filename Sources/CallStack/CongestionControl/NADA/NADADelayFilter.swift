import CallCore

/// The queuing delay of a path: one-way delays above the smallest one, of which a minimum filter takes out the noise
/// (RFC 8698 section 5.1.1).
struct NADADelayFilter: Sendable {
  /// The taps of the minimum filter.
  private static let taps = 15
  /// The time after which a smallest delay begins to be forgotten, because clocks drift and routes change.
  private static let baseLifetime = Interval.minutes(5)

  /// The last delays, by clocks that differ by a constant.
  private var delays = SlidingWindow<Interval>(capacity: NADADelayFilter.taps)
  /// The smallest delay of the current lifetime, and of the one before.
  private var base: Interval?
  private var oldBase: Interval?
  private var baseStart = Instant.zero

  /// Adds the one-way delay of a packet, and returns the queuing delay.
  mutating func add(_ delay: Interval, at now: Instant) -> Interval {
    if base == nil || now - baseStart > Self.baseLifetime {
      (oldBase, base, baseStart) = (base, delay, now)
    }
    delays.append(delay)
    let smallest = min(base ?? delay, delay)
    base = smallest
    var filtered = delay
    for index in 0..<delays.count { filtered = min(filtered, delays[index]) }
    return max(.zero, filtered - min(smallest, oldBase ?? smallest))
  }
}
