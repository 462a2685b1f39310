public import CallCore
package import ScenarioFormat
public import ScenarioJudge

/// The result of a run of one cell with one seed.
public struct RunResult: Hashable, Sendable {
  /// The name of the run: `id[var=value,…]#seed`.
  public var id: String
  /// The id of the scenario.
  public var scenarioID: String
  /// The title of the scenario.
  public var title: String?
  /// The path of the scenario file.
  public var path: String
  /// The seed of the run.
  public var seed: UInt64
  /// The verdict over all findings.
  public var verdict: Verdict
  /// The findings, the gravest first.
  public var findings: [Finding]
  /// The measurements for metrics and for expectations over all seeds, in the order of the file.
  public var measurements: [Measurement]
  /// The hash over the bytes of the trace.
  public var traceHash: UInt64
  /// The number of events in the trace.
  public var eventCount: UInt64
  /// The virtual time of the run until its end was judged.
  public var virtualDuration: Interval
  /// The processor time in seconds: for display, excluded from comparisons of runs.
  public var cpuSeconds: Double
  /// The timing of a run with programs outside the simulation; nil for any other.
  public var realTime: RealTimeRecord?
  /// The story of the run, for display and excluded from comparisons of runs; nil if it was not requested.
  public var story: RunStory?

  /// The choices from which the moves of the run were drawn; empty for a run without.
  package var choices: [UInt64] = []
  /// The number of moves that were added to the run.
  package var moveCount = 0
  /// Why a move of the run met nothing; nil if all met something.
  package var unmetMove: String?
  /// What the run showed, for a search that looks for new things; empty if it was not requested.
  package var features: [UInt64] = []

  /// The first message of each type to each peer, as raw messages; empty if they were not requested.
  package var messages: [RawMessage] = []
  /// What happened when in the run, for a search; nil if it was not requested.
  package var course: RunCourse?

  /// The time between two hashes of ``channel``.
  public static let channelPeriod = Interval.milliseconds(100)
  /// The hashes of the channel's states from the start to the end of each ``channelPeriod`` and to the end of the run, for
  /// the arms of a comparison; empty without arms.
  public var channel: [UInt64] = []
  /// The packets that were dropped over time, for whatever reason, in an arm of a comparison; nil if none was.
  public var drops: BinnedSeries?

  /// Whether any peer received media, noted for the arms of a comparison alone.
  package var isMediaReceived = false

  /// A hash over the sound and the pictures that devices had to encode, for the arms of a comparison; nil without arms.
  package var material: UInt64?

  /// Who heard and saw whom, and when, for the arms of a comparison; empty without arms.
  package var receptions = Receptions()

  /// When each action was first performed and each recording began to play, by their names, for the arms of a comparison;
  /// empty without arms.
  package var deeds: [String: Instant] = [:]

  /// When the part of the run opened and closed that scorers judge; nil without any.
  package var comparedTimes: Range<Instant>?

  /// The sizes of the pictures that each camera took, in order, for the arms of a comparison; empty without arms.
  package var pictureSizes: [String: [String]] = [:]

  /// How sound was sent over each connection, in the order in which it was, for the arms of a comparison; empty without
  /// arms.
  package var audioFormats: [String: [String]] = [:]

  /// What the settings of the peer of each connection prefer, and in which nothing or little was sent, in words, for the
  /// arms of a comparison; empty without arms.
  package var untakenFormats: [String: [String]] = [:]

  /// What the Opus packets of each peer carried, for the arms of a comparison; empty without arms.
  package var sentOpus: [SentOpus] = []

  /// The share of a processor of this machine that all encoders took over the virtual time, and all decoders: excluded
  /// from comparisons of runs; nil if it was not requested.
  package var codecLoad: CodecLoad?

  /// The share of a processor of this machine, over the virtual time of a run.
  package struct CodecLoad: Hashable, Sendable {
    package var encoding: Double
    package var decoding: Double

    package init(encoding: Double, decoding: Double) {
      self.encoding = encoding
      self.decoding = decoding
    }
  }

  /// The scores of external programs, excluded from comparisons of runs; empty if none was requested.
  package var scores: [Score] = []

  /// The coverage of the profiles, excluded from comparisons of runs; nil if it was not requested.
  package var coverage: RunCoverage?

  /// Makes a result without a story, a coverage and a real-time record.
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
