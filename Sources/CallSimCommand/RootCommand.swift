import ArgumentParser
import ScenarioFormat
import ScenarioSuite

/// The command line: parses arguments, calls Scenarios, prints.
struct RootCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: ProgramName.current,
    abstract: "A flight simulator for call apps: scripted calls over simulated networks, in virtual time.",
    discussion: """
      Start with '\(ProgramName.current) run' in a folder that has scenarios/. What anything in a scenario means, \
      '\(ProgramName.current) explain <name>' tells.
      """,
    version: "callsim " + RunEnvironment.current.versionText,
    subcommands: commands)

  private static var commands: [any ParsableCommand.Type] {
    var commands: [any ParsableCommand.Type] = [
      RunCommand.self, ValidateCommand.self, ListCommand.self, ExplainCommand.self, ReplayCommand.self,
      DiffCommand.self, CompareCommand.self, CoverageCommand.self, OpenCommand.self, FuzzCommand.self,
      ExploreCommand.self,
      ShrinkCommand.self, MergeCommand.self, BisectCommand.self,
      SchemaCommand.self, DoctorCommand.self,
      LiveCommand.self, TURNCommand.self,
      WorkerCommand.self,
    ]
    #if PLANTED_DEFECTS
      commands.append(DefectsCommand.self)
    #endif
    return commands
  }
}

/// An error in valid arguments that cannot be used together, or have invalid values. The message contains a remedy.
struct UsageProblem: Error {
  let message: String
}

extension ExitStatus {
  /// The status as an error that ends the command.
  var code: ExitCode { ExitCode(rawValue) }
}
