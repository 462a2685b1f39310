public import ScenarioFormat
public import ScenarioRun

/// A receiver of the runs of a suite as they finish: a terminal, or a file for a build server.
public protocol Reporter: AnyObject {
  /// Whether it also reports the stories of runs that pass.
  var wantsStories: Bool { get }
  /// Reports the header of the suite, before any run.
  func begin(_ suite: SuiteHeader)
  /// Reports that a run has started; for progress only.
  func started(_ id: String)
  /// Reports a finished run. The calls have the order of the plan, whichever run ends first.
  func finished(_ run: ReportedRun)
  /// Reports, in the order of the plan, a run that was planned and not made, because the suite ended early or files
  /// have errors.
  func notRun(_ run: PlannedRun)
  /// Reports a problem in the files, because of which no run is made.
  func refused(_ problem: FileProblem)
  /// Reports the totals, after the last run.
  func end(_ summary: SuiteSummary)
}

extension Reporter {
  public var wantsStories: Bool { false }
  public func started(_ id: String) {}
}

/// The facts that are known before the first run.
public struct SuiteHeader: Sendable {
  /// The program, the libraries and the processor.
  public var environment: RunEnvironment
  /// The number of scenario files.
  public var fileCount: Int
  /// The number of cells.
  public var cellCount: Int
  /// The number of runs.
  public var runCount: Int
  /// The seeds of the plan, each once.
  public var seeds: [UInt64]
  /// The hash over every file and the files they use, in order.
  public var fileHash: UInt64
  /// The expanded options, for display: `--set loss=10%`.
  public var options: [String]
  /// The start of the suite (RFC 3339); nil in reports without it.
  public var startedAt: String?
  /// The name of the machine; nil in reports without it.
  public var hostName: String?

  /// Describes a plan.
  public init(
    _ plan: SuitePlan, environment: RunEnvironment, options: [String], startedAt: String? = nil, hostName: String? = nil
  ) {
    self.startedAt = startedAt
    self.hostName = hostName
    self.environment = environment
    fileCount = plan.fileCount
    cellCount = plan.entries.count
    runCount = plan.runs.count
    seeds = plan.seeds
    fileHash = plan.fileHash
    self.options = options
  }

  /// The header of a report for humans, one string per line.
  public var lines: [String] {
    var line = "\(Self.count(fileCount, "file")), \(Self.count(cellCount, "cell")), \(Self.count(runCount, "run"))"
    if !seeds.isEmpty { line += ", \(seeds.count == 1 ? "seed" : "seeds") \(Self.ranges(seeds))" }
    line += ", files \(RunResult.hexadecimal(fileHash))"
    var lines = ["callsim \(environment.line)", line]
    if !options.isEmpty { lines.append("options: " + options.joined(separator: " ")) }
    return lines
  }

  private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  /// `1-20, 99`
  static func ranges(_ seeds: [UInt64]) -> String {
    var parts: [String] = []
    var index = 0
    while index < seeds.count {
      var last = index
      while last + 1 < seeds.count, seeds[last + 1] == seeds[last] &+ 1 { last += 1 }
      parts.append(last == index ? "\(seeds[index])" : "\(seeds[index])-\(seeds[last])")
      index = last + 1
      if parts.count == 8, index < seeds.count { return parts.joined(separator: ", ") + ", …" }
    }
    return parts.joined(separator: ", ")
  }
}

/// A run that was not made.
public struct PlannedRun: Sendable {
  /// The run's name, `id[var=value,…]#seed`.
  public var id: String
  /// The id of the scenario.
  public var scenarioID: String
  /// The path of the scenario file.
  public var path: String
  /// The reason why the run was not made.
  public var reason: String

  /// Describes a run that was not made.
  public init(id: String, scenarioID: String, path: String, reason: String) {
    self.id = id
    self.scenarioID = scenarioID
    self.path = path
    self.reason = reason
  }
}

/// A finished run with its replay command and its files.
public struct ReportedRun: Sendable {
  /// The result of the run.
  public var result: RunResult
  /// The command that plays the run again.
  public var replay: String
  /// The files of the run; nil if none were kept.
  public var artifacts: ArtifactList?

  /// Describes a finished run.
  public init(result: RunResult, replay: String, artifacts: ArtifactList? = nil) {
    self.result = result
    self.replay = replay
    self.artifacts = artifacts
  }
}

/// The files that a run left in its folder.
public struct ArtifactList: Sendable, Equatable {
  /// The folder of the run.
  public var folder: String
  /// The names of the files, sorted.
  public var names: [String]
  /// The reason why the files are incomplete; nil when they are complete.
  public var problem: String?

  /// Lists the files of a run.
  public init(folder: String, names: [String], problem: String? = nil) {
    self.folder = folder
    self.names = names
    self.problem = problem
  }
}
