import ArgumentParser
@_exported public import CallSim
import Foundation
import ScenarioFormat

/// A program with the commands of callsim (`run`, `validate`, `explain`, `replay` and so on) for profiles of one's own.
///
/// This is all of it:
///
/// ```swift
/// import CallSimCommand
///
/// @main enum Walkie {
///   static func main() { CallSimProgram.run(profiles: [Profile(app: WalkieApp.self, server: WalkieServer.self)]) }
/// }
/// ```
public enum CallSimProgram {
  /// What scenarios may name. It is set once, before a command is made.
  nonisolated(unsafe) private(set) static var profiles = ProfileCatalogue.builtIn

  /// Does what the arguments of the process say and ends the process.
  ///
  /// `run` starts this executable again for its workers, so nothing else may come before this call that a worker should
  /// not do. In messages the program has the executable's name.
  ///
  /// - Parameter profiles: what scenarios may name. One that does not fit is told with the place in its declaration, and
  ///   the exit status is that of bad usage.
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
  let names = RootCommand.configuration.subcommands.filter { $0.configuration.shouldDisplay }
    .compactMap { $0.configuration.commandName }
  guard let hint = Suggestion.hint(for: String(match.1), among: names) else { return text }
  return text.replacing(match.0, with: "\(match.0); \(hint)", maxReplacements: 1)
}
