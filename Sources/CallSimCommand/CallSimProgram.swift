import ArgumentParser
@_exported public import CallSim
import Foundation
import ScenarioFormat

/// A program with the commands of callsim (`run`, `validate`, `explain`, `replay` and so on) for other profiles.
///
/// This is the whole program:
///
/// ```swift
/// import CallSimCommand
///
/// @main enum Walkie {
///   static func main() { CallSimProgram.run(profiles: [Profile(app: WalkieApp.self, server: WalkieServer.self)]) }
/// }
/// ```
public enum CallSimProgram {
  /// The profiles that scenarios may name. Set once, before a command is created.
  nonisolated(unsafe) private(set) static var profiles = ProfileCatalogue.builtIn

  /// Runs the command in the process's arguments and ends the process.
  ///
  /// `run` starts this executable again for its workers, so code before this call runs in every worker. Messages use
  /// the executable's name.
  ///
  /// - Parameter profiles: The profiles that scenarios may name. An invalid one is reported with its location in the
  ///   declaration, and the exit status is that of bad usage.
  public static func run(profiles: [Profile]) -> Never {
    Output.openStandardDescriptors()
    if let path = CommandLine.arguments.first, let name = path.split(separator: "/").last {
      ProgramName.current = String(name)
    }
    do throws(UnfitProfile) {
      self.profiles = try ProfileCatalogue(profiles)
    } catch {
      Output.error("error: \(error)\n")
      Output.exit(ExitStatus.badUsage.rawValue)
    }
    runCommand()
  }

  private static func runCommand() -> Never {
    do {
      #if PLANTED_DEFECTS
        try PlantedDefect.plant()
      #endif
      var command = try RootCommand.parseAsRoot()
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
      let code = RootCommand.exitCode(for: error)
      let text = withCommand(withoutFarSuggestion(RootCommand.fullMessage(for: error)))
      if code.isSuccess {
        Output.text(text + "\n")
        Output.exit(0)
      }
      Output.error(text + "\n")
      Output.exit(code == .validationFailure ? ExitStatus.badUsage.rawValue : ExitStatus.inconclusive.rawValue)
    }
  }
}

/// Removes a far-fetched suggestion: the parser suggests any option that shares a letter or two, such as `--set` for
/// `--tag`.
private func withoutFarSuggestion(_ text: String) -> String {
  guard let match = text.firstMatch(of: /Unknown option '--([^']*)'(\. Did you mean '--([^']*)'\?)/) else {
    return text
  }
  let hint = Suggestion.hint(for: String(match.1), among: [String(match.3)])
  return hint?.hasPrefix("did you mean") == true ? text : text.replacing(match.2, with: "", maxReplacements: 1)
}

/// Adds a suggestion for a misspelt command, which the parser lacks.
private func withCommand(_ text: String) -> String {
  guard let match = text.firstMatch(of: /Unexpected argument '([^']*)'/),
    CommandLine.arguments.dropFirst().first == String(match.1)
  else { return text }
  let names = RootCommand.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    .compactMap { $0.configuration.commandName }
  guard let hint = Suggestion.hint(for: String(match.1), among: names) else { return text }
  return text.replacing(match.0, with: "\(match.0); \(hint)", maxReplacements: 1)
}
