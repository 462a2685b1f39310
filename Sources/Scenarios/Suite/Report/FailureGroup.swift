import ScenarioJudge
import ScenarioRun

/// Runs that fail in the same way: findings with the same signatures, whatever the measured values.
///
/// Twenty seeds that miss one expectation are one thing to look at, not twenty.
struct FailureGroup {
  /// The failed checks, one line per finding that is not a warning.
  let signature: [String]
  private(set) var runs: [ReportedRun] = []

  init(_ run: ReportedRun) {
    signature = Self.signature(of: run.result)
    runs = [run]
  }

  static func signature(of result: RunResult) -> [String] {
    [result.verdict.rawValue]
      + result.findings.filter { $0.kind != .warning }.map { "\($0.kind.rawValue) \($0.signature)" }
  }

  mutating func add(_ run: ReportedRun) { runs.append(run) }

  var seeds: [UInt64] { runs.map(\.result.seed) }

  var notable: NotableRun {
    let misses = runs.map { $0.result.findings.filter { $0.kind != .warning }.map(\.miss) }
    return NotableRun(of: runs, misses: misses)
  }
}

/// The run to examine first of several that fail in the same way.
struct NotableRun {
  let index: Int
  /// Whether it is worse than another run; otherwise it is only the first.
  let isWorst: Bool

  var word: String { isWorst ? "worst" : "see" }

  /// Chooses the run with the worst verdict, then the one furthest from its expectations, then the one with the most
  /// findings.
  ///
  /// - Parameters:
  ///   - runs: at least one.
  ///   - misses: for each run, its distance from each expectation; an expectation that is nil in one run is compared in
  ///     none.
  init(of runs: [ReportedRun], misses: [[Double?]]) {
    var (index, isWorst) = (0, false)
    let measures = Self.measures(runs, misses)
    for other in measures.indices.dropFirst() where measures[other] != measures[index] {
      isWorst = true
      if measures[index].lexicographicallyPrecedes(measures[other]) { index = other }
    }
    (self.index, self.isWorst) = (index, isWorst)
  }

  /// Returns the numbers by which each run is compared, in order of weight; a higher number is worse.
  private static func measures(_ runs: [ReportedRun], _ misses: [[Double?]]) -> [[Double]] {
    let columns = (0..<(misses.map(\.count).min() ?? 0)).filter { column in misses.allSatisfy { $0[column] != nil } }
    return zip(runs, misses).map { run, misses in
      let findings = run.result.findings.count { $0.kind != .warning }
      return [Double(ExitStatus(run.result.verdict).severity)] + columns.compactMap { misses[$0] } + [Double(findings)]
    }
  }
}
