public import ScenarioFormat
public import ScenarioRun

/// Something that tells about runs as they finish: a terminal, a file for a build server.
public protocol Reporter: AnyObject {
  /// Whether it tells what happened in runs that pass, too.
  var wantsStories: Bool { get }
  func begin(_ suite: SuiteHeader)
  /// A run has started; for progress only.
  func started(_ id: String)
  /// Runs come in the order they were planned, whatever order they end in.
  func finished(_ run: ReportedRun)
  /// A run was planned and not made, because the suite ended early or other files have errors. It has its place in the
  /// order of the plan.
  func notRun(_ run: PlannedRun)
  /// Something is wrong with the files, so that none of them is run.
  func refused(_ problem: FileProblem)
  func end(_ summary: SuiteSummary)
}

extension Reporter {
  public var wantsStories: Bool { false }
  public func started(_ id: String) {}
}

/// What is known before the first run.
public struct SuiteHeader: Sendable {
  public var environment: RunEnvironment
  public var fileCount: Int
  public var cellCount: Int
  public var runCount: Int
  public var seeds: [UInt64]
  /// Over every file and the files they use, in order.
  public var fileHash: UInt64
  /// The options as they were expanded, for people: `--set loss=10%`.
  public var options: [String]
  /// When the suite began, as RFC 3339 writes it, and the machine it ran on; nil where reports leave them out.
  public var startedAt: String?
  public var hostName: String?

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

  /// For people, a line each.
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
  public var id: String
  public var scenarioID: String
  public var path: String
  /// Why it was not.
  public var reason: String

  public init(id: String, scenarioID: String, path: String, reason: String) {
    self.id = id
    self.scenarioID = scenarioID
    self.path = path
    self.reason = reason
  }
}

/// A finished run with what people need to follow it up.
public struct ReportedRun: Sendable {
  public var result: RunResult
  /// One command that plays the run again.
  public var replay: String
  /// Where its files are, and which; empty without artefacts.
  public var artifacts: ArtifactList?

  public init(result: RunResult, replay: String, artifacts: ArtifactList? = nil) {
    self.result = result
    self.replay = replay
    self.artifacts = artifacts
  }
}

/// The files a run left in its folder.
public struct ArtifactList: Sendable, Equatable {
  public var folder: String
  public var names: [String]
  /// Why the files are not whole; nil when they are.
  public var problem: String?

  public init(folder: String, names: [String], problem: String? = nil) {
    self.folder = folder
    self.names = names
    self.problem = problem
  }
}
