import ArgumentParser
import Formats
import Foundation
import ScenarioFormat
import ScenarioSuite

/// The command line: parses arguments, calls Scenarios, prints.
struct CallSim: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "callsim",
    abstract: "A flight simulator for call apps: scripted calls over simulated networks, in virtual time.",
    discussion: """
      Start with 'callsim run' in a folder that has scenarios/. What anything in a scenario means, \
      'callsim explain <name>' tells.
      """,
    version: "callsim " + RunEnvironment.current.versionText,
    subcommands: [
      RunCommand.self, ValidateCommand.self, ListCommand.self, ExplainCommand.self, ReplayCommand.self,
      OpenCommand.self, SchemaCommand.self, DoctorCommand.self, LiveCommand.self, TURNCommand.self,
      WorkerCommand.self,
    ])
}

@main
enum Main {
  static func main() {
    Output.openStandardDescriptors()
    do {
      var command = try CallSim.parseAsRoot()
      try RepeatedOptions.check(Array(CommandLine.arguments.dropFirst()), of: type(of: command))
      try command.run()
      Output.exit(0)
    } catch let problem as UsageProblem {
      Output.error("error: \(problem.message)\n")
      Output.exit(ExitStatus.badUsage.rawValue)
    } catch let status as ExitCode {
      Output.exit(status.rawValue)
    } catch let error as FileError {
      Output.error("error: \(error)\n")
      Output.exit(ExitStatus.inconclusive.rawValue)
    } catch {
      let code = CallSim.exitCode(for: error)
      let text = withCommand(withoutFarSuggestion(CallSim.fullMessage(for: error)))
      if code.isSuccess {
        Output.text(text + "\n")
        Output.exit(0)
      }
      Output.error(text + "\n")
      Output.exit(code == .validationFailure ? ExitStatus.badUsage.rawValue : ExitStatus.inconclusive.rawValue)
    }
  }
}

/// The parser suggests any option that shares a letter or two: `--set` for `--tag`.
private func withoutFarSuggestion(_ text: String) -> String {
  guard let match = text.firstMatch(of: /Unknown option '--([^']*)'(\. Did you mean '--([^']*)'\?)/) else {
    return text
  }
  let hint = Suggestion.hint(for: String(match.1), among: [String(match.3)])
  return hint?.hasPrefix("did you mean") == true ? text : text.replacing(match.2, with: "", maxReplacements: 1)
}

/// The parser suggests no command for one that is misspelt.
private func withCommand(_ text: String) -> String {
  guard let match = text.firstMatch(of: /Unexpected argument '([^']*)'/),
    CommandLine.arguments.dropFirst().first == String(match.1)
  else { return text }
  let names = CallSim.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    .compactMap { $0.configuration.commandName }
  guard let hint = Suggestion.hint(for: String(match.1), among: names) else { return text }
  return text.replacing(match.0, with: "\(match.0); \(hint)", maxReplacements: 1)
}

/// Arguments that parse and still cannot be meant. The message says what to do instead.
struct UsageProblem: Error {
  let message: String
}

extension ExitStatus {
  /// Ends the command.
  var code: ExitCode { ExitCode(rawValue) }
}
