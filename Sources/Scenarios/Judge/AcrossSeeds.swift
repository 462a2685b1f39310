internal import CallCore
internal import VirtualPeer

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
}
