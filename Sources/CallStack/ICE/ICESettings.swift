package import CallCore

/// Every timer and policy of an agent. The defaults are libwebrtc's, or the RFC's where it leaves no choice.
package struct ICESettings: Hashable, Sendable {
  /// Which comes first, the use of a pair or its nomination.
  package enum Nomination: Hashable, Sendable {
    /// The nomination (RFC 8445 section 8.1.1): a controlling agent uses a pair when the peer has agreed to it, and a
    /// controlled one the pair that was nominated last. It uses another only when that one does not work any more.
    case regular
    /// The use, as in Chromium: both sides use the best pair that works, the first one at once. The checks of a
    /// controlling agent nominate the pair in use, and those that could make a better one.
    case aggressive
  }

  package var nomination = Nomination.aggressive
  /// Whether pairs are no longer checked once a better one works well on the same network, as in libwebrtc, unless that
  /// one gets into trouble. They are forgotten ``deadTimeout`` after they last received something, and no backup from then
  /// on. Otherwise every pair is.
  package var prunesPairs = true
  /// The kind of network whose pairs come first, whatever they cost (libwebrtc's `network_preference`).
  package var networkPreference: ICENetworkType?
  /// Whether this agent only answers checks (RFC 8445 section 2.5): for hosts with public addresses, such as an SFU.
  package var isLite = false
  /// The most pairs that are checked; worse ones beyond it are not formed (RFC 8445 section 6.1.2.5).
  package var pairLimit = 100

  // MARK: Checks

  /// How long a response is still accepted after its request.
  package var responseTimeout = Interval.seconds(60)
  /// How long the selected pair must not have been receiving, and another one must have, before it is replaced.
  package var switchDelay = Interval.seconds(1)
  /// How much later a controlled agent must have received data on another pair to follow it there: on a shorter path
  /// they overtake the last ones of the longer.
  package var overtakingTime = Interval.milliseconds(100)
  /// How much shorter the round trip of a pair must be that nothing else speaks for to replace the selected one.
  package var minimumImprovement = Interval.milliseconds(10)

  // MARK: Cadence
  //
  // libwebrtc means 48, 480, 900 and 2500 ms. It looks every 48 or 250 ms whether a check is due, and Chromium runs its
  // timers in steps of 1/64 s, so that a check goes out every 4, 34, 68 or 170 steps, and a look is 4 or 17 steps long.

  /// Ta (RFC 8445 section 14.2): between checks while no pair is selected, or the selected one is not writable or not
  /// receiving, and between the first checks of a pair. There is no RTO: a check is not repeated, its pair is checked
  /// anew when all others had their turn.
  package var weakPingInterval = Interval.microseconds(62_500)
  /// Between looks for new pairs while the selected one does well and no other is in its first checks. So a check of a new
  /// pair seldom overtakes the candidate that the peer must know it by: libwebrtc gives such a pair up for good.
  package var strongLookInterval = Interval.microseconds(265_625)
  /// Between checks otherwise, whatever pair they are for; the pair in use goes first when it is due.
  package var strongPingInterval = Interval.microseconds(531_250)
  /// Between checks of the selected pair while its round trip is settled and no response is missing.
  package var stablePingInterval = Interval.microseconds(2_656_250)
  /// Between checks of the selected pair otherwise.
  package var stabilizingPingInterval = Interval.microseconds(1_062_500)
  /// Between checks of a pair that works and is not selected, once each network has one pair left.
  package var backupPingInterval = Interval.seconds(25)
  /// How many first checks of a pair go out at the weak interval.
  package var minimumWeakPings = 3

  // MARK: Liveness

  /// Without any packet for this long a pair is "not receiving", unless its last check was answered. While the selected
  /// one is, checks go faster.
  package var receivingTimeout = Interval.milliseconds(2_500)
  /// How long a check is waited for before it counts as not answered there: libwebrtc looks as rarely.
  package var receivingCheckInterval = Interval.milliseconds(250)
  /// A pair stops being writable after this long without a response, and ``unwritableMinimumChecks`` checks.
  package var unwritableTimeout = Interval.seconds(5)
  package var unwritableMinimumChecks = 5
  /// How long the last of these checks is waited for: two round trips, within these bounds.
  package var minimumResponseWait = Interval.milliseconds(100)
  package var maximumResponseWait = Interval.seconds(60)
  /// A pair that never worked, or stopped being writable, is given up after this long without a response.
  package var inactiveTimeout = Interval.seconds(15)
  /// A pair is forgotten after this long without receiving anything on it, and without an answer to a check.
  package var deadTimeout = Interval.seconds(30)
  package var minimumPairLifetime = Interval.seconds(10)

  // MARK: Consent (RFC 7675) and keepalive (RFC 8445 section 11)

  /// The mean time between consent checks; each is scaled by 0.8...1.2 at random.
  package var consentInterval = Interval.seconds(5)
  /// Consent ends this long after the last valid response.
  package var consentTimeout = Interval.seconds(30)
  /// Tr: an indication is sent when nothing else was for this long.
  package var keepaliveInterval = Interval.seconds(15)

  package init() {}
}
