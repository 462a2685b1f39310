import CallCore

/// Detects that the application sends much less than the estimate allows (libwebrtc `AlrDetector`).
///
/// A budget fills at a share of the estimate and holds 500 ms of it.
package struct ApplicationLimitDetector: Sendable {
  /// The defaults are those of libwebrtc's experiment for screens, which is on in every call. Without it they would be
  /// 0.65, 0.8 and 0.5.
  package struct Settings: Hashable, Sendable {
    /// The share of the estimate at which the budget fills.
    package var share = 0.8
    /// The fill levels that begin and end the region, as shares of the budget; negative after a burst.
    package var enter = 0.4
    package var leave = -0.6

    package init() {}
  }

  let settings: Settings
  /// The start of the application-limited region; nil outside of one.
  private(set) var start: Instant?
  /// The size of the budget in bytes, and its fill level, which is negative after a burst.
  private var limit = 0.0
  private var level = 0.0
  private var rate = DataRate.zero
  private var lastSent: Instant?

  private static let window = Interval.milliseconds(500)

  init(settings: Settings = Settings()) { self.settings = settings }

  mutating func setEstimate(_ estimate: DataRate) {
    rate = estimate * settings.share
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
    if ratio > settings.enter, start == nil {
      start = now
    } else if ratio < settings.leave {
      start = nil
    }
  }
}
