internal import Formats
internal import Foundation
public import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

/// Workflow commands that become annotations on the lines of scenario files, and a step summary in Markdown.
///
/// GitHub shows ten annotations of a level in a step, so there is one per expectation, however many runs fail it.
public final class GitHubReporter: Reporter {
  private static let annotationLimit = 10
  private static let diagramLimit = 3
  private static let rowLimit = 200

  private enum Level: String, CaseIterable { case error, warning, notice }

  /// One expectation or invariant of one file, with the runs that have a finding about it.
  private struct Annotation {
    var level: Level
    /// The location as `path:line:column`, or a path.
    var place: String?
    var title: String
    var runs: [(run: ReportedRun, finding: Finding?)]

    func isOf(_ level: Level, _ place: String?, _ title: String) -> Bool {
      self.level == level && self.place == place && self.title == title
    }
  }

  private let write: (String) -> Void
  private let writeSummary: ((String) -> Void)?
  private var annotations: [Annotation] = []
  /// The number of runs of each file.
  private var runCounts: [String: Int] = [:]
  private var rows: [String] = []
  private var problems: [FileProblem] = []
  private var diagrams = ""
  private var diagramCount = 0

  /// - Parameters:
  ///   - write: takes the workflow commands.
  ///   - writeSummary: takes the step summary; nil when there is none.
  public init(write: @escaping (String) -> Void, writeSummary: ((String) -> Void)?) {
    self.write = write
    self.writeSummary = writeSummary
  }

  public func begin(_ suite: SuiteHeader) {}

  public func finished(_ run: ReportedRun) {
    let result = run.result
    if RunName(result.id).seed != nil { runCounts[result.path, default: 0] += 1 }
    if result.verdict == .skipped {
      return note(.notice, nil, "\(result.scenarioID) skipped: \(result.findings.first?.actual ?? "")", run, nil)
    }
    for finding in result.findings {
      note(finding.kind == .warning ? .warning : .error, finding.location ?? result.path, finding.title, run, finding)
    }
    if result.findings.isEmpty, result.verdict != .pass {
      note(.error, result.path, result.verdict.rawValue, run, nil)
    }
    guard result.verdict != .pass else { return }
    let first = result.findings.first { $0.kind != .warning }
    let cells = [
      result.verdict.rawValue, result.id, first.map { $0.location ?? $0.title } ?? "", first.map(\.actual) ?? "",
    ].map(Self.cell)
    let causes = Self.causes(of: first).map(Self.cell).joined(separator: "<br>")
    rows.append("| " + (cells + [causes]).joined(separator: " | ") + " |\n")
    addDiagram(of: run)
  }

  public func notRun(_ run: PlannedRun) {
    rows.append("| " + ["not run", run.id, run.path, run.reason, ""].map(Self.cell).joined(separator: " | ") + " |\n")
  }

  public func refused(_ problem: FileProblem) {
    problems.append(problem)
    let cells = ["error", problem.code ?? "", problem.location, problem.message, ""]
    rows.append("| " + cells.map(Self.cell).joined(separator: " | ") + " |\n")
  }

  public func end(_ summary: SuiteSummary) {
    for problem in problems.prefix(Self.annotationLimit) {
      command(.error, problem.location, problem.code ?? "error", message: problem.message)
    }
    for level in Level.allCases {
      let all = annotations.filter { $0.level == level }
      let shown = all.count > Self.annotationLimit ? all.prefix(Self.annotationLimit - 1) : all[...]
      for annotation in shown { tell(annotation) }
      guard shown.count < all.count else { continue }
      command(level, nil, "and \(all.count - shown.count) more", message: "the step summary and the log have them all")
    }
    if summary.isUntested { command(.error, nil, SuiteSummary.untested, message: summary.line) }
    var text = "### callsim: \(summary.line)\n\n"
    if !rows.isEmpty {
      text +=
        "| verdict | run | where | actual | explain |\n|---|---|---|---|---|\n\(rows.prefix(Self.rowLimit).joined())"
      if rows.count > Self.rowLimit { text += "| … | and \(rows.count - Self.rowLimit) more | | | |\n" }
      text += "\n"
    }
    writeSummary?(text + diagrams)
  }

