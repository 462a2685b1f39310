internal import Foundation

/// Which runs a command asks for.
public struct SuiteSelection: Sendable {
  /// Any of them; empty is all.
  public var tags: [String] = []
  /// A piece of the cell's id or of the title.
  public var text: String?
  /// `variable=value` pairs that a cell must all have.
  public var cell: [RunJob.Override] = []
  public var seed: UInt64?
  /// Seeds 1 to this, instead of those of the file.
  public var seedCount: Int?
  /// This one of so many equal shares, counted from 1.
  public var shard: (index: Int, count: Int)?
  public var overrides: [RunJob.Override] = []

  public init() {}
}

/// Files expanded to cells and cells to runs, in an order that depends on nothing but the files.
public struct SuitePlan: Sendable {
  public struct Entry: Sendable {
    public let path: String
    public let title: String?
    public let cell: Cell
    public let seeds: [UInt64]
    /// Whether every seed of the cell is run here: only then can be said what never happened.
    public let isComplete: Bool
  }

  public let entries: [Entry]
  /// The runs: an entry and a seed each.
  public let runs: [(entry: Int, seed: UInt64)]
  public let overrides: [RunJob.Override]
  public let fileCount: Int
  public let fileHash: UInt64

  public init(files: [ScenarioFile], hash: UInt64, selection: SuiteSelection) {
    var entries: [Entry] = []
    var runs: [(entry: Int, seed: UInt64)] = []
    var paths: [String] = []
    var number = 0
    for file in files where Self.matches(file, selection) {
      for cell in file.cells where Self.matches(cell, of: file, selection) {
        let all =
          selection.seed.map { [$0] } ?? selection.seedCount.map { Array(1...UInt64(max(1, $0))) } ?? file.seeds.all
        let mine = all.filter { _ in
          number += 1
          return selection.shard.map { (number - 1) % $0.count == $0.index - 1 } ?? true
        }
        guard !mine.isEmpty else { continue }
        let isComplete = mine.count == all.count && selection.seed == nil
        entries.append(Entry(path: file.path, title: file.title, cell: cell, seeds: mine, isComplete: isComplete))
        runs += mine.map { (entries.count - 1, $0) }
        if paths.last != file.path { paths.append(file.path) }
      }
    }
    self.entries = entries
    self.runs = runs
    overrides = selection.overrides
    fileCount = paths.count
    fileHash = hash
  }

  public func job(_ run: Int) -> RunJob {
    let (entry, seed) = runs[run]
    return RunJob(path: entries[entry].path, cellID: entries[entry].cell.id, seed: seed, overrides: overrides)
  }

  /// Every seed of the plan once, in the order they are met.
  public var seeds: [UInt64] {
    var seen: Set<UInt64> = []
    return runs.map(\.seed).filter { seen.insert($0).inserted }
  }

  private static func matches(_ file: ScenarioFile, _ selection: SuiteSelection) -> Bool {
    selection.tags.isEmpty || selection.tags.contains { file.tags.contains($0) }
  }

  private static func matches(_ cell: Cell, of file: ScenarioFile, _ selection: SuiteSelection) -> Bool {
    if let text = selection.text, !cell.id.contains(text), !(file.title ?? "").contains(text) { return false }
    return selection.cell.allSatisfy { wanted in
      cell.assignments.contains { $0.variable == wanted.name && $0.value == wanted.value }
    }
  }
}
