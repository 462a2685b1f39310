import ArgumentParser
import Foundation
import ScenarioSuite

/// The arguments of every command that plays a suite: the runs that are played, and how many at a time.
struct SelectionArguments: ParsableArguments {
  @Option(
    name: [.customShort("t", allowingJoined: true), .long],
    help: ArgumentHelp("Only scenarios with one of these tags.", valueName: "tag,…"),
    completion: .custom { _, _, _ in ScenarioCompletions.tags() })
  var tag: [String] = []

  @Option(
    name: .customShort("k", allowingJoined: true),
    help: ArgumentHelp(
      "Only cells whose id, or scenarios whose title, contains this, or one of several.", valueName: "text"))
  var text: [String] = []

  @Option(
    help: ArgumentHelp(
      "Only cells of the matrix with these values: of each variable any, of different ones all.",
      valueName: "var=value,…"))
  var cell: [String] = []

  @Option(parsing: .unconditional, help: "Run with this seed alone.")
  var seed: UInt64?

  @Option(parsing: .unconditional, help: "Run with the seeds 1 to this.")
  var seeds: Int?

  @OptionGroup var jobs: JobsArguments

  /// Returns the selection, without the overrides of the scenarios.
  func selection() throws -> SuiteSelection {
    var selection = SuiteSelection()
    // Commas separate tags, because a tag cannot contain one.
    selection.tags = tag.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    selection.texts = text
    selection.cell = try cell.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
      .map { try Assignment.parse(String($0), option: "--cell") }
    guard seed == nil || seeds == nil else {
      throw UsageProblem(message: "--seed and --seeds exclude each other; choose one")
    }
    if let seeds, !(1...1_000_000).contains(seeds) {
      throw UsageProblem(message: "--seeds takes a count from 1 to 1000000, not \(seeds)")
    }
    try jobs.check()
    selection.seed = seed
    selection.seedCount = seeds
    return selection
  }

  /// The options that choose cells, for display.
  var words: [String] { tag.map { "--tag \($0)" } + text.map { "-k \($0)" } + cell.map { "--cell \($0)" } }

  /// The options that choose seeds, for display.
  var seedWords: [String] { (seed.map { ["--seed \($0)"] } ?? []) + (seeds.map { ["--seeds \($0)"] } ?? []) }
}
