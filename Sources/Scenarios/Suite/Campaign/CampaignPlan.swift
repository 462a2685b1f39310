internal import CallCore
internal import Foundation
public import Profiles
public import ScenarioFormat
internal import ScenarioRun
internal import ScenarioSearch

/// The runs of a search: which scenarios are varied, how, and how often.
///
/// A campaign consists of blocks. Everything about a block follows from the files, the seed and the number of the block,
/// and no block learns from another: blocks can be made in any order, by any number of processes and machines, and be
/// repeated after a loss.
public struct CampaignPlan: Sendable {
  /// The order in which moves are tried.
  public enum Method: Hashable, Sendable {
    /// Every row of the table of moves, once.
    case exhaustive
    /// So many runs with moves that are drawn from the seed.
    case drawn(runs: Int)
  }

  /// One cell whose scenario is varied.
  public struct Base: Sendable {
    /// The scenario file and the files it uses.
    public let source: ScenarioSource
    /// The cell.
    public let cell: Cell
    fileprivate(set) var alphabet: MoveAlphabet
    /// The kinds of moves that can be made in it.
    let kinds: [MoveKind]
    /// The processor time that it takes without moves.
    fileprivate(set) var processorTime = Interval.zero
    /// The number of rows of its table of moves.
    fileprivate(set) var rowCount = 0
    /// The moves that are no rows of it, because they would meet nothing.
    fileprivate(set) var omissions: [MoveTable.Omission] = []
    /// The largest number of moves in a run.
    let most: Int
  }

  /// A run of a block.
  struct Run: Sendable {
    var base: Int
    var variation: Variation
    var seed: UInt64
  }

  /// The number of runs in a block.
  static let blockSize = 200

  /// The scenarios that are varied.
  public private(set) var bases: [Base]
  /// The order in which moves are tried.
  public let method: Method
  /// The seed of all that is drawn.
  public let seed: UInt64
  /// The kinds of moves that are made.
  public let kinds: [MoveKind]
  /// The cells that are not varied, because none of the moves can be made in them.
  public let unvaried: [String]
  private let turns: Turns
  let profiles: ProfileCatalogue
  /// The overrides of variables and peers.
  let overrides: [ScenarioOverride]
  /// The identity of the program: another one may find something else.
  let program: String

  /// Plans a campaign over the cells of files. Cells with external programs are left out: they run in real time.
  ///
  /// - Parameter most: the largest number of moves in a run; nil for that of each file, or ``usualMost``.
  public init(
    files: [ScenarioFile], method: Method, seed: UInt64, kinds: [MoveKind], most: Int?, profiles: ProfileCatalogue,
    overrides: [ScenarioOverride], program: String
  ) {
    (self.overrides, self.program) = (overrides, program)
    self.method = method
    self.seed = seed
    self.kinds = kinds
    self.profiles = profiles
    var bases: [Base] = []
    var unvaried: [String] = []
    for file in files {
      for cell in file.cells {
        let alphabet = MoveAlphabet(cell.scenario, registry: profiles.registry)
        let possible = alphabet.kinds.filter { kinds.contains($0) }
        guard !cell.scenario.isRealTime, !possible.isEmpty else {
          unvaried.append(cell.id)
          continue
        }
        let base = Base(
          source: file.source, cell: cell, alphabet: alphabet, kinds: possible,
          most: most ?? cell.scenario.fuzz?.most ?? Self.usualMost)
        bases.append(base)
      }
    }
    (self.bases, self.unvaried) = (bases, unvaried)
    turns = Turns(limits: bases.map { $0.cell.scenario.fuzz?.runs })
    for index in bases.indices { learn(BaseRecord(), taking: .zero, of: index) }
  }

  /// The largest number of moves in a run where neither the command nor the file says another.
  public static let usualMost = 6

