public import CallCore
internal import Formats
internal import Foundation
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import ScenarioSearch

/// Makes the runs of a plan in worker processes, keeps what they find, and reduces each finding to a small file.
public final class Campaign {
  /// How a campaign is run.
  public struct Options: Sendable {
    /// The program that contains the worker loop, and the arguments that start it.
    public var executable: String
    /// The arguments that make the program run the worker loop.
    public var workerArguments: [String]
    /// The number of worker processes that run at a time.
    public var jobs = 1
    /// The machine time after which no block is begun.
    public var wall: Interval?
    /// Whether no run is begun after the first finding. The blocks under way are made anew when the search goes on.
    public var failFast = false
    /// The share of the blocks to make: its number, counted from 1, and the number of shares.
    public var shard: (index: Int, count: Int)?
    /// The largest number of runs for the reduction of one finding; 0 leaves findings as they are.
    public var reductionLimit = 500
    /// The memory that a worker process may take, in MiB.
    public var memoryLimit = 2_048

    /// Sets the program to start as a worker; everything else has its default.
    public init(executable: String, workerArguments: [String]) {
      self.executable = executable
      self.workerArguments = workerArguments
    }
  }

  /// The state of a campaign.
  public struct Progress: Sendable {
    /// The number of runs that were made, of earlier parts too.
    public var runCount = 0
    /// The number of runs whose moves all found something to act on.
    public var effectiveCount = 0
    /// The moves that are not tried, because they would meet nothing: one line for each reason of each scenario.
    public var omissions: [String] = []
    /// The number of runs that are planned in this share.
    public var planned = 0
    /// The findings so far.
    public var buckets: [Bucket] = []
    /// The runs that came to no verdict, one line each.
    public var problems: [String] = []
  }

  /// A finding with its files.
  public struct Found: Sendable {
    /// The finding.
    public var bucket: Bucket
    /// The path of the smallest file that fails so; nil if there is none.
    public var path: String?
    /// The reason why there is none; nil if the reduction has not been reached.
    public var obstacle: Obstacle?
  }

  /// The reason why a finding has no file of its own.
  public enum Obstacle: Sendable {
    /// The run failed in the search, and not when it was played from a file.
    case notRepeated
    /// The run had no end, so that smaller ones may have none either.
    case endless
    /// It shows in two plays of one run alone.
    case needsTwoPlays
    /// No runs were to be spent on it.
    case notWanted
  }

  /// The end of a campaign.
  public struct Outcome: Sendable {
    /// The counts at the end.
    public var progress: Progress
    /// The findings with their files, in the order of their first runs.
    public var found: [Found]
    /// The files in the folder `regressions`, which were played first.
    public var regressions: [Regression]
    /// Whether a signal ended it.
    public var isInterrupted: Bool
    /// The reason why it ended early; nil if it did not.
    public var failure: String?
  }

  private struct Block {
    var record: BlockRecord
    var corpus = BlockCorpus()
    /// The run that is under way.
    var run: CampaignPlan.Run
    /// Its number.
    var next = 0
    /// The first run of the block, which is played again at its end, and the hash of its trace.
    var first: (run: CampaignPlan.Run, hash: UInt64)?
    var isRepeating = false
  }

  private(set) var plan: CampaignPlan
  let options: Options
  let store: CampaignStore
  /// Called after each run.
  public var progressed: ((Progress) -> Void)?
  private(set) var progress = Progress()
  private var blocks: [Int: Block] = [:]
  /// The error that ended the campaign early.
  var failure: FileError?
  private let begun = ContinuousClock.now

  /// Prepares a campaign in a folder.
  public init(plan: CampaignPlan, options: Options, store: CampaignStore) {
    self.plan = plan
    self.options = options
    self.store = store
  }

  /// Plays the regressions, makes the blocks that the folder does not have yet, then reduces the findings.
  ///
  /// - Throws: when a worker cannot be started, the folder belongs to another campaign, or a scenario cannot be played
  ///   without moves.
  public func run() throws -> Outcome {
    try takeFolder()
    var outcome = Outcome(progress: progress, found: [], regressions: [], isInterrupted: false, failure: nil)
    outcome.isInterrupted = try !(playRegressions(&outcome) && playBases() && makeBlocks())
    outcome.progress = progress
    if !outcome.isInterrupted, failure == nil {
      outcome.isInterrupted = try !reduce(&outcome)
    } else {
      outcome.found = progress.buckets.map { Found(bucket: $0, path: store.minimal(of: $0)) }
    }
    outcome.failure = failure.map { "\($0)" }
    return outcome
  }

