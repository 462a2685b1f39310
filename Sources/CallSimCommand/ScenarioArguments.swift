import ArgumentParser
import Profiles
import ScenarioFormat
import ScenarioRun
import ScenarioSuite

/// The arguments of every command that reads scenarios.
struct ScenarioArguments: ParsableArguments {
  @Argument(help: "Scenario files, or folders to search for *.yaml. (default: scenarios)")
  var paths: [String] = []

  @Option(
    name: .customLong("set"), help: ArgumentHelp("Stands in for a value of vars or matrix.", valueName: "key=value"))
  var overrides: [String] = []

  @Option(
    name: .customLong("peer"),
    help: ArgumentHelp("A program takes the place of a peer's stack.", valueName: "name=external:command"))
  var programs: [String] = []

  func parsedOverrides() throws -> [ScenarioOverride] {
    try Assignment.parse(overrides, programs: programs)
  }

  /// Finds and reads the files.
  ///
  /// - Parameter arms: The arms and measures of options.
  func load(_ arms: [ScenarioOverride] = []) throws -> ScenarioCollection {
    let files = try Self.find(paths)
    let overrides = try parsedOverrides() + arms
    let collection = ScenarioCollection(
      paths: files, registry: CallSimProgram.profiles.registry, overrides: overrides)
    try collection.requireTargets(of: overrides)
    return collection
  }

  static func find(_ paths: [String]) throws -> [String] {
    do {
      return try ScenarioFinder.files(at: paths)
    } catch { throw UsageProblem(message: "\(error)") }
  }
}

extension ScenarioCollection {
  /// Whether errors prevent a run of the files.
  var isRefused: Bool { errorCount > 0 || !clashes.isEmpty }

  /// The errors, for reports.
  var problems: [FileProblem] {
    reports.flatMap(\.errors) + clashes.map { FileProblem(path: $0.paths[0], message: Self.text($0)) }
  }

  /// Prints the warnings of files.
  ///
  /// - Parameter paths: The paths of the files that are run.
  func showWarnings(of paths: Set<String>) {
    let style = Output.style(for: 2)
    for report in reports where report.sources.files.first.map({ paths.contains($0.path) }) ?? true {
      Output.error(report.rendered(as: .text(color: style.isColored)))
    }
  }

  /// Prints the errors of the files, and ends the command if they prevent a run.
  func requireValid() throws {
    let style = Output.style(for: 2)
    for report in reports where report.diagnostics.contains(where: { $0.code.severity == .error }) {
      Output.error(report.rendered(as: .text(color: style.isColored)))
    }
    for clash in clashes { Output.error("error: " + Self.text(clash) + "\n") }
    guard isRefused else { return }
    var summary = SuiteSummary()
    summary.problems = problems.count
    Output.error("error: \(summary.line). '\(ProgramName.current) validate' shows warnings too.\n")
    throw ExitStatus.badScenario.code
  }

  /// Checks that every program replaces a peer of each file, and that every value sets a variable of some file:
  /// otherwise a file would run unchanged without notice.
  ///
  /// - Parameter file: The only file to check; nil for all.
  func requireTargets(of overrides: [ScenarioOverride], in file: ScenarioFile? = nil) throws {
    let files = file.map { [$0] } ?? self.files
    let known = Set(files.flatMap(\.variables)).sorted()
    // With errors in files, the variable may be in one of those.
    for override in overrides where override.variable != nil && errorCount == 0 {
      guard !known.contains(override.name) else { continue }
      let hint =
        Suggestion.hint(for: override.name, among: known, noun: "there are")
        ?? (known.isEmpty ? "there are no variables" : "there are: \(known.joined(separator: ", "))")
      let which = files.count == 1 ? "is no variable of \(files[0].path)" : "is a variable of no file here"
      throw UsageProblem(message: "--set names '\(override.name)', which \(which); \(hint)")
    }
    for name in overrides.compactMap(\.replacedPeer) {
      for file in files {
        let peers = file.cells.first?.scenario.peers.map(\.name) ?? []
        guard !peers.contains(name) else { continue }
        let hint = Suggestion.hint(for: name, among: peers) ?? "it has: \(peers.joined(separator: ", "))"
        throw UsageProblem(message: "--peer names '\(name)', which is no peer of \(file.path); \(hint)")
      }
    }
  }

  static func text(_ clash: (id: String, paths: [String])) -> String {
    "the id '\(clash.id)' is used by \(clash.paths.joined(separator: " and ")); give each file an id of its own"
  }
}

enum Assignment {
  /// Parses every `--set` and `--peer`.
  static func parse(_ values: [String], programs: [String]) throws -> [ScenarioOverride] {
    let overrides = try values.map { try parse($0, option: "--set") } + programs.map(parseProgram)
    for (index, override) in overrides.enumerated()
    where overrides[..<index].contains(where: { $0.name == override.name }) {
      throw UsageProblem(message: "\(override.option) names '\(override.replacedPeer ?? override.name)' twice")
    }
    return overrides
  }

  /// Parses `name=value`.
  static func parse(_ text: String, option: String) throws -> ScenarioOverride {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw UsageProblem(message: "\(option) takes name=value, not '\(text)'; write \(option) 'loss=10%'")
    }
    return ScenarioOverride(name: String(text[..<equals]), value: String(text[text.index(after: equals)...]))
  }

  /// Parses `alice=external:command`.
  static func parseProgram(_ text: String) throws -> ScenarioOverride {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    if parts.count == 2, ProgramOverride.hasOpenQuote(parts[1]) {
      throw UsageProblem(message: "a quote is not closed in --peer '\(text)'")
    }
    guard parts.count == 2, let override = ProgramOverride.override(peer: parts[0], value: parts[1]) else {
      throw UsageProblem(
        message: "--peer takes name=external:command, such as 'alice=external:interop/peer chromium', not '\(text)'")
    }
    return override
  }
}
