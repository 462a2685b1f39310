public import CallCore

/// How a run came out.
public enum Verdict: String, Sendable, CaseIterable {
  case pass
  /// An expectation failed.
  case fail
  /// An invariant was broken, or the run crashed.
  case broken
  /// Something was never put to the test: a trigger that never fired, an empty window, a metric without samples.
  case vacuous
  /// The harness itself failed.
  case inconclusive
  /// The wall-clock limit was reached.
  case timeout
  /// Two runs of the same seed differed.
  case nondeterministic
  /// This machine cannot make the run: nothing is known about what was to be tested.
  case skipped
}

/// One thing that went wrong in a run, in words for a person.
public struct Finding: Hashable, Sendable {
  public enum Kind: String, Sendable {
    case expectation, warning, invariant, vacuous, crash, harness
  }

  public var kind: Kind
  /// What was asked for: the expectation as written, or the invariant's name.
  public var title: String
  /// Where it stands, as `path:line:column`; nil for defaults.
  public var location: String?
  public var expected: String
  public var actual: String
  /// When it was decided, in virtual time.
  public var time: Instant
  /// The states of the peers concerned, a line each: `alice: calling 1.02 > connecting 3.31`.
  public var trail: [String]
  /// The faults active at that time, a line each.
  public var faults: [String]
  /// What explains it further: NAT mappings, dropped checks, server errors; a line each.
  public var explanation: [String]
  /// The author's reason, from the file.
  public var why: String?
  /// How far it is from what was expected, to compare runs that miss one expectation: of a number the distance from its
  /// bound as a share of it, of a deadline the seconds it came too late, infinite when it never came. Nil where nothing
  /// measures it.
  public var miss: Double?
  /// What it is apart from its words: the same in all seeds that fail alike.
  public var signature: FindingSignature
  /// The part of the run that it is about; nil where there is none, or it never began.
  public var window: ClosedRange<Instant>?

  /// - Parameter signature: made of the title where there is nothing better.
  public init(
    _ kind: Kind, _ title: String, location: String? = nil, expected: String, actual: String, time: Instant,
    trail: [String] = [], faults: [String] = [], explanation: [String] = [], why: String? = nil,
    signature: FindingSignature? = nil
  ) {
    self.signature = signature ?? FindingSignature(title)
    self.kind = kind
    self.title = title
    self.location = location
    self.expected = expected
    self.actual = actual
    self.time = time
    self.trail = trail
    self.faults = faults
    self.explanation = explanation
    self.why = why
  }
}

/// The number that one run has for an expectation: of a metric, or for what the runs of all seeds decide together.
public struct Measurement: Hashable, Sendable {
  /// The expectation's id.
  public var id: String
  public var expected: String
  /// A statistic in base units (s, bit/s), or whether it held: 1 or 0. Nil when there was nothing to measure.
  public var measured: Double?

  public init(id: String, expected: String, measured: Double?) {
    self.id = id
    self.expected = expected
    self.measured = measured
  }
}

/// Everything a run of one cell with one seed came to.
public struct RunResult: Hashable, Sendable {
  /// `id[var=value,…]#seed`.
  public var id: String
  public var scenarioID: String
  public var title: String?
  /// The scenario file.
  public var path: String
  public var seed: UInt64
  public var verdict: Verdict
  public var findings: [Finding]
  /// Of metrics, and of whatever the runs of all seeds decide together, in the order of the file.
  public var measurements: [Measurement]
  public var traceHash: UInt64
  public var eventCount: UInt64
  public var virtualDuration: Interval
  /// Processor time spent, in seconds: for people, never part of what must be equal.
  public var cpuSeconds: Double
  /// Of a run with programs outside the simulation.
  public var realTime: RealTimeRecord?
  /// What happened, for people; nil where nobody wants it. It never decides what is equal.
  public var story: RunStory?

  public init(
    id: String, scenarioID: String, title: String? = nil, path: String, seed: UInt64, verdict: Verdict,
    findings: [Finding] = [], measurements: [Measurement] = [], traceHash: UInt64 = 0, eventCount: UInt64 = 0,
    virtualDuration: Interval = .zero, cpuSeconds: Double = 0
  ) {
    self.id = id
    self.scenarioID = scenarioID
    self.title = title
    self.path = path
    self.seed = seed
    self.verdict = verdict
    self.findings = findings
    self.measurements = measurements
    self.traceHash = traceHash
    self.eventCount = eventCount
    self.virtualDuration = virtualDuration
    self.cpuSeconds = cpuSeconds
  }
}