  /// The processor time that one run may take, if its base is a small one.
  static let runLimit = Interval.seconds(30)

  /// Returns the processor time that a run may take: with moves it may last a hundred times as long as without, as when an
  /// entry waits for what never comes.
  private func limit(ofBase index: Int) -> Interval { max(Self.runLimit, plan.bases[index].processorTime * 100) }

  private var isLate: Bool { options.wall.map { ContinuousClock.now - begun >= $0.duration } ?? false }

  /// Whether what was found ends the search.
  private var isFound: Bool { options.failFast && !progress.buckets.isEmpty }

  func pool(_ taskCount: Int) -> WorkerPool {
    var configuration = WorkerPool.Configuration(
      executable: options.executable, arguments: options.workerArguments,
      workerCount: max(1, min(options.jobs, taskCount)), memoryLimit: options.memoryLimit)
    // A busy machine must not make findings.
    configuration.limitsProcessorTime = true
    return WorkerPool(configuration)
  }

  // MARK: Bases

  /// Plays every base without moves.
  ///
  /// - Returns: false when it was interrupted.
  private func playBases() throws -> Bool {
    var waiting = plan.bases.indices.prefix(plan.reachedCount)
    var problem: CampaignError?
    let isComplete = try pool(waiting.count).run(
      nextTask: { [plan] in problem == nil ? waiting.popFirst().map { ($0, plan.baseJob($0)) } : nil },
      wallLimit: { _ in Self.runLimit },
      follow: { [self] index, job, outcome in
        if case .result(let result) = outcome {
          plan.learn(BaseRecord(result), taking: .seconds(1).scaled(by: result.cpuSeconds), of: index)
        }
        if let lack = outcome.lack {
          problem = CampaignError(
            "\(job.cellID) cannot be played without moves: \(lack); see: \(ProgramName.current) run \(job.path)")
        }
        return .done
      })
    if let problem { throw problem }
    return isComplete
  }

  // MARK: Folder

  /// Prepares the folder: one of another campaign is refused, one of another version is taken over.
  private func takeFolder() throws {
    if let old = store.plan, old != plan.json {
      guard old.withoutVersion == plan.json.withoutVersion else {
        throw CampaignError(
          "\(store.root) holds another campaign: other files, seed or moves; name another folder with --corpus, or "
            + "remove this one")
      }
      try store.retire()
    }
    try store.prepare(plan.json)
  }

  /// Counts the blocks of an interrupted campaign in the folder.
  ///
  /// - Returns: their numbers.
  private func finishedBlocks(of hash: UInt64) -> Set<Int> {
    var done: Set<Int> = []
    // The last block of a search with fewer runs is shorter, and is made again as a whole; so is a block with runs that
    // came to no verdict.
    for record in store.records(of: hash).records
    where record.block < plan.blockCount && record.runCount >= plan.size(ofBlock: record.block)
      && record.problems.isEmpty
    {
      done.insert(record.block)
      count(record)
    }
    return done
  }

  private func count(_ record: BlockRecord) {
    progress.runCount += record.runCount
    progress.effectiveCount += record.effectiveCount
    progress.problems += record.problems
    progress.buckets.merge(record.buckets)
  }

  // MARK: Blocks

  /// - Returns: false when it was interrupted.
  private func makeBlocks() throws -> Bool {
    let hash = CampaignStore.hash(of: plan.json)
    let done = finishedBlocks(of: hash)
    let mine = (0..<plan.blockCount).filter { block in
      options.shard.map { block % $0.count == $0.index - 1 } ?? true
    }
    progress.planned = mine.reduce(0) { $0 + plan.size(ofBlock: $1) }
    progress.omissions = plan.bases.flatMap { base in base.omissions.map { "\(base.cell.id): \($0)" } }
    var waiting = mine.filter { !done.contains($0) }[...]
    return try pool(waiting.count).run(
      nextTask: { [self] in
        guard failure == nil, !isLate, !isFound, let number = waiting.popFirst() else { return nil }
        let block = Block(
          record: BlockRecord(plan: hash, block: number), run: plan.run(0, ofBlock: number, corpus: []))
        blocks[number] = block
        return (number, plan.job(block.run))
      },
      wallLimit: { [self] in blocks[$0].map { limit(ofBase: $0.run.base) } ?? Self.runLimit },
      follow: { [self] block, _, outcome in follow(block, outcome) })
  }

