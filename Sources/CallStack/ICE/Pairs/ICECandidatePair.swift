package import CallCore

/// A local and a remote candidate that may work together, with everything known about whether they do.
///
/// A pair is identified by the local socket (`base`) and the remote transport address: what NATs make of the local
/// address changes which local candidate is reported, never which pair it is.
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

  /// Whether what is sent arrives, as far as responses tell.
  package enum Reachability: String, Sendable {
    /// No response yet.
    case unknown
    case writable
    /// It worked, and then several checks went unanswered.
    case unreliable
    /// Given up: no more checks until the peer shows up again, or the selected pair is in trouble.
    case timedOut
  }

  package let id: ID
  package internal(set) var local: ICECandidate
  package internal(set) var remote: ICECandidate
  /// The local socket, or the relayed address of a TURN allocation.
  package let base: Endpoint
  package let remoteEndpoint: Endpoint
  /// How many restarts there were before it.
  package let generation: Int
  /// The network of its base, when it is known.
  package let network: ICENetwork?
  package internal(set) var priority: UInt64
  package internal(set) var state: State
  package internal(set) var reachability = Reachability.unknown
  /// Whether the pair was agreed on by USE-CANDIDATE.
  package internal(set) var nominated = false
  /// Whether it was given up once because a better pair of its network worked: the peer's packets do not bring it back.
  package internal(set) var isPruned = false
  /// Whether it is of no use whatever comes: the TURN server of its base carries nothing to the other end.
  package internal(set) var isRefused = false
  package let createdAt: Instant

  var checksSent = 0
  var lastCheckSentAt: Instant?
  var lastResponseAt: Instant?
  var lastReceivedAt: Instant?
  /// When something other than STUN was last received.
  var lastDataAt: Instant?
  /// Since when it has been receiving without a break.
  var receivingSince: Instant?
  var lastSentAt: Instant?
  /// When the peer last asked for this pair with USE-CANDIDATE.
  var nominationReceivedAt: Instant?
  /// The interval until the next consent check, drawn anew for each.
  var consentInterval: Interval
  var unanswered = UnansweredChecks()
  var roundTrip = RoundTripEstimate()
  package internal(set) var counters = Counters()

  /// What the W3C's RTCIceCandidatePairStats counts on the ICE side; bytes are counted by the session.
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

  /// The way datagrams of this pair take.
  package var path: Path { Path(local: base, remote: remoteEndpoint) }
  /// The newest measured round trip.
  package var currentRoundTripTime: Interval? { roundTrip.current }
  package var totalRoundTripTime: Interval { roundTrip.total }
  /// The moving average of the round trips, of which the newest counts a quarter.
  package var smoothedRoundTripTime: Interval? { roundTrip.smoothed }

  var isWritable: Bool { reachability == .writable }
  var isActive: Bool { reachability != .timedOut }
  /// What both ends' networks cost together.
  var networkCost: Int { Int(network?.type.cost ?? 0) + (remote.networkCost ?? 0) }

  func sharesNetwork(with other: ICECandidatePair) -> Bool {
    if let network, let theirs = other.network { return network.id == theirs.id }
    return base.address == other.base.address
  }

  /// Whether both ends share their pair's foundation, and so most likely its fate.
  func hasSameFoundation(as other: ICECandidatePair) -> Bool {
    local.foundation == other.local.foundation && remote.foundation == other.remote.foundation
  }
}

/// The checks sent since the last response: how many, and when the ones that decide were sent.
struct UnansweredChecks {
  private(set) var count = 0
  private(set) var firstSentAt: Instant?
  /// When the check was sent that made the count reach the limit.
  private(set) var limitReachedAt: Instant?

  mutating func add(at now: Instant, limit: Int) {
    count += 1
    if firstSentAt == nil { firstSentAt = now }
    if count == limit { limitReachedAt = now }
  }

  mutating func clear() { self = UnansweredChecks() }
}

/// Round trips of checks: the newest, the sum, and a smoothed estimate.
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

  /// Whether enough was measured to slow down.
  var isSettled: Bool { samples > 4 }
}
