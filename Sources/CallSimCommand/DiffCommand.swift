import ArgumentParser
import Profiles
import ScenarioFormat
import ScenarioSuite

struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Play two runs and print the first event in which they differ.",
    discussion: """
      For example: \(ProgramName.current) diff 'nat/cgnat[turn=tcp]#7' 'nat/cgnat[turn=udp]#7'. Only events of the \
      world count, as for the hash of a run. Exit codes: 0 equal, 1 different, 2 bad usage, 3 bad scenario.
      """)

  @Argument(
    help: "A run as reports name it, id[var=value,…]#seed, or the folder of a run.",
    completion: .custom { _, _, _ in ScenarioCompletions.runs() })
  var first: String

  @Argument(help: "Another run.", completion: .custom { _, _, _ in ScenarioCompletions.runs() })
  var second: String

  @Argument(help: "Where to look for the scenarios of runs that are no folders. (default: scenarios)")
  var paths: [String] = []

  @Option(
    name: .customLong("set"),
    help: ArgumentHelp("Stands in for a value of vars or matrix, in both runs.", valueName: "key=value"))
  var overrides: [String] = []

  func run() throws {
    let overrides = try Assignment.parse(overrides, programs: [])
    let targets = try [first, second].map { name in
      let folder = name.hasSuffix("/") ? String(name.dropLast()) : name
      let target = try RunTarget(name, SavedRun.isRecorded(in: folder) ? [] : paths, overrides, command: "diff")
      guard !target.cell.scenario.isRealTime else {
        throw UsageProblem(
          message: "\(TextStyle.printable(name)) has programs outside the simulation: no two plays of it are equal, so "
            + "there is nothing to compare")
      }
      return target
    }
    let members = zip([first, second], targets).map { name, target in
      RunPair.Member(name: name, path: target.path, cell: target.cell, seed: target.seed)
    }
    let pair = RunPair(members[0], members[1])
    let outcome = try pair.play(CallSimProgram.profiles)
    Output.text(DivergenceText(pair, outcome, style: Output.style(for: 1)).text)
    throw (outcome.isEqual ? ExitStatus.pass : .expectationFailed).code
  }
}
