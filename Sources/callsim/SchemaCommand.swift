import ArgumentParser
import Profiles
import Scenarios
import VirtualPeer

struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Print the JSON Schema of scenario files, for editors.",
    discussion: """
      callsim schema > callsim-scenario.v1.schema.json, and begin a scenario with the line \
      '# yaml-language-server: $schema=callsim-scenario.v1.schema.json'.
      """)

  func run() { Output.text(ScenarioSchema.json(registry: ProfileCatalogue.builtIn.registry).prettyText + "\n") }
}
