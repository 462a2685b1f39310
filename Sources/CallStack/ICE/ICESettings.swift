public import CallCore

/// Every timer and policy of an agent. The defaults are libwebrtc's, or the RFC's where it leaves no choice.
public struct ICESettings: Hashable, Sendable {
  /// When a controlling agent puts USE-CANDIDATE into a check.
  public enum Nomination: Hashable, Sendable {
    /// Once a pair was chosen among the valid ones (RFC 8445 section 8.1.1). Always used towards an ICE-lite peer.
    case regular
    /// In every check that could make a better pair than the selected one, so that the first success is used at once,
    /// as Chromium does.
    case aggressive
  }

  public var nomination = Nomination.regular
  /// Whether this agent only answers checks (RFC 8445 section 2.5): for hosts with public addresses, such as an SFU.
  public var isLite = false
  /// The most pairs that are checked; worse ones beyond it are not formed (RFC 8445 section 6.1.2.5).
  public var pairLimit = 100

  // MARK: Checks

  /// Ta: the least time between two checks while no pair is selected (RFC 8445 section 14.2).
  public var checkPacing = Interval.milliseconds(50)
  /// The least RTO: how soon an unanswered check is repeated (RFC 8445 section 14.3).
  public var minimumRetransmissionTimeout = Interval.milliseconds(500)
  /// How long a response is still accepted after its request.
  public var responseTimeout = Interval.seconds(60)
  /// How long the controlling agent waits for a better pair after the first one worked.
  public var nominationSettleTime = Interval.milliseconds(200)
  /// How long a better pair must have worked before it replaces a selected one that works.
  public var switchDelay = Interval.seconds(1)

  // MARK: Cadence once a pair is selected

  /// Between checks while the selected pair is not writable or not receiving.
  public var weakPingInterval = Interval.milliseconds(48)
  /// Between checks of one pair that works but is not yet selected, or is a backup whose check went unanswered.
  public var strongPingInterval = Interval.milliseconds(480)
  /// Between checks of the selected pair while its round trip is settled and no response is missing.
  public var stablePingInterval = Interval.milliseconds(2_500)
  /// Between checks of the selected pair otherwise.
  public var stabilizingPingInterval = Interval.milliseconds(900)
  /// Between checks of a pair that works and is not selected.
  public var backupPingInterval = Interval.seconds(25)
  /// How many first checks of a pair go out at the weak interval.
  public var minimumWeakPings = 3

  // MARK: Liveness

  /// Without any packet for this long the selected pair is "not receiving", and checks go faster.
  public var receivingTimeout = Interval.milliseconds(2_500)
  /// A pair stops being writable after this long without a response, and ``unwritableMinimumChecks`` checks.
  public var unwritableTimeout = Interval.seconds(5)
  public var unwritableMinimumChecks = 5
  /// A pair that never worked, or stopped being writable, is given up after this long without a response.
  public var inactiveTimeout = Interval.seconds(15)
  /// A pair is forgotten after this long without receiving anything on it.
  public var deadTimeout = Interval.seconds(30)
  public var minimumPairLifetime = Interval.seconds(10)

  // MARK: Consent (RFC 7675) and keepalive (RFC 8445 section 11)

  /// The mean time between consent checks; each is scaled by 0.8...1.2 at random.
  public var consentInterval = Interval.seconds(5)
  /// Consent ends this long after the last valid response.
  public var consentTimeout = Interval.seconds(30)
  /// Tr: an indication is sent when nothing else was for this long.
  public var keepaliveInterval = Interval.seconds(15)

  public init() {}
}
