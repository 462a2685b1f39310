internal import CallCore
internal import Foundation
public import ScenarioFormat

/// The runs that a command asks for.
public struct SuiteSelection: Sendable {
  /// Tags, one of which a scenario must have; empty selects all.
  public var tags: [String] = []
  /// Texts, one of which a cell's id or its title must contain; empty selects all.
  public var texts: [String] = []
  /// `variable=value` pairs: of each variable that they name, a cell must have one of the values.
  public var cell: [ScenarioOverride] = []
  /// A single seed, instead of those of the file.
  public var seed: UInt64?
  /// The number of seeds, counted from 1, instead of those of the file.
  public var seedCount: Int?
  /// The shard to run, counted from 1, and the number of shards.
  public var shard: (index: Int, count: Int)?
  /// The names of runs, or of cells with all their runs; nil selects all.
  public var names: Set<String>?
  /// The overrides of variables and peers.
  public var overrides: [ScenarioOverride] = []

  /// Selects everything.
  public init() {}

  /// Returns the seeds of named runs of the cell, without those that it has anyway.
  func namedSeeds(of cellID: String, besides known: [UInt64]) -> [UInt64] {
    (names ?? []).map { RunName($0) }.filter { $0.cellID == cellID }.compactMap(\.seed)
      .filter { !known.contains($0) }.sorted()
  }
}

/// Files expanded to cells and cells to runs, in an order that depends on the files alone.
public struct SuitePlan: Sendable {
  /// One cell with the seeds that the plan runs.
  public struct Entry: Sendable {
    /// The scenario file and the files it uses.
    public let source: ScenarioSource
    /// The scenario's title.
    public let title: String?
    /// The cell to run.
    public let cell: Cell
    /// The seeds to run, in order.
    public let seeds: [UInt64]
    /// Whether every seed of the cell is run here: only then can a condition be said to hold in no run.
    public let isComplete: Bool

    /// The path of the scenario file.
    public var path: String { source.path }
  }

  /// The cells of the plan, in file order.
  public let entries: [Entry]
  /// The runs: the index of an entry and a seed each.
  public let runs: [(entry: Int, seed: UInt64)]
  /// The number of runs of all shards together.
  public let suiteRunCount: Int
  /// The overrides of variables and peers.
  public let overrides: [ScenarioOverride]
  /// The number of scenario files.
  public let fileCount: Int
  /// The hash over every file and the files they use.
  public let fileHash: UInt64

  /// Expands the files to the runs that the selection names.
  public init(files: [ScenarioFile], hash: UInt64, selection: SuiteSelection) {
    var entries: [Entry] = []
    var runs: [(entry: Int, seed: UInt64)] = []
    var paths: [String] = []
    var suiteRunCount = 0
    var shards = selection.shard.map { ShardDealer(count: $0.count) }
    for file in files {
      let source = file.source
      for cell in file.cells where Self.matches(cell, selection) {
        let asked = selection.seed.map { [$0] } ?? selection.seedCount.map { Array(1...UInt64(max(1, $0))) }
        // A named run is played with its seed, although the file does not list that seed.
        let more = asked == nil ? selection.namedSeeds(of: cell.id, besides: file.seeds.all) : []
        let all = (asked ?? file.seeds.all) + more
        let dealt = shards?.deal(all, of: cell) ?? all.map { _ in 0 }
        let index = selection.shard.map { $0.index - 1 } ?? 0
        let isNamed = { (seed: UInt64) in
          selection.names.map { $0.contains(cell.id) || $0.contains(cell.runID(seed: seed)) } ?? true
        }
        suiteRunCount += all.count(where: isNamed)
        let mine = zip(all, dealt).filter { seed, shard in shard == index && isNamed(seed) }.map(\.0)
        guard !mine.isEmpty else { continue }
        // One requested seed is all of them if the file has no other.
        let isWhole = selection.seed.map { [$0] == file.seeds.all } ?? true
        let isComplete = mine.count == all.count && isWhole && more.isEmpty
        entries.append(
          Entry(source: source, title: cell.scenario.title, cell: cell, seeds: mine, isComplete: isComplete))
        runs += mine.map { (entries.count - 1, $0) }
        if paths.last != file.path { paths.append(file.path) }
      }
    }
    self.entries = entries
    self.runs = runs
    self.suiteRunCount = suiteRunCount
    overrides = selection.overrides
    fileCount = paths.count
    fileHash = hash
  }

  /// Returns the job of a run of ``runs``.
  public func job(_ run: Int) -> RunJob {
    let (entry, seed) = runs[run]
    return RunJob(source: entries[entry].source, cellID: entries[entry].cell.id, seed: seed, overrides: overrides)
  }

  /// Describes a run of the plan that is not made.
  public func planned(_ run: Int, notRunBecause reason: String) -> PlannedRun {
    let entry = entries[runs[run].entry]
    return PlannedRun(
      id: entry.cell.runID(seed: runs[run].seed), scenarioID: entry.cell.scenario.id, path: entry.path, reason: reason)
  }

  /// The seeds of the plan, each once, in order of appearance.
  public var seeds: [UInt64] { runs.map(\.seed).inOrderOfAppearance }

  private static func matches(_ cell: Cell, _ selection: SuiteSelection) -> Bool {
    let scenario = cell.scenario
    guard selection.tags.isEmpty || selection.tags.contains(where: scenario.tags.contains) else { return false }
    let texts = [cell.id, scenario.title ?? ""]
    guard selection.texts.isEmpty || selection.texts.contains(where: { text in texts.contains { $0.contains(text) } })
    else { return false }
    return selection.cell.allSatisfy { wanted in
      cell.assignments.contains { assignment in
        assignment.variable == wanted.name
          && selection.cell.contains { $0.name == wanted.name && $0.value == assignment.value }
      }
    }
  }
}

/// Deals runs to shards, each to the shard that has the fewest so far.
///
/// A judgement over the seeds of a cell needs all of them in one shard, so such a cell is dealt as a whole. The shards
/// together then report the same verdicts as the suite.
struct ShardDealer {
  private var loads: [Int]
  /// The shards of points of a matrix whose arms are judged together.
  private var points: [String: Int] = [:]

  init(count: Int) { loads = Array(repeating: 0, count: count) }

  /// - Returns: the shard of each seed, counted from 0.
  mutating func deal(_ seeds: [UInt64], of cell: Cell) -> [Int] {
    guard cell.scenario.expectations.contains(where: \.isJudgedAcrossSeeds) else { return seeds.map { _ in take(1) } }
    var shard: Int
    if let arms = cell.scenario.arms {
      shard = points[cell.pointID] ?? take(seeds.count * arms.names.count)
      points[cell.pointID] = shard
    } else {
      shard = take(seeds.count)
    }
    return seeds.map { _ in shard }
  }

  private mutating func take(_ weight: Int) -> Int {
    // Ties go to the first shard: the same in every process.
    let shard = loads.indices.min { loads[$0] < loads[$1] } ?? 0
    loads[shard] += weight
    return shard
  }
}
