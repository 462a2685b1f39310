import ArgumentParser
import Formats
import Profiles
import ScenarioFormat
import ScenarioRun

struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Print the JSON Schema of scenario files, for editors.",
    discussion: """
      \(ProgramName.current) schema > callsim-scenario.v1.schema.json, and begin a scenario with the line \
      '# yaml-language-server: $schema=callsim-scenario.v1.schema.json'.
      """)

  @Flag(name: .customLong("use"), help: "The schema of files with named networks and peers, which scenarios use.")
  var isShared = false

  func run() {
    let schema = ScenarioSchema.json(registry: CallSimProgram.profiles.registry, isShared: isShared)
    Output.text(schema.prettyText + "\n")
  }
}
