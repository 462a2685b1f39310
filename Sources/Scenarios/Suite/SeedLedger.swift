internal import CallCore
package import ScenarioFormat
internal import ScenarioJudge
package import ScenarioRun

/// The results of the runs of one cell, judged together; see ``AcrossSeeds``.
package struct SeedLedger {
  private var measurements: [(seed: UInt64, measurement: Measurement)] = []
  private var isConclusive = true

  package init() {}

  package mutating func add(_ result: RunResult) {
    measurements += result.measurements.map { (result.seed, $0) }
    // A run that did not end normally might have reached the condition.
    if [.inconclusive, .timeout, .skipped].contains(result.verdict) { isConclusive = false }
  }

  /// Notes a run that was never made.
  package mutating func addNotRun() { isConclusive = false }

  /// The result over all seeds of a cell.
  package struct Closing {
    /// The judgement, if an expectation is about all seeds.
    package var run: ReportedRun?
    /// The number of expectations that were not judged, because not every seed ran to its end.
    var notJudged = 0
    /// Whether the cell has no other expectations, so that none of it was judged.
    var isUntested = false
  }

  /// Ends a cell and judges its seeds together.
  package mutating func close(_ entry: SuitePlan.Entry, overrides: [ScenarioOverride]) -> Closing {
    defer { self = SeedLedger() }
    // Differences between arms are the matter of ArmLedger.
    let all = entry.cell.scenario.expectations.filter { !$0.isDelta }
    let expectations = all.filter(\.isJudgedAcrossSeeds)
    let isUntested = expectations.count == all.count && !entry.cell.scenario.expectsInvariantsOnly
    guard entry.isComplete, isConclusive else {
      return Closing(notJudged: expectations.count, isUntested: isUntested)
    }
    // Differences alone say nothing of one arm.
    let hasDifferences = all.count < entry.cell.scenario.expectations.count
    guard !expectations.isEmpty else { return Closing(isUntested: isUntested && hasDifferences) }
    let told = expectations.compactMap { finding($0, entry) }
    let findings = told.map(\.finding)
    // A run that passes would show nothing.
    let worth = told.filter { $0.finding.kind == .expectation } + told
    let seed = worth.lazy.compactMap(\.seed).first ?? entry.seeds.first ?? 1
    return Closing(run: entry.judgement(findings, of: entry.cell.id, seed: seed, overrides: overrides))
  }

  /// Returns the failure of an expectation and the seed whose run shows it; nil when it holds.
  private func finding(_ expectation: Expectation, _ entry: SuitePlan.Entry) -> (finding: Finding, seed: UInt64?)? {
    let mine = measurements.filter { $0.measurement.id == expectation.id }
    let results = mine.map { _, measurement in
      ExpectationResult(
        expectation: expectation, verdict: .shared, time: .zero, expected: measurement.expected, actual: "",
        measured: measurement.measured)
    }
    guard let judged = AcrossSeeds.judge(results) else { return nil }
    let kind: Finding.Kind
    switch judged.verdict {
    case .pass, .shared: return nil
    case .vacuous: kind = expectation.severity == .warn ? .warning : .vacuous
    case .fail: kind = expectation.severity == .warn ? .warning : .expectation
    }
    let culprits = judged.verdict == .fail ? AcrossSeeds.culprits(results) : nil
    let seeds = culprits?.runs.map { mine[$0].seed } ?? []
    var actual = "\(judged.actual) (seeds \(SuiteHeader.ranges(entry.seeds)))"
    if let culprits, seeds.count < mine.count {
      actual += "; \(culprits.text) in seed\(seeds.count == 1 ? "" : "s") \(SuiteHeader.ranges(seeds))"
    }
    let span = expectation.span
    let finding = Finding(
      kind, expectation.text, location: span == .builtIn ? nil : "\(entry.path):\(span.line):\(span.column)",
      expected: judged.expected, actual: actual, time: .zero, why: expectation.why,
      signature: FindingSignature(expectation.checkID))
    return (finding, seeds.first)
  }
}

extension SuitePlan.Entry {
  /// Returns the judgement over several runs, with the command that plays one of them again.
  ///
  /// - Parameter id: the name of what is judged, without a seed.
  func judgement(_ findings: [Finding], of id: String, seed: UInt64, overrides: [ScenarioOverride]) -> ReportedRun {
    let result = RunResult(
      id: id, scenarioID: cell.scenario.id, title: title, path: path, seed: seed, verdict: Verdict(of: findings),
      findings: findings)
    var replay = ReplayCommandLine(runID: cell.runID(seed: seed), path: path, overrides: overrides)
    replay.hasPrograms = !cell.programs(besides: overrides).isEmpty
    return ReportedRun(result: result, replay: replay.text)
  }
}
