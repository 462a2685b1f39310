/// Runs that fail in the same way: the same expectations and invariants, whatever the measured values.
///
/// Twenty seeds that miss one expectation are one thing to look at, not twenty.
struct FailureGroup {
  /// What failed, a line for each finding that is no warning.
  let signature: [String]
  private(set) var runs: [ReportedRun] = []

  init(_ run: ReportedRun) {
    signature = Self.signature(of: run.result)
    runs = [run]
  }

  static func signature(of result: RunResult) -> [String] {
    [result.verdict.rawValue]
      + result.findings.filter { $0.kind != .warning }.map { "\($0.kind.rawValue) \($0.location ?? "") \($0.title)" }
  }

  mutating func add(_ run: ReportedRun) { runs.append(run) }

  var seeds: [UInt64] { runs.map(\.result.seed) }

  /// The run to look at first: of the worst verdict, then with the most findings, then the first.
  var worst: ReportedRun { Self.worst(of: runs) ?? runs[0] }

  static func worst(of runs: [ReportedRun]) -> ReportedRun? {
    runs.reduce(nil as ReportedRun?) { worst, run in
      guard let worst else { return run }
      let (status, other) = (ExitStatus(worst.result.verdict), ExitStatus(run.result.verdict))
      if status != other { return status.worse(other) == status ? worst : run }
      return run.result.findings.count > worst.result.findings.count ? run : worst
    }
  }
}
