internal import CallCore
public import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

/// Reports to a user: on a terminal one live line and the failures, elsewhere a plain line for every run.
///
/// Of the runs of a cell that fail in the same way, the first is described in full and the others are counted at the
/// end of the cell.
public final class TerminalReporter: Reporter {
  /// The amount of output.
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
  private let slowest: Int
  private let now: () -> Double
  private let write: (String) -> Void
  private var startedAt = 0.0
  private var planned = 0
  private var done = 0
  private var failed = 0
  private var isProgressShown = false
  /// The cell being reported, the number of its reported runs, and its failed runs in groups.
  private var cell: String?
  private var cellRuns = 0
  private var groups: [FailureGroup] = []
  /// One line per failure group of every cell, for the list at the end.
  private var failures: [String] = []
  private static let failureLimit = 20
  /// The runs that took the most processor time, the slowest first.
  private var slow: [(id: String, seconds: Double)] = []

  /// Reports through `write`.
  ///
  /// - Parameters:
  ///   - slowest: how many of the slowest runs are listed at the end.
  ///   - now: the machine's time in seconds, from any origin; for the live line.
  public init(
    detail: Detail, style: TextStyle, slowest: Int = 0, now: @escaping () -> Double = TerminalReporter.machineTime,
    write: @escaping (String) -> Void
  ) {
    self.detail = detail
    self.style = style
    self.slowest = slowest
    self.now = now
    self.write = write
  }

  public func begin(_ suite: SuiteHeader) {
    planned = suite.runCount
    startedAt = now()
    guard detail != .quiet else { return }
    write(suite.lines.map { style.paint($0, .label) + "\n" }.joined())
  }

  public func started(_ id: String) { showProgress(id) }

  public func finished(_ run: ReportedRun) {
    let result = run.result
    let name = RunName(result.id)
    if name.cellID != cell { closeCell() }
    cell = name.cellID
    if name.seed != nil {
      done += 1
      cellRuns += 1
      noteTime(of: result)
    }
    switch result.verdict {
    case .skipped:
      // Quiet runs show skipped tests too: they must not look like passed tests.
      let reason = result.findings.first?.actual ?? ""
      show("\(style.paint("SKIP", .label)) \(TextStyle.printable(result.id))  \(TextStyle.printable(reason))\n")
    case .pass:
      let warnings = result.findings.contains { $0.kind == .warning }
      if warnings, detail != .quiet {
        show(FailureText(run, style: style).text)
      } else if detail == .lines || (detail == .live && result.realTime != nil) {
        show(passLine(result))
      }
    default:
      failed += 1
      showFailure(run)
    }
  }

  /// Ignores the run: the closing line has the number of such runs.
  public func notRun(_ run: PlannedRun) {}

  /// Ignores the problem: the diagnostics have been printed with the lines of the file.
  public func refused(_ problem: FileProblem) {}

  public func end(_ summary: SuiteSummary) {
    closeCell()
    if !slow.isEmpty {
      show("slowest, by processor time:\n")
      for run in slow {
        write("  \(TextStyle.seconds(run.seconds))  \(TextStyle.printable(run.id))\n")
      }
    }
    if failures.count > 1 { listFailures() }
    let role: TextStyle.Role = summary.exitStatus == .pass ? .success : .failure
    show(style.paint(summary.line, role) + "\n")
  }

  // MARK: Runs

  private func showFailure(_ run: ReportedRun) {
    let signature = FailureGroup.signature(of: run.result)
    guard let index = groups.firstIndex(where: { $0.signature == signature }) else {
      groups.append(FailureGroup(run))
      return show(FailureText(run, style: style).text)
    }
    let first = groups[index].runs[0].result.id
    groups[index].add(run)
    guard detail == .lines else { return }
    let word = style.paint(FailureText.word(run.result.verdict), .failure)
    show("\(word) \(TextStyle.printable(run.result.id))  like \(TextStyle.printable(first)); \(run.replay)\n")
  }

