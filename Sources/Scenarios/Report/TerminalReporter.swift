internal import CallCore

/// Tells people: on a terminal one live line and then only what failed; elsewhere a plain line for every run.
public final class TerminalReporter: Reporter {
  public enum Detail: Sendable {
    /// Failures and the closing line.
    case quiet
    /// A line for every run.
    case lines
    /// A progress line that is overwritten.
    case live
  }

  private let detail: Detail
  private let style: TextStyle
  private let write: (String) -> Void
  private var planned = 0
  private var done = 0
  private var failed = 0
  private var isProgressShown = false

  public init(detail: Detail, style: TextStyle, write: @escaping (String) -> Void) {
    self.detail = detail
    self.style = style
    self.write = write
  }

  public func begin(_ suite: SuiteHeader) {
    planned = suite.runCount
    guard detail != .quiet else { return }
    write(suite.lines.map { style.paint($0, .label) + "\n" }.joined())
  }

  public func started(_ id: String) { showProgress(id) }

  public func finished(_ run: ReportedRun) {
    done += 1
    let result = run.result
    if result.verdict == .skipped {
      // Even in a quiet run: what was not tested must not look as if it was.
      let reason = result.findings.first?.actual ?? ""
      return show("\(style.paint("SKIP", .label)) \(TextStyle.printable(result.id))  \(TextStyle.printable(reason))\n")
    }
    if result.verdict == .pass {
      let warnings = result.findings.contains { $0.kind == .warning }
      if warnings, detail != .quiet {
        show(FailureText(run, style: style).text)
      } else if detail == .lines || (detail == .live && result.realTime != nil) {
        show(passLine(result))
      }
      return
    }
    failed += 1
    show(FailureText(run, style: style).text)
  }

  public func end(_ summary: SuiteSummary) {
    let role: TextStyle.Role = summary.exitStatus == .pass ? .success : .failure
    show(style.paint(summary.line, role) + "\n")
  }

  private func passLine(_ result: RunResult) -> String {
    let times = "virtual \(TextStyle.decimal(result.virtualDuration.seconds, places: 1))s  "
    let cpu = "cpu \(TextStyle.decimal(result.cpuSeconds, places: 2))s"
    var line = "\(style.paint("PASS", .success)) \(TextStyle.printable(result.id))  \(times)\(cpu)\n"
    guard let realTime = result.realTime else { return line }
    line += "     \(realTime.text)\n"
    for expectation in realTime.notJudged { line += "     not judged: \(TextStyle.printable(expectation))\n" }
    return line
  }

  private func show(_ text: String) {
    if isProgressShown { write("\r\u{1B}[K") }
    isProgressShown = false
    write(text)
  }

  private func showProgress(_ id: String) {
    guard detail == .live else { return }
    let failures = failed == 0 ? "" : style.paint(" \(failed) failed", .failure)
    // A wrapped line could not be overwritten.
    write("\r\u{1B}[K[\(done)/\(planned)]\(failures) \(TextStyle.printable(String(id.prefix(50))))")
    isProgressShown = true
  }
}
