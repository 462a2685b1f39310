import ArgumentParser
import Profiles
import Scenarios

/// What every command that reads scenarios takes.
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

  func parsedOverrides() throws -> [RunJob.Override] {
    try overrides.map { try Assignment.parse($0, option: "--set") } + programs.map(Assignment.parseProgram)
  }

  /// Finds and reads the files.
  func load() throws -> ScenarioCollection {
    let files = try Self.find(paths)
    let overrides = try parsedOverrides()
    let collection = ScenarioCollection(
      paths: files, registry: ProfileCatalogue.builtIn.registry, overrides: overrides)
    try collection.requirePeers(of: overrides)
    return collection
  }

  static func find(_ paths: [String]) throws -> [String] {
    do {
      return try ScenarioFinder.files(at: paths)
    } catch { throw UsageProblem(message: "\(error)") }
  }
}

extension ScenarioCollection {
  /// Prints what is wrong with the files and ends the command when a run of them would mean nothing.
  func requireValid() throws {
    let style = Output.style(for: 2)
    for report in reports where report.diagnostics.contains(where: { $0.code.severity == .error }) {
      Output.error(report.rendered(as: .text(color: style.isColored)))
    }
    for clash in clashes { Output.error("error: " + Self.text(clash) + "\n") }
    guard errorCount > 0 || !clashes.isEmpty else { return }
    if errorCount > 0 {
      Output.error("error: \(errorCount) problem\(errorCount == 1 ? "" : "s") in scenario files; nothing was run. ")
      Output.error("'callsim validate' shows warnings too.\n")
    }
    throw ExitStatus.badScenario.code
  }

  /// A program must have somebody's place to take in every file: else a file would be run as if it had been replaced.
  func requirePeers(of overrides: [RunJob.Override]) throws {
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
  /// Reads `name=value`.
  static func parse(_ text: String, option: String) throws -> RunJob.Override {
    guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
      throw UsageProblem(message: "\(option) takes name=value, not '\(text)'; write \(option) 'loss=10%'")
    }
    return RunJob.Override(name: String(text[..<equals]), value: String(text[text.index(after: equals)...]))
  }

  /// Reads `alice=external:command`.
  static func parseProgram(_ text: String) throws -> RunJob.Override {
    let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2, let override = ProgramOverride.override(peer: parts[0], value: parts[1]) else {
      throw UsageProblem(
        message: "--peer takes name=external:command, such as 'alice=external:interop/peer chromium', not '\(text)'")
    }
    return override
  }
}