  /// Reports the number of the cell's runs in each failure group.
  private func closeCell() {
    defer { (cell, cellRuns, groups) = (nil, 0, []) }
    failures += groups.map(listed)
    guard let cell else { return }
    for group in groups where group.runs.count > 1 {
      let notable = group.notable
      let run = group.runs[notable.index]
      var line = style.paint(FailureText.word(run.result.verdict), .failure) + " "
      line += style.paint(TextStyle.printable(cell), .strong)
      let seeds = SuiteHeader.ranges(group.seeds)
      line += "  \(group.runs.count) of \(cellRuns) seeds: \(seeds), \(notable.word) #\(run.result.seed)\n"
      if let finding = run.result.findings.first(where: { $0.kind != .warning }) {
        line += "  \(TextStyle.printable(finding.title)): \(TextStyle.printable(finding.actual))\n"
      }
      show(WorkflowCommand.defused(line + "  \(run.replay)\n"))
    }
  }

  /// Lists the failures again, because the earlier reports have scrolled away.
  private func listFailures() {
    show("what failed:\n")
    for line in failures.prefix(Self.failureLimit) { write(line) }
    if failures.count > Self.failureLimit { write("  and \(failures.count - Self.failureLimit) more\n") }
  }

  private func listed(_ group: FailureGroup) -> String {
    let result = group.runs[group.notable.index].result
    var line = "  \(style.paint(FailureText.word(result.verdict), .failure)) \(TextStyle.printable(result.id))"
    if group.runs.count > 1 { line += " and \(group.runs.count - 1) more of its seeds" }
    if let finding = result.findings.first(where: { $0.kind != .warning }) {
      line += "  \(TextStyle.printable(finding.location ?? finding.title))"
    }
    return line + "\n"
  }

  private func noteTime(of result: RunResult) {
    guard slowest > 0 else { return }
    let index = slow.firstIndex { $0.seconds < result.cpuSeconds } ?? slow.count
    slow.insert((result.id, result.cpuSeconds), at: index)
    if slow.count > slowest { slow.removeLast() }
  }

  private func passLine(_ result: RunResult) -> String {
    guard RunName(result.id).seed != nil else {
      return "\(style.paint("PASS", .success)) \(TextStyle.printable(result.id))  over all its seeds\n"
    }
    let times = "virtual \(TextStyle.decimal(result.virtualDuration.seconds, places: 1))s  "
    let cpu = "cpu \(TextStyle.decimal(result.cpuSeconds, places: 2))s"
    var line = "\(style.paint("PASS", .success)) \(TextStyle.printable(result.id))  \(times)\(cpu)\n"
    guard let realTime = result.realTime else { return line }
    line += "     \(realTime.text)\n"
    for expectation in realTime.notJudged { line += "     not judged: \(TextStyle.printable(expectation))\n" }
    return line
  }

  // MARK: The live line

  private func show(_ text: String) {
    if isProgressShown { write("\r\u{1B}[K") }
    isProgressShown = false
    write(text)
  }

  private func showProgress(_ id: String) {
    guard detail == .live else { return }
    let failures = failed == 0 ? "" : style.paint(" \(failed) failed", .failure)
    let elapsed = now() - startedAt
    var times = Self.clock(elapsed)
    // The first runs are not enough for an estimate.
    if done >= 4, elapsed >= 1, planned >= done {
      times += ", about \(Self.clock(elapsed / Double(done) * Double(planned - done))) left"
    }
    // A wrapped line could not be overwritten.
    write("\r\u{1B}[K[\(done)/\(planned)]\(failures) \(times) \(TextStyle.printable(String(id.prefix(40))))")
    isProgressShown = true
  }

  /// `0:07`, `12:03`, `1:02:03`.
  static func clock(_ seconds: Double) -> String {
    let total = Int(seconds.rounded())
    let parts = total >= 3_600 ? [total / 3_600, total / 60 % 60, total % 60] : [total / 60, total % 60]
    return parts.enumerated().map { $0 > 0 && $1 < 10 ? "0\($1)" : "\($1)" }.joined(separator: ":")
  }

  /// Returns monotonic time in seconds.
  public static func machineTime() -> Double {
    let (seconds, attoseconds) = (ContinuousClock.now - origin).components
    return Double(seconds) + Double(attoseconds) / 1e18
  }

  private static let origin = ContinuousClock.now
}
