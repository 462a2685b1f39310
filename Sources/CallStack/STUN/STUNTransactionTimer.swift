package import CallCore

/// The retransmission timer of a request (RFC 8489 section 6.2).
package struct STUNTransactionTimer: Hashable, Sendable {
  package struct Policy: Hashable, Sendable {
    /// RTO: the time until the first retransmission; it doubles each time.
    package var initialTimeout: Interval
    /// The longest time between two transmissions; nil for no bound.
    package var maximumTimeout: Interval?
    /// Rc: the number of transmissions in total.
    package var transmissions: Int
    /// Rm: the time to wait after the last transmission, in initial timeouts.
    package var finalWaitFactor: Int64

    package init(
      initialTimeout: Interval = .milliseconds(500), maximumTimeout: Interval? = nil, transmissions: Int = 7,
      finalWaitFactor: Int64 = 16
    ) {
      self.initialTimeout = initialTimeout
      self.maximumTimeout = maximumTimeout
      self.transmissions = transmissions
      self.finalWaitFactor = finalWaitFactor
    }

    /// The policy of libwebrtc: 250 ms doubling to 8 s, nine transmissions, timeout after 39.75 s.
    package static let libwebrtc = Policy(
      initialTimeout: .milliseconds(250), maximumTimeout: .seconds(8), transmissions: 9, finalWaitFactor: 32)

    /// The policy of a reliable transport: one transmission, timeout after Ti (RFC 8489 section 6.2.2).
    package static let reliable = Policy(
      initialTimeout: .milliseconds(39_500), transmissions: 1, finalWaitFactor: 1)
  }

  package enum Expiry: Hashable, Sendable { case retransmit, timedOut }

  package let policy: Policy
  package let firstSentAt: Instant
  /// The number of transmissions so far.
  package private(set) var transmissions = 1
  /// The time of the next retransmission or of the timeout.
  package private(set) var deadline: Instant
  private var timeout: Interval

  /// Creates the timer of a request that is first sent now.
  package init(sentAt now: Instant, policy: Policy = Policy()) {
    self.policy = policy
    firstSentAt = now
    timeout = policy.initialTimeout
    deadline = now
    deadline = now + wait
  }

  /// Returns the action that is due at `now`, or nil. After `.timedOut` the transaction is over.
  package mutating func advance(to now: Instant) -> Expiry? {
    guard now >= deadline else { return nil }
    guard transmissions < policy.transmissions else { return .timedOut }
    transmissions += 1
    timeout = min(timeout * 2, policy.maximumTimeout ?? timeout * 2)
    deadline = now + wait
    return .retransmit
  }

  /// Returns the round-trip time that a response at `now` measures, or nil when it is ambiguous (Karn's algorithm).
  package func roundTripTime(at now: Instant) -> Interval? { transmissions == 1 ? now - firstSentAt : nil }

  private var wait: Interval {
    transmissions < policy.transmissions ? timeout : policy.initialTimeout * policy.finalWaitFactor
  }
}
