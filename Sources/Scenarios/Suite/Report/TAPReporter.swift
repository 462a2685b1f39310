internal import CallCore
internal import Formats
public import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import Vocabulary

/// Test Anything Protocol, version 14.
public final class TAPReporter: Reporter {
  private let write: (String) -> Void
  private var number = 0

  /// Reports through `write`.
  public init(write: @escaping (String) -> Void) { self.write = write }

  public func begin(_ suite: SuiteHeader) { write("TAP version 14\n") }

  public func finished(_ run: ReportedRun) {
    number += 1
    let result = run.result
    if result.verdict == .skipped {
      return write(
        "ok \(number) - \(Self.escape(result.id)) # SKIP \(Self.escape(result.findings.first?.actual ?? ""))\n")
    }
    write("\(result.verdict == .pass ? "ok" : "not ok") \(number) - \(Self.escape(result.id))\n")
    if let realTime = result.realTime { write("# \(realTime.text)\n") }
    guard result.verdict != .pass else { return }
    write("  ---\n  verdict: \(result.verdict.rawValue)\n  file: \(quoted(result.path))\n")
    write("  virtual_seconds: \(TextStyle.decimal(result.virtualDuration.seconds, places: 6))\n")
    write("  replay: \(quoted(run.replay))\n")
    if !result.findings.isEmpty { write("  findings:\n") }
    for finding in result.findings {
      write("    - title: \(quoted(finding.title))\n      kind: \(finding.kind.rawValue)\n")
      write("      signature: \(quoted(finding.signature.text))\n")
      if let location = finding.location { write("      at: \(quoted(location))\n") }
      write("      expected: \(quoted(finding.expected))\n      actual: \(quoted(finding.actual))\n")
      for (key, lines) in [("explanation", finding.explanation), ("faults", finding.faults)] where !lines.isEmpty {
        write("      \(key):\n")
        for line in lines { write("        - \(quoted(line))\n") }
      }
    }
    write("  ...\n")
  }

  public func notRun(_ run: PlannedRun) {
    number += 1
    write("ok \(number) - \(Self.escape(run.id)) # SKIP not run: \(run.reason)\n")
  }

  public func refused(_ problem: FileProblem) {
    number += 1
    write("not ok \(number) - \(Self.escape(problem.location)): \(Self.escape(problem.message))\n")
  }

  public func end(_ summary: SuiteSummary) {
    if summary.isUntested {
      number += 1
      write("not ok \(number) - \(SuiteSummary.untested): \(summary.line)\n")
    }
    // The plan comes last, because verdicts over all seeds of a cell add test points that are not planned.
    write("1..\(number)\n")
    if summary.problems > 0 { write("Bail out! \(summary.line)\n") }
    if summary.isInterrupted { write("Bail out! the suite was interrupted: \(summary.notRun) runs were not made\n") }
  }

  /// Quotes text for YAML: every JSON string is a YAML string.
  private func quoted(_ text: String) -> String { JSON.string(text).description }

  static func escape(_ text: String) -> String {
    var out = ""
    for character in TextStyle.printable(text) {
      if character == "#" || character == "\\" { out.append("\\") }
      out.append(character)
    }
    return out
  }
}
