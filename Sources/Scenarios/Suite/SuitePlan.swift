internal import Foundation
public import ScenarioFormat

/// Which runs a command asks for.
public struct SuiteSelection: Sendable {
  /// Any of them; empty is all.
  public var tags: [String] = []
  /// Any of them is a piece of the cell's id or of the title; empty is all.
  public var texts: [String] = []
  /// `variable=value` pairs: a cell has, of each variable that they name, one of the values.
  public var cell: [ScenarioOverride] = []
  public var seed: UInt64?
  /// Seeds 1 to this, instead of those of the file.
  public var seedCount: Int?
  /// This one of so many shares, counted from 1.
  public var shard: (index: Int, count: Int)?
  /// Only runs, or all runs of cells, of these names.
  public var names: Set<String>?
  public var overrides: [ScenarioOverride] = []

  public init() {}

  /// The seeds of named runs of the cell, without those that it has anyway.
  func namedSeeds(of cellID: String, besides known: [UInt64]) -> [UInt64] {
    (names ?? []).map { RunName($0) }.filter { $0.cellID == cellID }.compactMap(\.seed)
      .filter { !known.contains($0) }.sorted()
  }
}

/// Files expanded to cells and cells to runs, in an order that depends on nothing but the files.
public struct SuitePlan: Sendable {
  public struct Entry: Sendable {
    public let source: ScenarioSource
    public let title: String?
    public let cell: Cell
    public let seeds: [UInt64]
    /// Whether every seed of the cell is run here: only then can be said what never happened.
    public let isComplete: Bool

    public var path: String { source.path }
  }

  public let entries: [Entry]
  /// The runs: an entry and a seed each.
  public let runs: [(entry: Int, seed: UInt64)]
  /// How many runs all shards have together.
  public let suiteRunCount: Int
  public let overrides: [ScenarioOverride]
  public let fileCount: Int
  public let fileHash: UInt64

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
        // A run that is named is played with its seed, although the file does not have it.
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
        // One seed that is asked for is all of them where the file has no other.
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

  public func job(_ run: Int) -> RunJob {
    let (entry, seed) = runs[run]
    return RunJob(source: entries[entry].source, cellID: entries[entry].cell.id, seed: seed, overrides: overrides)
  }

  /// A run of the plan that is not made.
  public func planned(_ run: Int, notRunBecause reason: String) -> PlannedRun {
    let entry = entries[runs[run].entry]
    return PlannedRun(
      id: entry.cell.runID(seed: runs[run].seed), scenarioID: entry.cell.scenario.id, path: entry.path, reason: reason)
  }

  /// Every seed of the plan once, in the order they are met.
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

/// Deals runs to shards, each to the one that has the fewest so far.
///
/// What is judged over the seeds of a cell needs all of them in one place, so such a cell is dealt as a whole: the shards
/// together say what the suite says.
struct ShardDealer {
  private var loads: [Int]

  init(count: Int) { loads = Array(repeating: 0, count: count) }

  /// - Returns: the shard of each seed, counted from 0.
  mutating func deal(_ seeds: [UInt64], of cell: Cell) -> [Int] {
    guard cell.scenario.expectations.contains(where: \.isJudgedAcrossSeeds) else { return seeds.map { _ in take(1) } }
    let shard = take(seeds.count)
    return seeds.map { _ in shard }
  }

  private mutating func take(_ weight: Int) -> Int {
    // The first of the least: the same in every process.
    let shard = loads.indices.min { loads[$0] < loads[$1] } ?? 0
    loads[shard] += weight
    return shard
  }
}
