/// Something that tells about runs as they finish: a terminal, a file for a build server.
public protocol Reporter: AnyObject {
  func begin(_ suite: SuiteHeader)
  /// A run has started; for progress only.
  func started(_ id: String)
  /// Runs come in the order they were planned, whatever order they end in.
  func finished(_ run: ReportedRun)
  func end(_ summary: SuiteSummary)
}

extension Reporter {
  public func started(_ id: String) {}
}

/// What is known before the first run.
public struct SuiteHeader: Sendable {
  public var environment: RunEnvironment
  public var fileCount: Int
  public var cellCount: Int
  public var runCount: Int
  public var seeds: [UInt64]
  /// Over the bytes of every file, in order.
  public var fileHash: UInt64
  /// The options as they were expanded, for people: `--set loss=10%`.
  public var options: [String]

  public init(_ plan: SuitePlan, environment: RunEnvironment, options: [String]) {
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
    line += ", \(seeds.count == 1 ? "seed" : "seeds") \(Self.ranges(seeds)), files \(RunResult.hexadecimal(fileHash))"
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
}
