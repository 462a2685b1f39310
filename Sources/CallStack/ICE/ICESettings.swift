package import CallCore

/// The timers and policies of an agent. The defaults are libwebrtc's, or the RFC's where it leaves no choice.
package struct ICESettings: Hashable, Sendable {
  /// The order of the nomination and the use of a pair.
  package enum Nomination: Hashable, Sendable {
    /// The nomination comes first (RFC 8445 section 8.1.1): a controlling agent uses a pair when the peer has agreed to
    /// it, a controlled one the pair nominated last. It uses another only when that one no longer works.
    case regular
    /// The use comes first, as in Chromium: both sides use the best working pair, beginning with the first. A
    /// controlling agent's checks nominate the pair in use, and those that could become a better one.
    case aggressive
  }

  package var nomination = Nomination.aggressive
  /// Whether a pair is no longer checked once a better one works well on the same network, as in libwebrtc, unless the
  /// better one gets into trouble. The agent forgets a pruned pair ``deadTimeout`` after the last packet on it, and
  /// then has no backup. If false, every pair is checked.
  package var prunesPairs = true
  /// The type of network whose pairs come first, at any cost (libwebrtc's `network_preference`).
  package var networkPreference: ICENetworkType?
  /// Whether this agent only responds to checks (RFC 8445 section 2.5): for hosts with public addresses, such as an
  /// SFU.
  package var isLite = false
  /// The maximum number of pairs; worse ones are not formed (RFC 8445 section 6.1.2.5).
  package var pairLimit = 100

  // MARK: Checks

  /// The time after a request in which its response is accepted.
  package var responseTimeout = Interval.seconds(60)
  /// The time for which the selected pair must not have been receiving, and another one must have, before it is
  /// replaced.
  package var switchDelay = Interval.seconds(1)
  /// The time by which data on another pair must be newer for a controlled agent to follow the peer there: packets on a
  /// shorter path overtake the last ones on the longer path.
  package var overtakingTime = Interval.milliseconds(100)
  /// The reduction of the round trip that justifies a switch to a pair that is otherwise equal to the selected one.
  package var minimumImprovement = Interval.milliseconds(10)

  // MARK: Cadence
  //
  // libwebrtc's nominal intervals are 48, 480, 900 and 2500 ms. It tests every 48 or 250 ms whether a check is due, and
  // Chromium's timers run in steps of 1/64 s: a check goes out every 4, 34, 68 or 170 steps, and a test every 4 or 17
  // steps.

  /// Ta (RFC 8445 section 14.2): the interval of checks while no pair is selected, or the selected one is not writable
  /// or not receiving, and of the first checks of a pair. There is no RTO: a check is not retransmitted; its pair is
  /// checked again after all others.
  package var weakPingInterval = Interval.microseconds(62_500)
  /// The interval at which new pairs are considered while the selected one works and no other is in its first checks.
  /// This keeps most checks of a new pair from overtaking the signalled candidate; libwebrtc would give up such a pair
  /// for good.
  package var strongLookInterval = Interval.microseconds(265_625)
  /// The interval of checks otherwise, over all pairs; the pair in use goes first when it is due.
  package var strongPingInterval = Interval.microseconds(531_250)
  /// The interval of checks of the selected pair while its round trip is settled and no response is missing.
  package var stablePingInterval = Interval.microseconds(2_656_250)
  /// The interval of checks of the selected pair otherwise.
  package var stabilizingPingInterval = Interval.microseconds(1_062_500)
  /// The interval of checks of a working pair that is not selected, once each network has one pair left.
  package var backupPingInterval = Interval.seconds(25)
  /// The number of first checks of a pair that go out at the weak interval.
  package var minimumWeakPings = 3

  // MARK: Liveness

  /// The time without any packet after which a pair counts as not receiving, unless its last check was answered. While
  /// the selected pair is not receiving, checks go faster.
  package var receivingTimeout = Interval.milliseconds(2_500)
  /// The time to wait for a response before a check counts as unanswered in that rule: libwebrtc's test interval.
  package var receivingCheckInterval = Interval.milliseconds(250)
  /// The time without a response after which, and after ``unwritableMinimumChecks`` checks, a pair stops being
  /// writable.
  package var unwritableTimeout = Interval.seconds(5)
  package var unwritableMinimumChecks = 5
  /// The bounds of the wait for a response to the last of these checks, which is two round trips.
  package var minimumResponseWait = Interval.milliseconds(100)
  package var maximumResponseWait = Interval.seconds(60)
  /// The time without a response after which a pair that never worked, or stopped being writable, is given up.
  package var inactiveTimeout = Interval.seconds(15)
  /// The time after which a pair without received packets and without a response to a check is forgotten.
  package var deadTimeout = Interval.seconds(30)
  package var minimumPairLifetime = Interval.seconds(10)

  // MARK: Consent (RFC 7675) and keepalive (RFC 8445 section 11)

  /// The mean time between consent checks; each interval is multiplied by a random 0.8...1.2.
  package var consentInterval = Interval.seconds(5)
  /// The time from the last valid response to the end of consent.
  package var consentTimeout = Interval.seconds(30)
  /// Tr: the time without any sent packet after which an indication is sent.
  package var keepaliveInterval = Interval.seconds(15)

  package init() {}
}
