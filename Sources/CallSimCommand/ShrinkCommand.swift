import ArgumentParser
import Formats
import Foundation
import Profiles
import ScenarioFormat
import ScenarioSuite

struct ShrinkCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shrink", abstract: "Reduce a failing run to a small scenario file that fails alike.",
    discussion: """
      For example: \(ProgramName.current) shrink 'nat/cgnat[turn=tcp]#7' -o small.yaml. Exit codes: 0 the file was \
      written, 2 bad usage, 4 the run fails no more when it is played from a file of its own, 7 the run does not fail.
      """)

  @Argument(
    help: "A run as reports name it, id[var=value,…]#seed, or the folder of a run.",
    completion: .custom { _, _, _ in ScenarioCompletions.runs() })
  var target: String

  @Argument(help: "Where to look for the scenario. (default: scenarios)")
  var paths: [String] = []

  @Option(name: .shortAndLong, help: ArgumentHelp("The file to write; - is standard output.", valueName: "FILE"))
  var output = "-"

  @Option(parsing: .unconditional, help: ArgumentHelp("How many runs it may take.", valueName: "n"))
  var runs = 500

  @Option(
    name: .customLong("set"), help: ArgumentHelp("Stands in for a value of vars or matrix.", valueName: "key=value"))
  var overrides: [String] = []

  func run() throws {
    guard (1...100_000).contains(runs) else {
      throw UsageProblem(message: "--runs takes a count from 1 to 100000, not \(runs)")
    }
    let overrides = try Assignment.parse(overrides, programs: [])
    let run = try RunTarget(target, paths, overrides, command: "shrink")
    guard !run.cell.scenario.isRealTime else {
      throw UsageProblem(
        message: "\(target) has programs, and a run in real time is not the same twice; shrink takes others")
    }
    var options = Campaign.Options(
      executable: WorkerCommand.executable, workerArguments: [WorkerCommand.name])
    options.reductionLimit = runs
    let reduction = RunReduction(
      cell: run.cell, seed: run.seed, options: options, profiles: CallSimProgram.profiles)
    let outcome = try reduction.run()
    guard !outcome.isInterrupted else { throw ExitStatus.interrupted.code }
    guard let title = outcome.title else {
      Output.error("error: \(target) does not fail, so there is nothing to reduce\n")
      throw ExitStatus.vacuous.code
    }
    guard let text = outcome.text else {
      Output.error("error: '\(title)' fails no more when the run is played from a file of its own\n")
      throw ExitStatus.inconclusive.code
    }
    try write(text)
    let (before, after) = outcome.entryCounts
    Output.error(
      "\(after) of \(before) entries are left after \(outcome.runCount) runs: \(TextStyle.printable(title))\n")
  }

  private func write(_ text: String) throws {
    guard output != "-" else { return Output.text(text) }
    do {
      try text.write(toFile: output, atomically: true, encoding: .utf8)
    } catch {
      throw FileError(path: output, reason: error.localizedDescription)
    }
  }
}
