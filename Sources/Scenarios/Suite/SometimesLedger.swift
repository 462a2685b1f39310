internal import CallCore

/// Which `sometimes` expectations of a cell were true in some run: what no seed reached was never tested.
struct SometimesLedger {
  private var reached: [String] = []
  private var isConclusive = true

  mutating func add(_ result: RunResult) {
    reached += result.reached.filter { !reached.contains($0) }
    // A run that did not come to its end might have got there.
    if result.verdict == .inconclusive || result.verdict == .timeout { isConclusive = false }
  }

  /// Ends a cell.
  ///
  /// - Returns: a result over all seeds when an expectation was never true.
  mutating func close(_ entry: SuitePlan.Entry, overrides: [RunJob.Override]) -> ReportedRun? {
    defer { self = SometimesLedger() }
    guard entry.isComplete, isConclusive else { return nil }
    let missed = entry.cell.scenario.expectations.filter { expectation in
      guard case .sometimes = expectation.kind else { return false }
      return !reached.contains(expectation.id)
    }
    guard !missed.isEmpty else { return nil }
    let seeds = SuiteHeader.ranges(entry.seeds)
    let findings = missed.map { expectation in
      Finding(
        expectation.severity == .warn ? .warning : .vacuous, expectation.text,
        location: expectation.span.file < 0 ? nil : "\(entry.path):\(expectation.span.line):\(expectation.span.column)",
        expected: "true at least once in at least one run", actual: "never true with seeds \(seeds)", time: .zero,
        why: expectation.why)
    }
    let isVacuous = findings.contains { $0.kind == .vacuous }
    let result = RunResult(
      id: entry.cell.id, scenarioID: entry.cell.scenario.id, title: entry.title, path: entry.path,
      seed: entry.seeds.first ?? 0, verdict: isVacuous ? .vacuous : .pass, findings: findings)
    let replay = ReplayCommandLine(
      runID: entry.cell.runID(seed: entry.seeds.first ?? 1), path: entry.path, overrides: overrides)
    return ReportedRun(result: result, replay: replay.text)
  }
}
