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

  @OptionGroup var allowed: ProgramArguments

  func run() throws {
    let overrides = try Assignment.parse(overrides, programs: programs)
    let (first, last) = (try from.map { try Self.time($0, of: "--from") }, try until.map { try Self.time($0) })
    if let first, let last, first > last {
      throw UsageProblem(message: "--from \(from ?? "") comes after --until \(until ?? ""), so that nothing is printed")
    }
    let play = try play(overrides)
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

  /// The run to play.
  private struct Play {
    var path: String
    var cell: Cell
    var seed: UInt64
    var overrides: [ScenarioOverride]
  }

  /// Resolves the target: a run's folder holds the scenario of that time; a name refers to the current files.
  private func play(_ overrides: [ScenarioOverride]) throws -> Play {
    let folder = target.hasSuffix("/") ? String(target.dropLast()) : target
    if paths.isEmpty, let saved = SavedRun(folder: folder) { return try play(saved, overrides) }
    let (name, paths) = try resolveTarget(folder)
    let collection = ScenarioCollection(
      paths: try ScenarioArguments.find(paths), registry: CallSimProgram.profiles.registry, overrides: overrides)
    let (file, cell) = try find(name, in: collection)
    try collection.requireTargets(of: overrides, in: file)
    return Play(path: file.path, cell: cell, seed: name.seed ?? file.seeds.all.first ?? 1, overrides: overrides)
  }

  private func play(_ saved: SavedRun, _ changes: [ScenarioOverride]) throws -> Play {
    let job = saved.job
    let overrides = job.overrides.filter { old in !changes.contains { $0.name == old.name } } + changes
    let loaded = ScenarioFile.load(
      source: job.source, registry: CallSimProgram.profiles.registry,
      overrides: overrides.map { (name: $0.name, value: $0.value) })
    guard let file = loaded.scenario else {
      Output.error(loaded.report.rendered(as: .text(color: Output.style(for: 2).isColored)))
      throw UsageProblem(
        message: "the scenario in \(target) is of another version of callsim; name the run itself: id#seed")
    }
    guard let cell = file.cells.first(where: { $0.id == job.cellID }) ?? (changes.isEmpty ? nil : file.cells.first)
    else {
      throw UsageProblem(message: "\(target) has no cell '\(job.cellID)'")
    }
    for path in saved.changedPaths {
      Output.error(
        "note: \(TextStyle.printable(path)) is not what it was; this plays the run as it was, "
          + "and \(ProgramName.current) replay \(ShellWord.quoted(job.runID)) plays the file as it is\n")
    }
    for path in saved.missingPaths {
      Output.error("note: \(TextStyle.printable(path)) is not found from here; this plays the run as it was\n")
    }
    return Play(path: file.path, cell: cell, seed: job.seed, overrides: overrides)
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

  /// Resolves a target; a run folder records the run that it belongs to.
  private func resolveTarget(_ folder: String) throws -> (RunName, [String]) {
    let files = FileManager.default
    let data = files.contents(atPath: folder + "/result.json")
    let result = data.flatMap { RunResult(fileContents: Array($0)) }
    // A damaged record does not tell how the run was played.
    if paths.isEmpty, SavedRun.isRecorded(in: folder) {
      throw UsageProblem(message: unreadable("run.json", in: folder, id: result?.id))
    }
    if data != nil {
      guard let result else { throw UsageProblem(message: unreadable("result.json", in: folder, id: nil)) }
      return (RunName(result.id), paths.isEmpty ? [result.path] : paths)
    }
    let isScenario = [".yaml", ".yml"].contains { target.hasSuffix($0) }
    if isScenario || (paths.isEmpty && !files.fileExists(atPath: ScenarioFinder.defaultPath)) {
      throw UsageProblem(message: wrongTarget(isScenario: isScenario))
    }
    return (RunName(target), paths)
  }

  private func unreadable(_ name: String, in folder: String, id: String?) -> String {
    let remedy = id.map { "\(ProgramName.current) replay \(ShellWord.quoted($0)) plays the file as it is" }
    return "\(folder)/\(name) is damaged, or of another version of callsim; "
      + (remedy ?? "name the run itself: id#seed")
  }

  /// Returns a message with the expected form of a run, for the named file if possible.
  private func wrongTarget(isScenario: Bool) -> String {
    var message = "replay takes a run, such as hello#1, or the folder of one; "
    guard isScenario else {
      return message + "'\(target)' is no folder of a run, and there is no folder 'scenarios' here to look for its "
        + "scenario in: name the file behind it"
    }
    guard FileManager.default.fileExists(atPath: target) else { return message + "'\(target)' does not exist" }
    message += "'\(target)' is a file"
    let collection = ScenarioCollection(paths: [target], registry: CallSimProgram.profiles.registry, overrides: [])
    guard let file = collection.files.first, let cell = file.cells.first else { return message }
    let run = ReplayCommandLine(
      runID: cell.runID(seed: file.seeds.all.first ?? 1), path: file.path, overrides: [])
    return message + ": \(run.text)"
  }

  private func find(_ name: RunName, in collection: ScenarioCollection) throws -> (ScenarioFile, Cell) {
    // A matrix value may contain a #, before the bracket.
    if name.seed == nil, !name.cellID.hasSuffix("]"), let hash = name.cellID.lastIndex(of: "#") {
      let (cell, seed) = (name.cellID[..<hash], name.cellID[name.cellID.index(after: hash)...])
      throw UsageProblem(message: "'\(seed)' is no seed; a run is named id#seed with a number, such as '\(cell)#1'")
    }
    // The id may contain a matrix variable, and so differ between cells.
    for file in collection.files {
      if let cell = file.cells.first(where: { $0.id == name.cellID }) { return (file, cell) }
    }
    guard let file = collection.files.first(where: { $0.id == name.scenarioID }) else {
      // A file with errors has no id, so it may be the one with this id.
      try collection.requireValid()
      let hint =
        Suggestion.hint(for: name.scenarioID, among: collection.files.map(\.id))
        ?? "'\(ProgramName.current) list' shows them all"
      throw UsageProblem(message: "no scenario is called '\(name.scenarioID)'; \(hint)")
    }
    let cells = file.cells.map(\.id)
    let hint = Suggestion.hint(for: name.cellID, among: cells) ?? "'\(ProgramName.current) list' shows them all"
    throw UsageProblem(message: "\(file.path) has no cell '\(name.cellID)'; \(hint)")
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