  /// Takes what a run of a base without moves has shown; from then on moves refer to it.
  mutating func learn(_ record: BaseRecord, taking processorTime: Interval, of index: Int) {
    let base = bases[index]
    bases[index].processorTime = processorTime
    bases[index].alphabet = MoveAlphabet(base.cell.scenario, registry: profiles.registry, record: record)
    guard method == .exhaustive else { return }
    let table = MoveTable(bases[index].alphabet, kinds: base.kinds)
    (bases[index].rowCount, bases[index].omissions) = (table.rows.count, table.omissions)
  }

  /// The number of runs that a scenario has before the next one has its turn.
  public static var turnLength: Int { Turns.length }

  /// The number of bases that have at least one run.
  public var reachedCount: Int {
    switch method {
    case .exhaustive: bases.count
    case .drawn: turns.reachedCount(in: runCount)
    }
  }

  /// The number of all runs.
  public var runCount: Int {
    switch method {
    case .exhaustive: bases.reduce(0) { $0 + $1.rowCount }
    case .drawn(let runs): min(runs, turns.count)
    }
  }

  /// The number of blocks.
  public var blockCount: Int { (runCount + Self.blockSize - 1) / Self.blockSize }

  /// The number of runs of a block.
  func size(ofBlock block: Int) -> Int { min(Self.blockSize, runCount - block * Self.blockSize) }

  /// Returns the run of a block.
  ///
  /// - Parameter corpus: the choices of earlier runs of the block that showed something new.
  func run(_ number: Int, ofBlock block: Int, corpus: [BlockCorpus.Entry]) -> Run {
    let index = block * Self.blockSize + number
    switch method {
    case .exhaustive:
      var row = index
      var base = 0
      while row >= bases[base].rowCount {
        row -= bases[base].rowCount
        base += 1
      }
      let variation = Variation(.single(row), kinds: bases[base].kinds, most: 1)
      return Run(base: base, variation: variation, seed: 1)
    case .drawn:
      let base = turns.base(of: index)
      var random = RandomSource(seed: seed).stream("run/\(index)")
      let own = corpus.filter { $0.base == base }
      let drawn = random.next()
      let choices = own.isEmpty || random.chance(0.5) ? [] : Self.mutated(own, &random)
      let variation = Variation(.drawn(choices: choices, seed: drawn), kinds: bases[base].kinds, most: bases[base].most)
      return Run(base: base, variation: variation, seed: 1 + random.uniform(below: 1 << 31))
    }
  }

  /// Returns the choices of an earlier run, with a few changed ones or another end.
  private static func mutated(_ corpus: [BlockCorpus.Entry], _ random: inout RandomStream) -> [UInt64] {
    // Newer entries are further from what the seeds do anyway.
    let index = max(random.uniform(below: UInt64(corpus.count)), random.uniform(below: UInt64(corpus.count)))
    var choices = corpus[Int(index)].choices
    guard !choices.isEmpty else { return [] }
    if random.chance(0.3) { choices.removeLast(Int(random.uniform(below: UInt64(choices.count)))) }
    for _ in 0..<(1 + random.uniform(below: 3)) where !choices.isEmpty {
      choices[Int(random.uniform(below: UInt64(choices.count)))] = random.uniform(below: 1 << 20)
    }
    return choices
  }

  /// Returns the job that plays a base without moves.
  func baseJob(_ index: Int) -> RunJob {
    let base = bases[index]
    var job = RunJob(source: base.source, cellID: base.cell.id, seed: BaseRecord.seed, overrides: overrides)
    job.wantsCoverage = true
    job.wantsMessages = true
    job.needsNoStory = true
    return job
  }

  /// Returns the job that plays a run.
  func job(_ run: Run) -> RunJob {
    let base = bases[run.base]
    var job = RunJob(source: base.source, cellID: base.cell.id, seed: run.seed, overrides: overrides)
    job.variation = run.variation
    job.wantsCoverage = true
    return job
  }

  /// Returns the scenario file of a run, which needs neither the campaign nor its base.
  func text(of run: Run) -> String? {
    run.variation.scenario(bases[run.base].alphabet).map { varied in
      var seeds = Seeds()
      if run.seed != 1 { seeds.list = [Int(clamping: run.seed)] }
      return varied.scenario.text(seeds: seeds)
    }
  }
}
