import ArgumentParser
import ScenarioFormat
import ScenarioSearch

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

  @Flag(help: "Try the table of moves: each message, fault and action in each state, and pairs of actions.")
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
