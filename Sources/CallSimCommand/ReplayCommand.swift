import ArgumentParser
import CallCore
import Formats
import Foundation
import Profiles
import ScenarioFormat
import ScenarioJudge
import ScenarioRun
import ScenarioSuite

struct ReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay", abstract: "Play one run again and print its events.",
    discussion: """
      For example: \(ProgramName.current) replay 'nat/cgnat[turn=tcp]#7' --until 12.3s --trace ice,dtls. \
      The same file and seed play the same run. Exit codes are those of '\(ProgramName.current) run'.
      """)

  @Argument(
    help: "A run as reports name it, id[var=value,…]#seed, or the folder of a run, which holds the scenario as it was.",
    completion: .custom { _, _, _ in ScenarioCompletions.runs() })
  var target: String

  @Argument(help: "Where to look for the scenario. (default: scenarios)")
  var paths: [String] = []

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Print nothing earlier than this virtual time.", valueName: "12.3s"))
  var from: String?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Print nothing later than this virtual time.", valueName: "12.3s"))
  var until: String?

  @Option(
    parsing: .unconditionalSingleValue,
    help: ArgumentHelp(
      "Print only events of these kinds, or about these subjects; -packet leaves out what packet prints.",
      valueName: "ice,dtls,…"))
  var trace: [String] = []

  @Option(
    name: .customLong("set"), help: ArgumentHelp("Stands in for a value of vars or matrix.", valueName: "key=value"))
  var overrides: [String] = []

  @Option(
    name: .customLong("peer"),
    help: ArgumentHelp("A program takes the place of a peer's stack.", valueName: "name=external:command"))
  var programs: [String] = []

  @OptionGroup var arms: ArmArguments

  @OptionGroup var allowed: ProgramArguments

  func run() throws {
    let overrides = try Assignment.parse(overrides, programs: programs) + arms.overrides()
    let (first, last) = (try from.map { try Self.time($0, of: "--from") }, try until.map { try Self.time($0) })
    if let first, let last, first > last {
      throw UsageProblem(message: "--from \(from ?? "") comes after --until \(until ?? ""), so that nothing is printed")
    }
    let play = try RunTarget(target, paths, overrides, command: "replay")
    try allowed.check([(play.path, play.cell)], overrides: play.overrides)
    let topics = trace.flatMap { $0.split(separator: ",").map(String.init) }
    var outputs = RunOutputs()
    let timeline = TraceTimeline(topics: topics, from: first, until: last, write: { Output.append($0) })
    outputs.observers = [timeline]
    let run = SingleRun(cell: play.cell, seed: play.seed, path: play.path, profiles: CallSimProgram.profiles)
    let result = try run.execute(outputs: outputs)
    if result.verdict != .skipped { try checkTopics(timeline) }
    var command = ReplayCommandLine(runID: result.id, path: play.path, overrides: play.overrides)
    command.hasPrograms = !play.cell.programs(besides: play.overrides).isEmpty
    let reported = ReportedRun(result: result, replay: command.text)
    let style = Output.style(for: 1)
    if result.verdict == .pass {
      Output.text("\(style.paint("PASS", .success)) \(TextStyle.printable(result.id))\n")
    } else {
      Output.text(FailureText(reported, style: style).text)
    }
    for line in play.cell.partOfAllSeeds(result) {
      Output.text("judged over all seeds: \(TextStyle.printable(line))\n")
    }
    throw ExitStatus(result.verdict).code
  }

  /// Checks the topics of `--trace`; the kinds are known only after the run.
  private func checkTopics(_ timeline: TraceTimeline) throws {
    let reference = ScenarioReference(registry: CallSimProgram.profiles.registry)
    for topic in timeline.unknownTopics {
      let what = "--trace: nothing in this run is called '\(topic)'"
      // A known topic without events in this run is a valid result.
      guard reference.explain(topic) == nil else {
        Output.error("note: \(what)\n")
        continue
      }
      let hint =
        Suggestion.hint(for: topic, among: timeline.names)
        ?? "there are: \(timeline.families.joined(separator: ", "))"
      throw UsageProblem(message: "\(what); \(hint)")
    }
  }

  /// Parses a virtual time, such as `12.3s`, `250ms` or `2min`.
  static func time(_ text: String, of option: String = "--until") throws -> Instant {
    let units: [(String, Double)] = [("ms", 1e6), ("us", 1e3), ("ns", 1), ("min", 60e9), ("s", 1e9)]
    for (unit, scale) in units where text.hasSuffix(unit) {
      guard let number = Double(text.dropLast(unit.count)), number >= 0, number * scale < 9e18 else { break }
      return Instant(nanoseconds: Int64((number * scale).rounded()))
    }
    throw UsageProblem(message: "\(option) takes a time such as 12.3s or 250ms, not '\(text)'")
  }
}
