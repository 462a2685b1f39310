public import CallCore

/// One cell of a scenario file, fully decoded: names resolved, profiles merged, defaults filled in, `${…}` substituted.
///
/// This is what the runner builds a world from and the judge compiles its monitors from.
public struct Scenario: Sendable, Equatable {
  /// Stable and path-like: `nat/cgnat-handover`.
  public var id = ""
  public var title: String?
  public var why: String?
  public var tags: [String] = []
  public var media = Media.synthetic
  public var limits = Limits()
  /// How long a run lasts exactly; nil when it ends once all has been done and put to the test.
  public var duration: Interval?
  public var invariants: [InvariantChange] = []
  public var topology = Topology()
  public var peers: [Peer] = []
  public var timeline: [TimelineEntry] = []
  public var expectations: [Expectation] = []
  /// The named predicates of `define`, in file order.
  public var definitions: [Definition] = []

  public init() {}

  /// Expectations on a peer that was replaced by a program, which could not be asked: as written.
  public var notJudged: [String] = []

  /// Whether programs outside the simulation take part, so that it runs at the pace of the machine's clock.
  public var isRealTime: Bool { peers.contains { $0.stack == .external } }

  /// Machine time after which a run is given up: in real time it takes at least as long as it may last, and programs
  /// have to start and to end.
  public var wallLimit: Interval { isRealTime ? limits.wall + limits.virtual : limits.wall }

  /// The latest time at which a run ends.
  public var latestEnd: Instant { .zero + (duration ?? limits.virtual) }

  public func peer(_ name: String) -> Peer? { peers.first { $0.name == name } }
  public func entry(_ id: String) -> TimelineEntry? { timeline.first { $0.id == id } }

  public enum Media: String, Sendable, CaseIterable { case real, synthetic }

  public struct Limits: Sendable, Equatable {
    /// Virtual time at which the run ends even if expectations are open.
    public var virtual = Interval.minutes(10)
    /// Machine time after which a run is given up.
    public var wall = Interval.minutes(2)
    /// How late a run in real time may be; beyond it nothing is concluded.
    public var lag = Interval.milliseconds(250)
    /// How long a program may take to be ready.
    public var start = Interval.seconds(30)
    public init() {}
  }

  /// One `+name` or `-name` of `invariants`.
  public struct InvariantChange: Sendable, Equatable {
    public var invariant: Invariant
    public var isOn: Bool
    /// Required when an invariant is turned off.
    public var why: String?
    @NotCompared public var span: SourceSpan = .builtIn
  }

  public struct Definition: Sendable, Equatable {
    public var name: String
    public var predicate: Predicate
    @NotCompared public var span: SourceSpan
  }
}

/// What is checked in every run unless a scenario turns it off with a reason.
public enum Invariant: String, Sendable, CaseIterable {
  case consent
  case captureScope = "capture-scope"
  case noCleartext = "no-cleartext"
  case oneActiveCall = "one-active-call"
  case agreement
  case quiescence
  case honestStats = "honest-stats"
  case preAcceptPrivacy = "pre-accept-privacy"

  /// Whether it holds without being asked for.
  public var isDefault: Bool { self != .preAcceptPrivacy }

  public var summary: String {
    switch self {
    case .consent: "no media leaves a device before its user accepted or placed the call"
    case .captureScope: "microphone and camera are open only from accept to the end plus 200 ms"
    case .noCleartext: "no media packet crosses the wire unprotected"
    case .oneActiveCall: "a peer is in at most one active call"
    case .agreement: "both sides of a call end with views that pair"
    case .quiescence: "after the end no timer, socket, allocation or device is left"
    case .honestStats: "statistics equal what the network really did"
    case .preAcceptPrivacy: "before accept only relay candidates and checks leave"
    }
  }
}

/// What is checked in every run, whatever a scenario says.
public enum FixedInvariant: String, Sendable, CaseIterable {
  case noTrap = "no-trap"
  case legalTransitions = "illegal-transition"
  case settled = "stuck-state"
  case fittingMessages = "message-misfit"

  public var summary: String {
    switch self {
    case .noTrap: "no peer or server crashes, and the run comes to its end"
    case .legalTransitions: "state machines move only as their vocabulary declares"
    case .fittingMessages: "apps and servers send messages as their vocabulary declares them"
    case .settled: "after all faults are cleared every call is connected or over"
    }
  }
}

/// Which seeds a scenario runs with.
public struct Seeds: Sendable, Equatable {
  /// How many seeds, counted from 1, after those of `list`.
  public var count: Int?
  public var list: [Int] = []
  public init() {}

  /// The seeds in running order: `list` first, then 1, 2, … up to `count`; 1 when neither is given.
  public var all: [UInt64] {
    let listed = list.map { UInt64(clamping: $0) }
    let counted = count.map { $0 > 0 ? (1...UInt64($0)).filter { !listed.contains($0) } : [] } ?? []
    return listed.isEmpty && count == nil ? [1] : listed + counted
  }
}

/// One point of the matrix: the scenario with that point's values in place.
public struct Cell: Sendable {
  /// Matrix variables and values, sorted by variable.
  public var assignments: [(variable: String, value: String)]
  public var scenario: Scenario

  /// `id[var=value,…]`, or the bare id without a matrix.
  public var id: String {
    guard !assignments.isEmpty else { return scenario.id }
    return scenario.id + "[" + assignments.map { "\($0.variable)=\($0.value)" }.joined(separator: ",") + "]"
  }

  /// The name of one run in every output: `id[var=value,…]#seed`.
  public func runID(seed: UInt64) -> String { "\(id)#\(seed)" }
}
