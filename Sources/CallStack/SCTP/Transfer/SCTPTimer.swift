internal import CallCore

/// A timer with exponential backoff.
struct SCTPTimer: Sendable {
  /// The largest interval that backoff reaches, or nil for no limit.
  var maximumBackoff: Interval?
  private(set) var deadline: Instant?
  /// The number of expirations since the last start.
  private(set) var expirations = 0
  private var interval = Interval.zero

  init(maximumBackoff: Interval? = nil) { self.maximumBackoff = maximumBackoff }

  var isRunning: Bool { deadline != nil }

  /// Starts the timer, or starts it anew.
  mutating func start(_ interval: Interval, at now: Instant) {
    self.interval = interval
    expirations = 0
    deadline = now + interval
  }

  mutating func stop() {
    deadline = nil
    expirations = 0
  }

  /// Returns whether the timer has expired. It then runs again for twice the time.
  mutating func expires(at now: Instant) -> Bool {
    guard let deadline, deadline <= now else { return false }
    expirations += 1
    let doubled = interval * 2
    interval = maximumBackoff.map { max(interval, min(doubled, $0)) } ?? doubled
    self.deadline = now + interval
    return true
  }

  /// Returns whether the timer has expired. It then stops.
  mutating func expiresOnce(at now: Instant) -> Bool {
    guard let deadline, deadline <= now else { return false }
    stop()
    return true
  }
}
