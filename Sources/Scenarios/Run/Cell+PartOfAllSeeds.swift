public import ScenarioFormat
internal import ScenarioJudge

extension Cell {
  /// Returns the contribution of a run to the expectations over all seeds, one line each; it alone fails none of them.
  public func partOfAllSeeds(_ result: RunResult) -> [String] {
    scenario.expectations.filter { $0.isJudgedAcrossSeeds && !$0.isMeasure }.compactMap { expectation in
      guard let measurement = result.measurements.first(where: { $0.id == expectation.id }) else { return nil }
      let what =
        switch (expectation.kind, measurement.measured) {
        case (_, nil): "was not put to the test"
        case (.metric(let metric), let number?) where expectation.share == nil: "is \(metric.text(of: number))"
        case (.delta(let delta), let number?): "is \(delta.metric.text(of: number))"
        case (_, let number?): number > 0 ? "held" : "did not hold"
        }
      return "\(expectation.text): \(what) in this run"
    }
  }
}
