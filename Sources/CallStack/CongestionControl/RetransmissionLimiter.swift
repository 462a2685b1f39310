package import CallCore

/// Limits the rate of retransmissions, as libwebrtc does: what is lost because a link is full is not sent again and
/// again (`RateLimiter`, a window of 500 ms).
package struct RetransmissionLimiter: Sendable {
  /// The maximum rate; nil for no limit.
  package var maximum: DataRate?
  private var window: [(at: Instant, byteCount: Int)] = []
  private var byteCount = 0
  /// The number of requested packets that were refused.
  package private(set) var refusedCount = 0

  private static let span = Interval.milliseconds(500)

  package init() {}

  /// Returns whether a packet may be sent again now, and counts those that may not.
  package mutating func admits(at now: Instant) -> Bool {
    let first = window.firstIndex { now - $0.at < Self.span } ?? window.count
    for entry in window[..<first] { byteCount -= entry.byteCount }
    window.removeFirst(first)
    guard let maximum, DataRate(byteCount: byteCount, per: Self.span) > maximum else { return true }
    refusedCount += 1
    return false
  }

  /// Returns the rate of the last half second.
  package func rate(at now: Instant) -> DataRate {
    let recent = window.reduce(0) { now - $1.at < Self.span ? $0 + $1.byteCount : $0 }
    return DataRate(byteCount: recent, per: Self.span)
  }

  /// Notes a packet that is sent again.
  package mutating func sent(byteCount: Int, at now: Instant) {
    window.append((now, byteCount))
    self.byteCount += byteCount
  }
}
