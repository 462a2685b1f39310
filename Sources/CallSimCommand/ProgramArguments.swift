import ArgumentParser
import Formats
import Foundation
import ScenarioFormat
import ScenarioRun
import ScenarioSuite

/// The options of a command about programs that scenario files name.
struct ProgramArguments: ParsableArguments {
  @Flag(help: "Let scenario files start the programs they name, with all that you may do.")
  var allowPrograms = false

  @Option(
    name: .customLong("pass-env"),
    help: ArgumentHelp("Give programs this variable of the environment.", valueName: "name"))
  var passed: [String] = []

  /// Checks that the user permits the programs of scenario files: such a file is code.
  ///
  /// Programs of `--peer` need no permission, because the user named them.
  func check(_ cells: [(path: String, cell: Cell)], overrides: [ScenarioOverride]) throws {
    for name in passed where name.isEmpty || name.contains(where: { "=,".contains($0) }) {
      throw UsageProblem(message: "--pass-env takes the name of a variable, not '\(name)'")
    }
    for name in passed where ProcessInfo.processInfo.environment[name] == nil {
      Output.error("note: --pass-env \(name): the environment has no such variable\n")
    }
    ExternalPrograms.pass(passed)
    guard !allowPrograms else { return }
    for (path, cell) in cells {
      guard let program = cell.programs(besides: overrides).first else { continue }
      throw UsageProblem(
        message: "\(TextStyle.printable(path)) starts a program as the peer '\(program.peer)': "
          + TextStyle.printable(program.command.map(ShellWord.quoted).joined(separator: " "))
          + "; it may do all that you may, so allow it with --allow-programs if you trust the file")
    }
  }
}
