package import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

/// Collects the coverage of the runs of a suite.
package final class CoverageReporter: Reporter {
  /// Counts of runs and peers.
  struct Totals {
    var runs = 0
    var notPassed: [(id: String, verdict: String)] = []
    var runsWithoutCoverage = 0
    var notRun = 0
    var peersWithoutCoverage = 0
  }

  private let registry: ProfileRegistry
  private var coverage = SuiteCoverage()
  private var totals = Totals()

  /// Collects the runs of a plan.
  package init(_ plan: SuitePlan, registry: ProfileRegistry) {
    self.registry = registry
    totals.peersWithoutCoverage = plan.entries.reduce(0) { count, entry in
      count + entry.cell.scenario.peers.count { $0.stack != .real }
    }
  }

  package func begin(_ suite: SuiteHeader) {}

  package func finished(_ run: ReportedRun) {
    let result = run.result
    // A judgement over all seeds is no run.
    guard RunName(result.id).seed != nil else { return }
    totals.runs += 1
    if result.verdict != .pass { totals.notPassed.append((result.id, result.verdict.rawValue)) }
    guard let found = result.coverage else {
      totals.runsWithoutCoverage += 1
      return
    }
    coverage.add(found, of: result.id)
  }

  package func notRun(_ run: PlannedRun) { totals.notRun += 1 }
  package func refused(_ problem: FileProblem) {}
  package func end(_ summary: SuiteSummary) {}

  /// The report on the runs so far.
  package var report: CoverageReport {
    CoverageReport(coverage, vocabularies: registry.vocabularies, totals: totals)
  }
}
