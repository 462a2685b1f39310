import Formats
import Foundation
import Profiles
import ScenarioFormat
import ScenarioRun
import ScenarioSuite

/// A run that the user named: `id[var=value,…]#seed`, or the folder of a run.
struct RunTarget {
  let path: String
  let cell: Cell
  let seed: UInt64
  let overrides: [ScenarioOverride]

  fileprivate init(path: String, cell: Cell, seed: UInt64, overrides: [ScenarioOverride]) {
    self.path = path
    self.cell = cell
    self.seed = seed
    self.overrides = overrides
  }

  /// Finds the run.
  ///
  /// - Parameters:
  ///   - paths: Where to look for the scenario; empty for the default, and for the folder of a run.
  ///   - command: The command's name, for messages.
  init(_ target: String, _ paths: [String], _ overrides: [ScenarioOverride], command: String) throws {
    self = try Search(target: target, paths: paths, command: command).resolve(overrides)
  }

  fileprivate struct Search {
    let target: String
    let paths: [String]
    let command: String
  }
}

extension RunTarget.Search {
  /// Resolves the target: a run's folder holds the scenario of that time; a name refers to the current files.
  fileprivate func resolve(_ overrides: [ScenarioOverride]) throws -> RunTarget {
    let folder = target.hasSuffix("/") ? String(target.dropLast()) : target
    if paths.isEmpty, let saved = SavedRun(folder: folder) { return try resolve(saved, overrides) }
    let (name, paths) = try resolveTarget(folder)
    let collection = ScenarioCollection(
      paths: try ScenarioArguments.find(paths), registry: CallSimProgram.profiles.registry, overrides: overrides)
    let (file, cell) = try find(name, in: collection)
    try collection.requireTargets(of: overrides, in: file)
    return RunTarget(path: file.path, cell: cell, seed: name.seed ?? file.seeds.all.first ?? 1, overrides: overrides)
  }

  private func resolve(_ saved: SavedRun, _ changes: [ScenarioOverride]) throws -> RunTarget {
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
    return RunTarget(path: file.path, cell: cell, seed: job.seed, overrides: overrides)
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
    var message = "\(command) takes \(command == "diff" ? "runs" : "a run"), such as hello#1, or the folder of one; "
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
    return message + (command == "replay" ? ": \(run.text)" : ", whose first run is \(ShellWord.quoted(run.runID))")
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
}
