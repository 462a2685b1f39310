import ArgumentParser
import CallCore
import Foundation
import ScenarioFormat
import ScenarioSearch
import ScenarioSuite

/// The arguments of commands that search.
struct CampaignArguments: ParsableArguments {
  @Option(parsing: .unconditional, help: "How many runs.")
  var runs = 1_000

  @Option(
    help: ArgumentHelp("Begin no more runs after so long: 10min, 90s; findings are reduced then.", valueName: "90s"))
  var wall: String?

  @Flag(help: "Begin no more runs after the first finding, which is reduced then.")
  var failFast = false

  @Option(
    help: ArgumentHelp(
      "Where findings and finished parts are kept; a search that was interrupted goes on there.", valueName: "folder"))
  var corpus = "callsim-corpus"

  @Option(parsing: .unconditional, help: "What is drawn.")
  var seed: UInt64 = 1

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The largest number of moves in a run. (default: that of the file, or 6)", valueName: "n"))
  var most: Int?

  @OptionGroup var jobs: JobsArguments

  @Option(
    help: ArgumentHelp("Make one of n shares; '\(ProgramName.current) merge' puts them together.", valueName: "i/n"))
  var shard: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("How many runs may reduce a finding; 0 reduces none.", valueName: "n"))
  var shrink = 500

  func run(_ scenarios: ScenarioArguments, kinds: [MoveKind], isExhaustive: Bool, word: String) throws {
    guard (1...100_000_000).contains(runs) else {
      throw UsageProblem(message: "--runs takes a count from 1 to 100000000, not \(runs)")
    }
    if let most, !(1...100).contains(most) {
      throw UsageProblem(message: "--most takes a count from 1 to 100, not \(most)")
    }
    guard (0...100_000).contains(shrink) else {
      throw UsageProblem(message: "--shrink takes a count from 0 to 100000, not \(shrink)")
    }
    try jobs.check()
    guard !corpus.isEmpty else { throw UsageProblem(message: "--corpus takes a folder") }
    let collection = try scenarios.load()
    try collection.requireValid()
    let plan = CampaignPlan(
      files: collection.files, method: isExhaustive ? .exhaustive : .drawn(runs: runs), seed: seed, kinds: kinds,
      most: most, profiles: CallSimProgram.profiles, overrides: try scenarios.parsedOverrides(),
      program: try Self.program())
    Self.note(plan)
    guard plan.runCount > 0 else {
      Output.error("error: nothing to run; no scenario here has a peer on which these moves act\n")
      throw ExitStatus.vacuous.code
    }
    let campaign = Campaign(plan: plan, options: try options, store: CampaignStore(root: corpus))
    let view = CampaignView(word: word, isExhaustive: isExhaustive, shard: shard)
    campaign.progressed = { view.show($0) }
    let outcome: Campaign.Outcome
    do {
      outcome = try campaign.run()
    } catch let error as CampaignError {
      throw UsageProblem(message: "\(error)")
    }
    view.end(outcome, corpus: corpus)
    throw Self.status(of: outcome).code
  }

  /// Tells which scenarios are not varied.
  private static func note(_ plan: CampaignPlan) {
    for cell in plan.unvaried.prefix(5) {
      Output.error("note: \(TextStyle.printable(cell)) is not varied: none of these moves can be made in it\n")
    }
    if plan.unvaried.count > 5 { Output.error("note: … and \(plan.unvaried.count - 5) more\n") }
    if plan.reachedCount < plan.bases.count {
      Output.error(
        "note: \(plan.runCount) runs reach \(plan.reachedCount) of \(plan.bases.count) scenarios; all need "
          + "--runs \(plan.bases.count * CampaignPlan.turnLength)\n")
    }
  }

  /// Returns the hash of this program, and the defect that is planted in it, if any.
  private static func program() throws -> String {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: WorkerCommand.executable), options: .alwaysMapped)
    // All of it: any bit may be the one that was mended.
    let hash = bytes.withUnsafeBytes { FNV1a.hash(words: $0.bytes) }
    return String(hash, radix: 16) + (ProcessInfo.processInfo.environment["CALLSIM_PLANT"].map { " " + $0 } ?? "")
  }

  private var options: Campaign.Options {
    get throws {
      var options = Campaign.Options(
        executable: WorkerCommand.executable, workerArguments: [WorkerCommand.name])
      options.jobs = jobs.count
      options.reductionLimit = shrink
      options.shard = try shard.map(RunCommand.parseShard)
      options.failFast = failFast
      options.wall = try wall.map { try ReplayCommand.time($0, of: "--wall") - .zero }
      return options
    }
  }

  private static func status(of outcome: Campaign.Outcome) -> ExitStatus {
    if outcome.isInterrupted { return .interrupted }
    if outcome.failure != nil { return .inconclusive }
    if !outcome.found.isEmpty || outcome.regressions.contains(where: \.fails) { return .broken }
    if !outcome.progress.problems.isEmpty { return .inconclusive }
    return outcome.progress.effectiveCount == 0 ? .vacuous : .pass
  }
}
