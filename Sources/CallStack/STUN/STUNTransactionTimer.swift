package import CallCore

/// When a request is sent again, and when it is given up (RFC 8489 section 6.2).
package struct STUNTransactionTimer: Hashable, Sendable {
  package struct Policy: Hashable, Sendable {
    /// RTO: the time until the first retransmission; it doubles each time.
    package var initialTimeout: Interval
    /// What the time between two transmissions does not grow beyond; nil for no bound.
    package var maximumTimeout: Interval?
    /// Rc: how often the request is sent in all.
    package var transmissions: Int
    /// Rm: how many initial timeouts to wait after the last transmission.
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

    /// What libwebrtc does: 250 ms doubling to 8 s, sent nine times and given up after 39.75 s.
    package static let libwebrtc = Policy(
      initialTimeout: .milliseconds(250), maximumTimeout: .seconds(8), transmissions: 9, finalWaitFactor: 32)

    /// Over a reliable transport: sent once and given up after Ti (RFC 8489 section 6.2.2).
    package static let reliable = Policy(
      initialTimeout: .milliseconds(39_500), transmissions: 1, finalWaitFactor: 1)
  }

  package enum Expiry: Hashable, Sendable { case retransmit, timedOut }

  package let policy: Policy
  package let firstSentAt: Instant
  /// How often the request has been sent.
  package private(set) var transmissions = 1
  /// When ``advance(to:)`` has something to say.
  package private(set) var deadline: Instant
  private var timeout: Interval

  /// A timer for a request whose first transmission is now.
  package init(sentAt now: Instant, policy: Policy = Policy()) {
    self.policy = policy
    firstSentAt = now
    timeout = policy.initialTimeout
    deadline = now
    deadline = now + wait
  }

  /// What is due at `now`, or nil when nothing is. After `.timedOut` the transaction is over.
  package mutating func advance(to now: Instant) -> Expiry? {
    guard now >= deadline else { return nil }
    guard transmissions < policy.transmissions else { return .timedOut }
    transmissions += 1
    timeout = min(timeout * 2, policy.maximumTimeout ?? timeout * 2)
    deadline = now + wait
    return .retransmit
  }

  /// The round-trip time a response at `now` measures, or nil when it is ambiguous (Karn's algorithm).
  package func roundTripTime(at now: Instant) -> Interval? { transmissions == 1 ? now - firstSentAt : nil }

  private var wait: Interval {
    transmissions < policy.transmissions ? timeout : policy.initialTimeout * policy.finalWaitFactor
  }
}
