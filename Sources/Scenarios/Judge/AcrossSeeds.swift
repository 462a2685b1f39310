internal import CallCore
internal import Vocabulary

/// Judges what only the runs of all seeds together decide: `sometimes`, metrics `across: seeds`, and whatever has a
/// `share`.
enum AcrossSeeds {
  /// Whether single runs leave the expectation open.
  static func decides(_ expectation: Expectation) -> Bool {
    if expectation.share != nil { return true }
    return switch expectation.kind {
    case .sometimes: true
    case .metric(let metric): metric.across == .seeds
    case .sequence, .set, .eventually, .always, .never, .leadsTo, .ends, .count, .recovers: false
    }
  }

  /// The result over the runs, from what each contributed.
  ///
  /// - Parameter results: of the same expectation, one a run; none for other kinds of expectation.
  static func judge(_ results: [ExpectationResult]) -> ExpectationResult? {
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
    case .metric, .sequence, .set, .eventually, .always, .never, .leadsTo, .ends, .count, .recovers: return nil
    }
    result.nearestMiss = nil
    return result
  }

  /// How large a share of the runs that put it to the test it held in.
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
  struct Culprits: Equatable {
    /// Indices, the one to look at first first.
    var runs: [Int]
    /// What is so in these runs, and in no others.
    var text: String
  }

  /// Whom to look at after ``judge(_:)`` found a failure: the runs in which it did not hold, or did where it was to be
  /// rare; of a metric the run that is furthest beyond the bound.
  ///
  /// - Returns: nil when no run is to blame more than another.
  static func culprits(_ results: [ExpectationResult]) -> Culprits? {
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
      // The first of those that are equal.
      let furthest = measured.reversed().max(by: { isTooMuch ? $0.number <= $1.number : $0.number >= $1.number })
    else { return nil }
    return Culprits(runs: [furthest.0], text: "it is furthest off, \(metric.text(of: furthest.number)),")
  }
}

extension [Expectation.Bound] {
  /// Whether a number is above the first bound that it does not meet, rather than below; nil when it meets them all.
  fileprivate func isExceeded(by number: Double) -> Bool? {
    guard let bound = first(where: { !$0.admits(number) }), let limit = bound.value.number else { return nil }
    return switch bound.comparison {
    case .less, .lessOrEqual: true
    case .greater, .greaterOrEqual: false
    case .equal, .notEqual: number > limit
    }
  }
}

extension Cell {
  /// What a run says of the expectations that only the runs of all seeds decide, a line each: of itself it fails none.
  public func partOfAllSeeds(_ result: RunResult) -> [String] {
    scenario.expectations.filter(AcrossSeeds.decides).compactMap { expectation in
      guard let measurement = result.measurements.first(where: { $0.id == expectation.id }) else { return nil }
      let what =
        switch (expectation.kind, measurement.measured) {
        case (_, nil): "was not put to the test"
        case (.metric(let metric), let number?) where expectation.share == nil: "is \(metric.text(of: number))"
        case (_, let number?): number > 0 ? "held" : "did not hold"
        }
      return "\(expectation.text): \(what) in this run"
    }
  }
}
