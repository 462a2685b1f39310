import CallCore

/// The retransmission timeout (RFC 6298), with the lower minimum of current systems.
struct RetransmissionTimeout {
  private let minimum: Interval
  private let maximum: Interval
  private var smoothed: Interval?
  private var variation = Interval.zero
  private(set) var current = Interval.seconds(1)

  init(minimum: Interval, maximum: Interval) {
    self.minimum = minimum
    self.maximum = maximum
  }

  /// Records the round-trip time of a segment that was sent once (section 3, Karn's algorithm).
  mutating func sample(_ roundTrip: Interval) {
    if let smoothed {
      let error = smoothed > roundTrip ? smoothed - roundTrip : roundTrip - smoothed
      variation = variation * 3 / 4 + error / 4
      self.smoothed = smoothed * 7 / 8 + roundTrip / 8
    } else {
      smoothed = roundTrip
      variation = roundTrip / 2
    }
    restore()
  }

  /// Doubles the timeout after an expiry (rule 5.5).
  mutating func backOff() { current = min(current * 2, maximum) }

  /// Ends the back-off after an acknowledgment of new data.
  mutating func restore() {
    guard let smoothed else { return }
    current = min(max(smoothed + max(variation * 4, .milliseconds(1)), minimum), maximum)
  }
}
