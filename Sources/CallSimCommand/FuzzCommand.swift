import ArgumentParser
import CallCore
import Formats
import Foundation
import Profiles
import ScenarioFormat
import ScenarioSearch
import ScenarioSuite

struct FuzzCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fuzz", abstract: "Vary scenarios by hostile and unlucky moves until an invariant breaks.",
    discussion: """
      Each scenario is a base: moves are added to its timeline, and the invariants judge the run; its expectations do \
      not. What breaks one is reduced to a small scenario file. The same files, seed and number of runs find the same. \
      Exit codes: 0 nothing was found, 2 bad usage, 3 bad scenario, 4 inconclusive (harness error), 5 something was \
      found, 7 nothing ran, 130 interrupted.
      """)

  @OptionGroup var scenarios: ScenarioArguments

  @OptionGroup var campaign: CampaignArguments

  @Flag(help: "Try every single move once: each message, fault and action in each state.")
  var exhaustive = false

  @Option(help: ArgumentHelp("Make only moves of these kinds.", valueName: "kind,…"))
  var moves: [String] = []

  func run() throws {
    let kinds = try Self.kinds(moves)
    try campaign.run(scenarios, kinds: kinds, isExhaustive: exhaustive, word: "fuzz")
  }

  private static func kinds(_ texts: [String]) throws -> [MoveKind] {
    let words = texts.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    let all = MoveKind.allCases.map(\.rawValue)
    for word in words where !all.contains(word) {
      let hint = Suggestion.hint(for: word, among: all) ?? "there are: \(all.joined(separator: ", "))"
      throw UsageProblem(message: "--moves names '\(word)', which is no kind of move; \(hint)")
    }
    return words.isEmpty ? MoveKind.allCases : MoveKind.allCases.filter { words.contains($0.rawValue) }
  }
}

struct ExploreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explore", abstract: "Play scenarios under random faults of networks, servers and devices.",
    discussion: """
      Faults come and go while the timeline plays, and nothing unsafe may happen. Then everything heals, and every call \
      must settle: connected, or over with codes that agree. It is '\(ProgramName.current) fuzz' with moves of the \
      environment alone, and has the same exit codes.
      """)

  @OptionGroup var scenarios: ScenarioArguments

  @OptionGroup var campaign: CampaignArguments

  func run() throws {
    try campaign.run(scenarios, kinds: MoveKind.environment, isExhaustive: false, word: "explore")
  }
}

/// The arguments of commands that search.
struct CampaignArguments: ParsableArguments {
  @Option(parsing: .unconditional, help: "How many runs.")
  var runs = 1_000

  @Option(help: ArgumentHelp("Begin nothing more after so long: 10min, 90s.", valueName: "90s"))
  var wall: String?

  @Option(
    help: ArgumentHelp(
      "Where findings and finished parts are kept; a search that was interrupted goes on there.", valueName: "folder"))
  var corpus = "callsim-corpus"

  @Option(parsing: .unconditional, help: "What is drawn.")
  var seed: UInt64 = 1

  @Option(parsing: .unconditional, help: ArgumentHelp("The largest number of moves in a run.", valueName: "n"))
  var most = 6

  @Option(
    name: [.customShort("j", allowingJoined: true), .long], parsing: .unconditional,
    help: "Runs at the same time. (default: the number of processors)")
  var jobs: Int?

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
    guard (1...100).contains(most) else {
      throw UsageProblem(message: "--most takes a count from 1 to 100, not \(most)")
    }
    guard (0...100_000).contains(shrink) else {
      throw UsageProblem(message: "--shrink takes a count from 0 to 100000, not \(shrink)")
    }
    if let jobs, !(1...1024).contains(jobs) {
      throw UsageProblem(message: "--jobs takes a count from 1 to 1024, not \(jobs)")
    }
    guard !corpus.isEmpty else { throw UsageProblem(message: "--corpus takes a folder") }
    let collection = try scenarios.load()
    try collection.requireValid()
    let plan = CampaignPlan(
      files: collection.files, method: isExhaustive ? .exhaustive : .drawn(runs: runs), seed: seed, kinds: kinds,
      most: most, profiles: CallSimProgram.profiles, overrides: try scenarios.parsedOverrides(),
      program: try Self.program())
    guard plan.runCount > 0 else {
      Output.error("error: nothing to run; no scenario here has a peer on which these moves act\n")
      throw ExitStatus.vacuous.code
    }
    let campaign = Campaign(plan: plan, options: try options, store: CampaignStore(root: corpus))
    let view = CampaignView(word: word, isExhaustive: isExhaustive)
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

  /// Returns the hash of this program, and the defect that is planted in it, if any.
  private static func program() throws -> String {
    let path = Bundle.main.executablePath ?? CommandLine.arguments[0]
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    // A sample of the bytes tells builds apart: addresses in all of a program move when any of it changes.
    for index in stride(from: 0, to: bytes.count, by: 509) {
      hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3
    }
    hash ^= UInt64(bytes.count)
    return String(hash, radix: 16) + (ProcessInfo.processInfo.environment["CALLSIM_PLANT"].map { " " + $0 } ?? "")
  }

  private var options: Campaign.Options {
    get throws {
      var options = Campaign.Options(
        executable: Bundle.main.executablePath ?? CommandLine.arguments[0], workerArguments: [WorkerCommand.name])
      options.jobs = jobs ?? ProcessInfo.processInfo.activeProcessorCount
      options.reductionLimit = shrink
      options.shard = try shard.map(RunCommand.parseShard)
      options.wall = try wall.map { try ReplayCommand.time($0, of: "--wall") - .zero }
      return options
    }
  }

  private static func status(of outcome: Campaign.Outcome) -> ExitStatus {
    if outcome.isInterrupted { return .interrupted }
    if outcome.failure != nil { return .inconclusive }
    if !outcome.found.isEmpty { return .broken }
    if !outcome.progress.problems.isEmpty { return .inconclusive }
    return outcome.progress.effectiveCount == 0 ? .vacuous : .pass
  }
}
