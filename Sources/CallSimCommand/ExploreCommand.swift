import ArgumentParser
import ScenarioFormat
import ScenarioSearch

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
