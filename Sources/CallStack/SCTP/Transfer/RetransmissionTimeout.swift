package import CallCore

/// The smoothed round-trip time and the retransmission timeout (RFC 9260 section 6.3.1).
package struct RetransmissionTimeout: Sendable {
  /// The limits of the timeout. The defaults are libwebrtc's.
  package struct Limits: Hashable, Sendable {
    /// The timeout before the first measurement.
    package var initial = Interval.milliseconds(500)
    /// The least timeout.
    package var minimum = Interval.milliseconds(400)
    /// The largest timeout without backoff.
    package var maximum = Interval.seconds(60)
    /// The largest measurement that is believed.
    package var maximumRoundTripTime = Interval.seconds(60)
    /// The least variance of the round-trip time, so that the timeout exceeds the delay of the peer's SACK: an eighth
    /// of 220 ms.
    package var minimumVariance = Interval.microseconds(27_500)

    package init() {}
  }

  private let limits: Limits
  private var variance = Interval.zero
  /// The smoothed round-trip time, or nil before the first measurement.
  package private(set) var smoothed: Interval?
  /// The present timeout, without backoff.
  package private(set) var value: Interval

  package init(_ limits: Limits = Limits()) {
    self.limits = limits
    value = limits.initial
  }

  /// Takes a measured round-trip time.
  package mutating func observe(_ roundTripTime: Interval) {
    guard roundTripTime >= .zero, roundTripTime <= limits.maximumRoundTripTime else { return }
    if let previous = smoothed {
      let difference = Interval(nanoseconds: (previous - roundTripTime).nanoseconds.magnitude.clamped)
      variance = (variance * 3 + difference) / 4
      smoothed = (previous * 7 + roundTripTime) / 8
    } else {
      smoothed = roundTripTime
      variance = roundTripTime / 2
    }
    variance = max(variance, limits.minimumVariance)
    value = min(max((smoothed ?? .zero) + variance * 4, limits.minimum), limits.maximum)
  }
}

extension UInt64 {
  fileprivate var clamped: Int64 { Int64(Swift.min(self, UInt64(Int64.max))) }
}
