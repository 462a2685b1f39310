internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// Judges expectations that only the runs of all seeds decide together: `sometimes`, metrics `across: seeds`, and those
/// with a `share`.
package enum AcrossSeeds {
  /// Returns the result over all runs.
  ///
  /// - Parameter results: the results of the same expectation, one per run; empty for other kinds of expectation.
  package static func judge(_ results: [ExpectationResult]) -> ExpectationResult? {
    guard var result = results.last else { return nil }
    let measured = results.compactMap(\.measured)
    if let share = result.expectation.share { return judge(result, share, measured) }
    switch result.expectation.kind {
    case .sometimes:
      guard !measured.isEmpty else {
        result.verdict = .vacuous
        result.actual = "what it reads was never set in any run"
        break
      }
      let reached = measured.count { $0 > 0 }
      result.verdict = reached > 0 ? .pass : .fail
      result.actual = "reached in \(reached) of \(Wording.count(results.count, "run"))"
    case .metric(let metric) where metric.across == .seeds:
      guard let (name, number) = metric.statistic.overRuns(measured) else {
        result.verdict = .vacuous
        result.actual = "no run had a sample of \(metric.value)"
        return result
      }
      result.verdict = metric.bounds.allSatisfy { $0.admits(number) } ? .pass : .fail
      result.actual =
        "\(name) over \(Wording.count(measured.count, "run")) of each run's \(metric.statistic) "
        + "is \(metric.text(of: number))"
    case .metric, .delta, .sequence, .set, .eventually, .always, .never, .leadsTo, .ends, .count, .recovers: return nil
    }
    result.nearestMiss = nil
    return result
  }

  /// Judges the share of runs in which an expectation held, of those that tested it.
  private static func judge(
    _ result: ExpectationResult, _ share: [Expectation.Bound], _ measured: [Double]
  ) -> ExpectationResult {
    var result = result
    result.nearestMiss = nil
    guard !measured.isEmpty else {
      result.verdict = .vacuous
      result.actual = "no run put it to the test"
      return result
    }
    let held = measured.count { $0 > 0 }
    let part = Double(held) / Double(measured.count)
    result.verdict = share.allSatisfy { $0.admits(part) } ? .pass : .fail
    let percent = Wording.quantity(part, .percentage)
    result.actual = "it held in \(held) of \(Wording.count(measured.count, "run")), \(percent)"
    return result
  }

  /// The runs that made an expectation fail.
  package struct Culprits: Equatable {
    /// The indices of the runs; the first is the one to examine first.
    package var runs: [Int]
    /// The condition that is true in these runs and in no others.
    package var text: String
  }

  /// Returns the runs to examine after ``judge(_:)`` found a failure: those in which the expectation did not hold, or
  /// did if it should be rare; for a metric the run furthest beyond the bound.
  ///
  /// - Returns: nil when no run differs from the others.
  package static func culprits(_ results: [ExpectationResult]) -> Culprits? {
    guard let expectation = results.last?.expectation else { return nil }
    let measured = results.enumerated().compactMap { index, result in result.measured.map { (index, number: $0) } }
    if let share = expectation.share {
      let part = Double(measured.count { $0.number > 0 }) / Double(max(1, measured.count))
      guard let isTooMuch = share.isExceeded(by: part) else { return nil }
      let runs = measured.filter { ($0.number > 0) == isTooMuch }.map(\.0)
      return runs.isEmpty ? nil : Culprits(runs: runs, text: isTooMuch ? "it held" : "it did not hold")
    }
    guard case .metric(let metric) = expectation.kind,
      let over = metric.statistic.overRuns(measured.map(\.number)), measured.count > 1,
      let isTooMuch = metric.bounds.isExceeded(by: over.number),
      // Ties go to the first run.
      let furthest = measured.reversed().max(by: { isTooMuch ? $0.number <= $1.number : $0.number >= $1.number })
    else { return nil }
    return Culprits(runs: [furthest.0], text: "it is furthest off, \(metric.text(of: furthest.number)),")
  }
}

extension [Expectation.Bound] {
  /// Returns whether a number is above the first bound that it breaks, rather than below; nil when it breaks none.
  fileprivate func isExceeded(by number: Double) -> Bool? {
    guard let bound = first(where: { !$0.admits(number) }), let limit = bound.value.number else { return nil }
    return switch bound.comparison {
    case .less, .lessOrEqual: true
    case .greater, .greaterOrEqual: false
    case .equal, .notEqual: number > limit
    }
  }
}