  private func note(_ level: Level, _ place: String?, _ title: String, _ run: ReportedRun, _ finding: Finding?) {
    if let index = annotations.firstIndex(where: { $0.isOf(level, place, title) }) {
      annotations[index].runs.append((run, finding))
    } else {
      annotations.append(Annotation(level: level, place: place, title: title, runs: [(run, finding)]))
    }
  }

  private func tell(_ annotation: Annotation) {
    let notable = NotableRun(of: annotation.runs.map(\.run), misses: annotation.runs.map { [$0.finding?.miss] })
    let (run, finding) = annotation.runs[notable.index]
    var lines: [String] = []
    if annotation.runs.count > 1 {
      let total = runCounts[run.result.path] ?? annotation.runs.count
      lines.append("\(annotation.runs.count) of \(total) runs of the file, \(notable.word) \(run.result.id)")
    }
    if let finding { lines.append("expected \(finding.expected), actual \(finding.actual)") }
    lines += Self.causes(of: finding)
    if let finding, finding.signature.text != finding.title { lines.append("signature: \(finding.signature)") }
    if let why = finding?.why { lines.append("why: \(why)") }
    if annotation.level != .notice { lines.append(run.replay) }
    let title = annotation.runs.count > 1 ? annotation.title : "\(run.result.id): \(annotation.title)"
    command(annotation.level, annotation.place, title, message: lines.joined(separator: "\n"))
  }

  private func command(_ level: Level, _ location: String?, _ title: String, message: String) {
    var properties = location.map(Self.place) ?? []
    properties.append("title=\(WorkflowCommand.escape(title, inProperty: true))")
    write(
      "::\(level.rawValue) \(properties.joined(separator: ","))::\(WorkflowCommand.escape(message, inProperty: false))\n"
    )
  }

  private func addDiagram(of run: ReportedRun) {
    guard writeSummary != nil, diagramCount < Self.diagramLimit, let artifacts = run.artifacts,
      artifacts.names.contains("sequence.mmd"),
      let text = try? String(contentsOfFile: artifacts.folder + "/sequence.mmd", encoding: .utf8)
    else { return }
    diagramCount += 1
    diagrams +=
      "<details><summary>\(JUnitReporter.escape(run.result.id))</summary>\n\n```mermaid\n\(text)```\n\n</details>\n\n"
  }

  /// Splits `path:line:column`; line and column may be missing.
  private static func place(_ location: String) -> [String] {
    var parts = location.split(separator: ":", omittingEmptySubsequences: false)
    var numbers: [Substring] = []
    while parts.count > 1, numbers.count < 2, let last = parts.last, Int(last) != nil {
      numbers.insert(parts.removeLast(), at: 0)
    }
    let file = "file=\(WorkflowCommand.escape(parts.joined(separator: ":"), inProperty: true))"
    return [file] + zip(["line", "col"], numbers).map { "\($0)=\($1)" }
  }

  /// Returns the explanations, one line each, with their labels.
  private static func causes(of finding: Finding?) -> [String] {
    (finding?.causes ?? []).flatMap { label, lines in lines.map { "\(label): \($0)" } }
  }

  /// Returns the text for a cell of a Markdown table, without characters that end the cell or act as markup.
  private static func cell(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "|", "\\", "`", "*", "_", "[", "]": out += "\\" + String(scalar)
      case "<": out += "&lt;"
      case "&": out += "&amp;"
      case "\n", "\r": out += " "
      default: out.unicodeScalars.append(scalar.isPrintable ? scalar : "\u{FFFD}")
      }
    }
    return out
  }
}
