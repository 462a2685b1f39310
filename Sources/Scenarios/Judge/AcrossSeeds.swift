internal import CallCore

/// Judges what only the runs of all seeds together decide: `sometimes`, and metrics `across: seeds`.
enum AcrossSeeds {
  /// Whether single runs leave the expectation open.
  static func decides(_ expectation: Expectation) -> Bool {
    switch expectation.kind {
    case .sometimes: true
    case .metric(let metric): metric.across == .seeds
    default: false
    }
  }

  /// The result over the runs, from what each contributed.
  ///
  /// - Parameter results: of the same expectation, one a run; none for other kinds of expectation.
  static func judge(_ results: [ExpectationResult]) -> ExpectationResult? {
    guard var result = results.last else { return nil }
    let measured = results.compactMap(\.measured)
    switch result.expectation.kind {
    case .sometimes:
      let reached = measured.count { $0 > 0 }
      result.verdict = reached > 0 ? .pass : .fail
      result.actual = "reached in \(reached) of \(Wording.count(results.count, "run"))"
    case .metric(let metric) where metric.across == .seeds:
      var series = SampleSeries()
      for number in measured { series.add(number, at: .zero) }
      guard let number = series.statistic(metric.statistic.overRuns) else {
        result.verdict = .vacuous
        result.actual = "no run had a sample of \(metric.value)"
        return result
      }
      result.verdict = metric.bounds.allSatisfy { $0.admits(number) } ? .pass : .fail
      result.actual =
        "\(metric.statistic.overRuns) is \(metric.text(of: number)), over \(Wording.count(measured.count, "run"))"
    default: return nil
    }
    result.nearestMiss = nil
    return result
  }
}
