internal import Formats
internal import Foundation
public import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

/// The list of runs that did not pass when they were last played, kept in a file of the run directory: `--last-failed`
/// plays them.
///
/// Runs that a suite did not play stay in the list. A run with other values of its file's variables, or with programs
/// in place of peers, is a different run: the list names it with its overrides.
public final class LastFailed: Reporter {
  private static let fileName = "last-failed.txt"

  private let directory: RunDirectory
  private var passed: Set<String> = []
  private var failed: [String] = []
  /// The overrides of variables and peers: `--set loss=10% --set wait=1min`.
  private let overrides: String

  /// A line of the file: a name, then a tab and the overrides if there are any.
  private struct Entry {
    var name: String
    var overrides: String

    init(name: String, overrides: String) {
      self.name = name
      self.overrides = overrides
    }

    init(line: Substring) {
      let parts = line.split(separator: "\t", maxSplits: 1)
      self.init(name: String(parts.first ?? ""), overrides: parts.count > 1 ? String(parts[1]) : "")
    }

    var line: String { overrides.isEmpty ? name : "\(name)\t\(overrides)" }
  }

  /// Reads the list of a run directory.
  public init(_ directory: RunDirectory, overrides: [ScenarioOverride]) {
    self.directory = directory
    self.overrides = overrides.map { "\($0.option) \(ShellWord.quoted($0.argument))" }.sorted().joined(separator: " ")
  }

  private var path: String { "\(directory.root)/\(Self.fileName)" }

  private var entries: [Entry] {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
    return text.split(separator: "\n").map { Entry(line: $0) }
  }

  /// The names of runs, and of cells that failed over all their seeds, that failed with the same overrides.
  public var names: [String] { entries.filter { $0.overrides == overrides }.map(\.name) }

  /// A hint about failures with other overrides; nil when there are none.
  public var hint: String? {
    let others = entries.filter { $0.overrides != overrides }
    guard let first = others.first else { return nil }
    let rest = others.count == 1 ? "" : " and \(others.count - 1) more"
    let remedy = first.overrides.isEmpty ? "failed without --set and --peer" : "failed with \(first.overrides)"
    return "\(TextStyle.printable(first.name))\(rest) \(remedy): give the same again to play it"
  }

  public func begin(_ suite: SuiteHeader) {}

  public func finished(_ run: ReportedRun) {
    switch run.result.verdict {
    case .pass: passed.insert(run.result.id)
    case .skipped: break
    default: failed.append(run.result.id)
    }
  }

  /// Runs that were not played stay in the list.
  public func notRun(_ run: PlannedRun) {}
  public func refused(_ problem: FileProblem) {}

  public func end(_ summary: SuiteSummary) {
    // A cell that no longer has an expectation over its seeds is not reported.
    let cells = summary.notJudged == 0 ? Set(passed.map { RunName($0).cellID }) : []
    let old = entries.filter { entry in
      entry.overrides != overrides
        || !passed.contains(entry.name) && !failed.contains(entry.name) && !cells.contains(entry.name)
    }
    let all = old + failed.map { Entry(name: $0, overrides: overrides) }
    guard !all.isEmpty else {
      unlink(path)
      return directory.tidy()
    }
    let isOurs = directory.isOurs
    try? FileManager.default.createDirectory(atPath: directory.root, withIntermediateDirectories: true)
    if isOurs { directory.ignoreInGit() }
    // If the list cannot be written, only a convenience is lost.
    try? RunArtifacts.write(all.map(\.line).joined(separator: "\n") + "\n", to: path)
  }
}
