internal import CallCore
package import ScenarioFormat
package import ScenarioJudge
package import ScenarioRun
internal import Vocabulary

/// The results of all arms at one point of the matrix, judged together: whether they met the same channel, and the
/// expected differences.
package struct ArmLedger {
  /// The comparison so far; nil before the first run of an arm.
  package private(set) var comparison: ArmComparison?
  private var isConclusive = true
  /// The arms of which every seed was run.
  private var completeArms: Set<String> = []

  package init() {}

  /// Adds a run; runs without arms are ignored.
  package mutating func add(_ result: RunResult, of entry: SuitePlan.Entry) {
    guard let arms = entry.cell.scenario.arms else { return }
    if comparison == nil { comparison = ArmComparison(entry, arms) }
    comparison?.add(result, of: entry.cell)
    if [.inconclusive, .timeout, .skipped].contains(result.verdict) { isConclusive = false }
    if entry.isComplete { completeArms.insert(arms.own) }
  }

  /// Notes a run that was never made.
  package mutating func addNotRun() { isConclusive = false }

  /// The end of a point.
  package struct Closing {
    /// The judgement; nil without arms, or if not all of them ran.
    package var run: ReportedRun?
    /// The number of expected differences that were not judged.
    package var notJudged = 0
    /// What was compared; nil without arms.
    package var comparison: ArmComparison?
  }

  /// Ends a point of the matrix and judges its arms together.
  package mutating func close(overrides: [ScenarioOverride]) -> Closing {
    defer { self = ArmLedger() }
    guard let comparison else { return Closing() }
    var closing = Closing(comparison: comparison)
    guard isConclusive, comparison.arms.names.allSatisfy(completeArms.contains) else {
      closing.notJudged = comparison.deltas.count
      return closing
    }
    closing.run = comparison.judgement(overrides: overrides)
    return closing
  }
}

extension ArmComparison {
  /// What is wrong with the comparison: arms that met different channels, and expected differences that are not there.
  package var findings: [Finding] {
    Finding.byGravity(channelFindings + deltas.compactMap { finding($0) })
  }

  private var channelFindings: [Finding] {
    guard arms.pairing == .channel, let difference = channelDifference else { return [] }
    return [
      Finding(
        .vacuous, "every arm meets the same channel", location: path,
        expected: "the same settings and states of all links at the same virtual time",
        actual: "with seed \(difference.seed) '\(difference.arm)' and '\(arms.baseline)' differ from second "
          + "\(difference.second) on; give faults of links times with 'at', not after events of a call, or write "
          + "pair_by: seed", time: .zero, signature: FindingSignature("arms channel"))
    ]
  }

  private func finding(_ expectation: Expectation) -> Finding? {
    guard let delta = expectation.delta, let estimate = estimate(of: delta) else { return nil }
    let place =
      expectation.span == .builtIn
      ? nil : "\(path):\(expectation.span.line):\(expectation.span.column)"
    var kind = Finding.Kind.expectation
    let actual: String
    if let interval = estimate.interval {
      let ends = [interval.lowerBound, interval.upperBound]
      guard !delta.bounds.allSatisfy({ bound in ends.allSatisfy(bound.admits) }) else { return nil }
      let text = ends.map(delta.metric.text(of:)).joined(separator: " to ")
      actual =
        "\(delta.metric.text(of: estimate.mean)) on average, and \(text) with "
        + "\(Wording.quantity(delta.confidence, .percentage)) confidence "
        + "(\(Wording.count(estimate.count, "pair")), paired t)"
    } else {
      kind = .vacuous
      actual =
        "\(Wording.count(estimate.count, "pair")) of runs give no interval; run at least "
        + "\(MeanEstimate.leastCount) seeds: seeds: { count: 20 }"
    }
    if expectation.severity == .warn { kind = .warning }
    return Finding(
      kind, expectation.text, location: place, expected: "\(delta)", actual: actual, time: .zero, why: expectation.why,
      signature: FindingSignature(expectation.checkID))
  }
}