  private func follow(_ number: Int, _ outcome: JobOutcome) -> WorkerPool.Step {
    guard var block = blocks.removeValue(forKey: number) else { return .done }
    if block.isRepeating {
      compare(outcome, &block)
      finish(block)
      return .done
    }
    let record = record(of: outcome, block)
    if case .result(let result) = outcome {
      block.corpus.add(result.choices, of: block.run.base, features: result.features)
    }
    count(record)
    progressed?(progress)
    block.record.add(record)
    block.next += 1
    if block.next == 1, case .result(let result) = outcome { block.first = (block.run, result.traceHash) }
    guard failure == nil, !isFound else { return .done }
    guard block.next < plan.size(ofBlock: number) else {
      guard let first = block.first else {
        finish(block)
        return .done
      }
      // After all the others in its process: what they leave behind shows.
      block.isRepeating = true
      blocks[number] = block
      return .next(plan.job(first.run), isFresh: false)
    }
    block.run = plan.run(block.next, ofBlock: number, corpus: block.corpus.entries)
    blocks[number] = block
    return .next(plan.job(block.run), isFresh: false)
  }

  /// Compares the second play of the block's first run with the first one.
  private func compare(_ outcome: JobOutcome, _ block: inout Block) {
    guard let first = block.first else { return }
    if case .result(let result) = outcome, result.traceHash == first.hash { return }
    let base = plan.bases[first.run.base]
    let place = Occurrence(
      block: block.record.block, number: 0, cellID: base.cell.id, path: base.source.path, seed: first.run.seed,
      variation: first.run.variation)
    var record = BlockRecord(plan: block.record.plan, block: place.block)
    // What earlier runs have left in the process may also end it.
    var checks = [BrokenCheck(differing: place.cellID)]
    if case .result = outcome {} else { checks = outcome.brokenChecks(of: place.cellID) }
    record.buckets = checks.map { Bucket(check: $0, count: 1, first: place, last: place) }
    count(record)
    progressed?(progress)
    block.record.add(record)
  }

  /// Returns what one run adds to its block.
  private func record(of outcome: JobOutcome, _ block: Block) -> BlockRecord {
    let base = plan.bases[block.run.base]
    let place = Occurrence(
      block: block.record.block, number: block.next, cellID: base.cell.id, path: base.source.path,
      seed: block.run.seed, variation: block.run.variation)
    var record = BlockRecord(plan: block.record.plan, block: place.block, runCount: 1)
    record.buckets = outcome.brokenChecks(of: place.cellID).map {
      Bucket(check: $0, count: 1, first: place, last: place)
    }
    switch outcome {
    case .result(let result):
      guard result.moveCount > 0 else { break }
      if let lack = result.unmetMove {
        record.unmet = [place.problem(lack)]
      } else {
        record.effectiveCount = 1
      }
    case .failure, .crash, .timeout, .oversize:
      if record.buckets.isEmpty, let lack = outcome.lack { record.problems = [place.problem(lack)] }
    }
    return record
  }

  private func finish(_ block: Block) {
    var record = block.record
    record.featureCount = block.corpus.featureCount
    do throws(FileError) {
      try store.write(record)
    } catch {
      failure = error
    }
  }
}

extension Occurrence {
  /// Returns the line that tells why a run has no verdict, or why a move of it met nothing.
  fileprivate func problem(_ reason: String) -> String { "\(cellID)#\(seed), run \(block).\(number): \(reason)" }
}

/// A campaign that cannot be made.
public struct CampaignError: Error, CustomStringConvertible {
  /// The reason and the remedy.
  public let description: String

  init(_ description: String) { self.description = description }
}

extension BlockRecord {
  fileprivate mutating func add(_ other: BlockRecord) {
    runCount += other.runCount
    effectiveCount += other.effectiveCount
    unmet += other.unmet
    buckets.merge(other.buckets)
    problems += other.problems
  }
}

extension JSON {
  /// What a plan says but for the version that made it.
  fileprivate var withoutVersion: JSON {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { !["format", "program"].contains($0.key) })
  }
}

extension CampaignPlan {
  /// The plan in the form that a folder keeps.
  var json: JSON {
    let method: JSON =
      switch method {
      case .exhaustive: "exhaustive"
      // More runs are more blocks: a campaign may be resumed with another number.
      case .drawn: "drawn"
      }
    return [
      "format": 4, "program": .string(program),
      "set": .array(overrides.map { .strings([$0.name, $0.value]) }), "method": method, "seed": .unsigned(seed),
      "kinds": .strings(kinds.map(\.rawValue)), "blockSize": .integer(Int64(Self.blockSize)),
      "files": .array(
        bases.map { base in
          [
            "cell": .string(base.cell.id), "hash": .string(RunResult.hexadecimal(base.source.contentHash)),
            "most": .integer(Int64(base.most)),
          ]
        }),
    ]
  }
}
