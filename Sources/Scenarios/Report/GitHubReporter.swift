internal import Foundation

/// Workflow commands that become annotations on the lines of scenario files, and a step summary in Markdown.
public final class GitHubReporter: Reporter {
  /// GitHub shows ten annotations of a kind and step.
  private static let annotationLimit = 10
  private static let diagramLimit = 3

  private let write: (String) -> Void
  private let writeSummary: ((String) -> Void)?
  private var annotations = 0
  private var rows = ""
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
    if run.result.verdict == .skipped {
      return annotate(
        nil, level: "notice", title: "\(run.result.id) skipped", message: run.result.findings.first?.actual ?? "")
    }
    for finding in run.result.findings { annotate(finding, of: run) }
    if run.result.findings.isEmpty, run.result.verdict != .pass {
      annotate(nil, level: "error", title: run.result.id, message: "\(run.result.verdict.rawValue); \(run.replay)")
    }
    guard run.result.verdict != .pass else { return }
    let first = run.result.findings.first { $0.kind != .warning }
    let cells = [
      run.result.verdict.rawValue, run.result.id, first.map { $0.location ?? $0.title } ?? "",
      first.map(\.actual) ?? "",
    ]
    rows += "| " + cells.map(Self.cell).joined(separator: " | ") + " |\n"
    addDiagram(of: run)
  }

  public func end(_ summary: SuiteSummary) {
    var text = "### callsim: \(summary.line)\n\n"
    if !rows.isEmpty { text += "| verdict | run | where | actual |\n|---|---|---|---|\n\(rows)\n" }
    writeSummary?(text + diagrams)
  }

  private func annotate(_ finding: Finding, of run: ReportedRun) {
    var message = "expected \(finding.expected), actual \(finding.actual)"
    if let why = finding.why { message += "\nwhy: \(why)" }
    message += "\n\(run.replay)"
    let level = finding.kind == .warning ? "warning" : "error"
    annotate(
      finding.location ?? run.result.path, level: level, title: "\(run.result.id): \(finding.title)", message: message)
  }

  private func annotate(_ location: String?, level: String, title: String, message: String) {
    guard annotations < Self.annotationLimit else { return }
    annotations += 1
    var properties = location.map(Self.place) ?? []
    properties.append("title=\(Self.escape(title, inProperty: true))")
    write("::\(level) \(properties.joined(separator: ","))::\(Self.escape(message, inProperty: false))\n")
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

  /// `path:line:column`, the last two when they are there.
  private static func place(_ location: String) -> [String] {
    var parts = location.split(separator: ":", omittingEmptySubsequences: false)
    var numbers: [Substring] = []
    while parts.count > 1, numbers.count < 2, let last = parts.last, Int(last) != nil {
      numbers.insert(parts.removeLast(), at: 0)
    }
    let file = "file=\(escape(parts.joined(separator: ":"), inProperty: true))"
    return [file] + zip(["line", "col"], numbers).map { "\($0)=\($1)" }
  }

  static func escape(_ text: String, inProperty: Bool) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "%": out += "%25"
      case "\r": out += "%0D"
      case "\n": out += "%0A"
      case ":" where inProperty: out += "%3A"
      case "," where inProperty: out += "%2C"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }

  /// A cell of a Markdown table, with what would end it or be markup taken out.
  private static func cell(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "|", "\\", "`", "*", "_", "[", "]": out += "\\" + String(scalar)
      case "<": out += "&lt;"
      case "&": out += "&amp;"
      case "\n", "\r": out += " "
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }
}
