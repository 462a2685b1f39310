internal import Formats
internal import Foundation

/// The runs that did not pass when they were played last, in a file of the run directory: `--last-failed` plays them.
///
/// What a suite did not play keeps the place it had.
public final class LastFailed: Reporter {
  private static let fileName = "last-failed.txt"

  private let directory: RunDirectory
  private var passed: Set<String> = []
  private var failed: [String] = []

  public init(_ directory: RunDirectory) { self.directory = directory }

  private var path: String { "\(directory.root)/\(Self.fileName)" }

  /// Names of runs, and of cells whose seeds together fail; empty when nothing failed.
  public var names: [String] {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
    return text.split(separator: "\n").map(String.init)
  }

  public func begin(_ suite: SuiteHeader) {}

  public func finished(_ run: ReportedRun) {
    switch run.result.verdict {
    case .pass: passed.insert(run.result.id)
    case .skipped: break
    default: failed.append(run.result.id)
    }
  }

  public func end(_ summary: SuiteSummary) {
    // What the seeds of a cell come to is told only when they fail, and judged only when all of them ran.
    let cells = summary.notJudged == 0 ? Set(passed.map { RunName($0).cellID }) : []
    let old = names.filter { !passed.contains($0) && !failed.contains($0) && !cells.contains($0) }
    let all = old + failed
    guard !all.isEmpty else {
      unlink(path)
      return directory.tidy()
    }
    try? FileManager.default.createDirectory(atPath: directory.root, withIntermediateDirectories: true)
    // A list that cannot be written costs a convenience, not a result.
    try? RunArtifacts.write(all.joined(separator: "\n") + "\n", to: path)
  }
}
