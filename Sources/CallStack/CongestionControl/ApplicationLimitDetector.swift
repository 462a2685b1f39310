import CallCore

/// Detects that the application sends much less than the estimate allows (libwebrtc `AlrDetector`).
///
/// A budget fills at 65 % of the estimate and holds 500 ms of it.
struct ApplicationLimitDetector: Sendable {
  /// The start of the application-limited region; nil outside of one.
  private(set) var start: Instant?
  /// The size of the budget in bytes, and its fill level, which is negative after a burst.
  private var limit = 0.0
  private var level = 0.0
  private var rate = DataRate.zero
  private var lastSent: Instant?

  private static let share = 0.65
  private static let window = Interval.milliseconds(500)
  /// The fill levels that begin and end the region.
  private static let (enter, leave) = (0.80, 0.50)

  mutating func setEstimate(_ estimate: DataRate) {
    rate = estimate * Self.share
    limit = rate.bits / 8 * Self.window.seconds
    level = min(max(level, -limit), limit)
  }

  mutating func sent(byteCount: Int, at now: Instant) {
    guard let last = lastSent else {
      lastSent = now
      return
    }
    lastSent = now
    level = max(level - Double(byteCount), -limit)
    level = min(level + rate.bits / 8 * (now - last).seconds, limit)
    let ratio = limit > 0 ? level / limit : 0
    if ratio > Self.enter, start == nil {
      start = now
    } else if ratio < Self.leave {
      start = nil
    }
  }
}
