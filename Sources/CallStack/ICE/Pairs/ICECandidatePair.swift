package import CallCore

/// A local and a remote candidate, with the results of their checks.
///
/// The local socket (`base`) and the remote transport address identify a pair. A NAT's mapping of the local address
/// changes only the reported local candidate.
package struct ICECandidatePair: Sendable {
  package struct ID: Hashable, Comparable, Sendable, BitwiseCopyable {
    package let rawValue: UInt32

    init(_ rawValue: UInt32) { self.rawValue = rawValue }
    package static func < (a: ID, b: ID) -> Bool { a.rawValue < b.rawValue }
  }

  /// RTCStatsIceCandidatePairState; the raw values are W3C's.
  package enum State: String, Sendable {
    case frozen, waiting
    case inProgress = "in-progress"
    case succeeded, failed
  }

  /// Whether packets reach the peer, judged by responses.
  package enum Reachability: String, Sendable {
    /// No response has arrived yet.
    case unknown
    case writable
    /// The pair worked, and then several checks got no response.
    case unreliable
    /// The pair was given up: it is not checked until the peer sends on it, or the selected pair is in trouble.
    case timedOut
  }

  package let id: ID
  package internal(set) var local: ICECandidate
  package internal(set) var remote: ICECandidate
  /// The local socket, or the relayed address of a TURN allocation.
  package let base: Endpoint
  package let remoteEndpoint: Endpoint
  /// The number of ICE restarts before this pair was formed.
  package let generation: Int
  /// The network of the base, if known.
  package let network: ICENetwork?
  package internal(set) var priority: UInt64
  package internal(set) var state: State
  package internal(set) var reachability = Reachability.unknown
  /// Whether the pair was nominated with USE-CANDIDATE.
  package internal(set) var nominated = false
  /// Whether the pair was given up because a better pair of its network worked: packets from the peer do not revive it.
  package internal(set) var isPruned = false
  /// Whether the TURN server of the base does not relay to the remote address, so that the pair can never work.
  package internal(set) var isRefused = false
  package let createdAt: Instant

  var checksSent = 0
  var lastCheckSentAt: Instant?
  var lastResponseAt: Instant?
  var lastReceivedAt: Instant?
  /// The time at which a packet other than STUN was last received.
  var lastDataAt: Instant?
  /// The start of the current period of receiving without a break.
  var receivingSince: Instant?
  var lastSentAt: Instant?
  /// The time of the peer's last USE-CANDIDATE for this pair.
  var nominationReceivedAt: Instant?
  /// The interval until the next consent check, drawn anew for each check.
  var consentInterval: Interval
  var unanswered = UnansweredChecks()
  var roundTrip = RoundTripEstimate()
  package internal(set) var counters = Counters()

  /// The ICE counters of the W3C's RTCIceCandidatePairStats; the session counts the bytes.
  package struct Counters: Hashable, Sendable {
    package var requestsSent: UInt64 = 0
    package var requestsReceived: UInt64 = 0
    package var responsesSent: UInt64 = 0
    package var responsesReceived: UInt64 = 0
    package var consentRequestsSent: UInt64 = 0
  }

  init(
    id: ID, local: ICECandidate, remote: ICECandidate, base: Endpoint, remoteEndpoint: Endpoint, generation: Int,
    network: ICENetwork?, priority: UInt64, state: State, consentInterval: Interval, createdAt: Instant
  ) {
    self.id = id
    self.local = local
    self.remote = remote
    self.base = base
    self.remoteEndpoint = remoteEndpoint
    self.generation = generation
    self.network = network
    self.priority = priority
    self.state = state
    self.consentInterval = consentInterval
    self.createdAt = createdAt
  }

  /// The path of the pair's datagrams.
  package var path: Path { Path(local: base, remote: remoteEndpoint) }
  /// The latest measured round trip.
  package var currentRoundTripTime: Interval? { roundTrip.current }
  package var totalRoundTripTime: Interval { roundTrip.total }
  /// The moving average of the round trips, in which the latest has a weight of one quarter.
  package var smoothedRoundTripTime: Interval? { roundTrip.smoothed }

  var isWritable: Bool { reachability == .writable }
  var isActive: Bool { reachability != .timedOut }
  /// The sum of the costs of both networks.
  var networkCost: Int { Int(network?.type.cost ?? 0) + (remote.networkCost ?? 0) }

  func sharesNetwork(with other: ICECandidatePair) -> Bool {
    if let network, let theirs = other.network { return network.id == theirs.id }
    return base.address == other.base.address
  }

  /// Returns whether both candidates have the same foundations, so that the pairs will likely work or fail together.
  func hasSameFoundation(as other: ICECandidatePair) -> Bool {
    local.foundation == other.local.foundation && remote.foundation == other.remote.foundation
  }
}

/// The checks since the last response: their number, and the times of the first and of the one that reached the limit.
struct UnansweredChecks {
  private(set) var count = 0
  private(set) var firstSentAt: Instant?
  /// The time of the check that brought the count to the limit.
  private(set) var limitReachedAt: Instant?

  mutating func add(at now: Instant, limit: Int) {
    count += 1
    if firstSentAt == nil { firstSentAt = now }
    if count == limit { limitReachedAt = now }
  }

  mutating func clear() { self = UnansweredChecks() }
}

/// The round trips of checks: the latest, the sum, and a smoothed estimate.
struct RoundTripEstimate {
  private(set) var current: Interval?
  private(set) var total = Interval.zero
  private(set) var samples = 0
  private(set) var smoothed: Interval?

  mutating func add(_ sample: Interval) {
    current = sample
    total += sample
    samples += 1
    smoothed = smoothed.map { ($0 * 3 + sample) / 4 } ?? sample
  }

  /// Whether there are enough samples to check less often.
  var isSettled: Bool { samples > 4 }
}
