public import CallCore
public import ScenarioJudge

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
