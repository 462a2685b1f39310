public import CallCore

/// One cell of a scenario file, fully decoded: names resolved, profiles merged, defaults filled in, `${…}` substituted.
///
/// The runner builds a world from it, and the judge compiles its monitors from it.
public struct Scenario: Sendable, Equatable {
  /// The stable, path-like identifier: `nat/cgnat-handover`.
  public var id = ""
  /// The title that the file gives.
  public var title: String?
  /// The reason that the file gives.
  public var why: String?
  /// The tags by which runs can be selected.
  public var tags: [String] = []
  /// The payloads of media packets.
  public var media = Media.synthetic
  /// The limits of a run in virtual and in machine time.
  public var limits = Limits()
  /// The exact length of a run; nil when a run ends after the last entry and the last check.
  public var duration: Interval?
  /// The invariants that the file turns on or off.
  public var invariants: [InvariantChange] = []
  /// The networks, links and servers.
  public var topology = Topology()
  /// The peers, in file order.
  public var peers: [Peer] = []
  /// The entries of the timeline, in file order.
  public var timeline: [TimelineEntry] = []
  /// The expectations, in file order.
  public var expectations: [Expectation] = []
  /// Whether the file expects nothing but the invariants: `expect: invariants`.
  public var expectsInvariantsOnly = false
  /// The named predicates of `define`, in file order.
  public var definitions: [Definition] = []
  /// The arms of which this is one; nil without a comparison.
  public var arms: Arms?
  /// What a search may do to the scenario; nil if the file says nothing of it.
  public var fuzz: FuzzSettings?

  /// Creates an empty scenario.
  public init() {}

  /// The source texts of expectations that cannot be judged, because a program replaces their peer.
  public var notJudged: [String] = []

  /// Whether external programs take part, so that the run keeps the pace of the machine's clock.
  public var isRealTime: Bool { peers.contains { $0.stack == .external } }

  /// The machine time after which a run is aborted. A run in real time gets its virtual limit in addition, and programs
  /// need time to start and to end.
  public var wallLimit: Interval { isRealTime ? limits.wall + limits.virtual : limits.wall }

  /// The latest time at which a run ends.
  public var latestEnd: Instant { .zero + (duration ?? limits.virtual) }

  /// Returns the peer of this name.
  public func peer(_ name: String) -> Peer? { peers.first { $0.name == name } }
  /// Returns the timeline entry of this id.
  public func entry(_ id: String) -> TimelineEntry? { timeline.first { $0.id == id } }

  /// The payloads of media packets: of real codecs, or synthetic ones that hold a level and no sound.
  public enum Media: String, Sendable, CaseIterable { case real, synthetic }

  /// The limits of a run.
  public struct Limits: Sendable, Equatable {
    /// The virtual time at which a run ends even if expectations are open.
    public var virtual = Interval.minutes(10)
    /// The machine time after which a run is aborted.
    public var wall = Interval.minutes(2)
    /// The largest permitted delay of a run in real time; a later run is inconclusive.
    public var lag = Interval.milliseconds(250)
    /// The time in which a program must be ready.
    public var start = Interval.seconds(30)
    /// Creates the default limits.
    public init() {}
  }

  /// One `+name` or `-name` of `invariants`.
  public struct InvariantChange: Sendable, Equatable {
    /// The invariant.
    public var invariant: Invariant
    /// Whether the invariant is turned on.
    public var isOn: Bool
    /// The reason; required when the invariant is turned off.
    public var why: String?
    /// The location in the scenario file.
    @NotCompared public var span: SourceSpan = .builtIn
  }

  /// A named predicate of `define`.
  public struct Definition: Sendable, Equatable {
    /// The name to which predicates refer.
    public var name: String
    /// The predicate.
    public var predicate: Predicate
    /// The location in the scenario file.
    @NotCompared public var span: SourceSpan
  }
}

/// A rule that is checked in every run unless a scenario turns it off with a reason.
public enum Invariant: String, Sendable, CaseIterable {
  case consent
  case captureScope = "capture-scope"
  case noCleartext = "no-cleartext"
  case oneActiveCall = "one-active-call"
  case agreement
  case quiescence
  case honestStats = "honest-stats"
  case mute
  case endedCalls = "ended-calls"
  case partnerOnly = "partner-only"
  case ghostRing = "ghost-ring"
  case signalledCertificate = "signalled-certificate"
  case boundedBacklog = "bounded-backlog"
  case unverifiedSources = "unverified-sources"
  case dataDelivery = "data-delivery"
  case preAcceptPrivacy = "pre-accept-privacy"
  case appAway = "app-away"
  case indicator
  case callKitOrder = "callkit-order"
  case reportedPushes = "reported-pushes"
  case audioConfigured = "audio-configured"
  case audioRecovered = "audio-recovered"
  case audioRestored = "audio-restored"
  case shownTracks = "shown-tracks"

  /// Whether the invariant is checked by default.
  public var isDefault: Bool { self != .preAcceptPrivacy && self != .audioRestored }

  /// A one-line description for the reference.
  public var summary: String {
    switch self {
    case .consent: "no media leaves a device before its user accepted or placed the call"
    case .captureScope: "microphone and camera are open only from accept to the end plus 200 ms"
    case .noCleartext: "no media packet crosses the wire unprotected"
    case .oneActiveCall: "a peer is in at most one active call"
    case .agreement: "both sides of a call end with views that pair"
    case .quiescence: "after the end no timer, socket, allocation or device is left"
    case .honestStats: "statistics equal what the network really did"
    case .mute: "while its user has muted a peer, nothing but silence leaves the device"
    case .endedCalls: "no message brings a call back that a peer has ended"
    case .partnerOnly: "only the other side of a call changes it, by messages that are its to send"
    case .ghostRing: "a call whose end has arrived does not ring"
    case .signalledCertificate: "media flow only to the certificate whose fingerprint was signalled"
    case .boundedBacklog: "no app keeps more than a thousand messages or candidates until something else comes"
    case .unverifiedSources: "a packet of an address that no check has verified changes no state of a connection"
    case .dataDelivery: "a reliable data channel delivers each message once and in order; no channel delivers one twice"
    case .appAway:
      "an app in the background has no camera and makes no view; of a suspended or terminated one nothing leaves the device"
    case .indicator: "the system shows a dot while something is recorded, and only then"
    case .callKitOrder:
      "with CallKit, audio is set up before the report, runs while the system has activated it, and is reset"
    case .reportedPushes: "each VoIP push is followed by one report of a call before it is completed"
    case .audioConfigured: "an audio unit starts on an active session that plays and records"
    case .audioRecovered: "an app that lost the audio in a call has it again when it is next in the foreground"
    case .audioRestored: "after a call the audio session is configured as before it"
    case .shownTracks:
      "what an app shows of its own microphone and camera, and of those of others, is what is published"
    case .preAcceptPrivacy: "before accept only relay candidates and checks leave"
    }
  }
}

/// A rule that is checked in every run and cannot be turned off.
public enum FixedInvariant: String, Sendable, CaseIterable {
  case noTrap = "no-trap"
  case legalTransitions = "illegal-transition"
  case settled = "stuck-state"
  case fittingMessages = "message-misfit"

  /// A one-line description for the reference.
  public var summary: String {
    switch self {
    case .noTrap: "no peer or server crashes, and the run comes to its end"
    case .legalTransitions: "state machines move only as their vocabulary declares"
    case .fittingMessages: "apps and servers send messages as their vocabulary declares them"
    case .settled: "after all faults are cleared every call is connected or over, and no two offers wait for each other"
    }
  }
}

/// The seeds with which a scenario runs.
public struct Seeds: Sendable, Equatable {
  /// The number of seeds, counted from 1, that follow those of `list`.
  public var count: Int?
  /// The seeds that the file lists.
  public var list: [Int] = []
  /// Creates the default seeds: only 1.
  public init() {}

  /// The seeds in running order: `list` first, then 1, 2, … up to `count`; 1 when neither is given.
  public var all: [UInt64] {
    let listed = list.map { UInt64(clamping: $0) }
    let counted = count.map { $0 > 0 ? (1...UInt64($0)).filter { !listed.contains($0) } : [] } ?? []
    return listed.isEmpty && count == nil ? [1] : listed + counted
  }
}

/// One point of the matrix: the scenario with the values of that point.
public struct Cell: Sendable {
  /// The matrix variables with their values, sorted by variable.
  public var assignments: [(variable: String, value: String)]
  /// The scenario of this point.
  public var scenario: Scenario

  /// The identifier `id[var=value,…]`, or the scenario's own id without a matrix.
  public var id: String {
    guard !assignments.isEmpty else { return scenario.id }
    return scenario.id + "[" + assignments.map { "\($0.variable)=\($0.value)" }.joined(separator: ",") + "]"
  }

  /// Returns the name of one run in all outputs: `id[var=value,…]#seed`.
  public func runID(seed: UInt64) -> String { "\(id)#\(seed)" }
}
