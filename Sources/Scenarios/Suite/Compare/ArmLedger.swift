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
    guard var comparison else { return Closing() }
    comparison.settle()
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
    let unpaired = channelFindings
    // Without pairs, a difference says nothing.
    return unpaired.isEmpty ? Finding.byGravity(emptyMeasures + deltas.flatMap(findings)) : unpaired
  }

  /// Numbers of the file that no run of any arm has.
  private var emptyMeasures: [Finding] {
    measures.compactMap { measure in
      numbers.first { $0.kind == measure.delta.map { .init($0.metric) } && !$0.hasSamples }.map { (measure, $0.name) }
    }.map { measure, name in
      let reasons = gaps.filter { $0.number == name && $0.reason != nil }.map { ": \($0.text)" }
      return Finding(
        .vacuous, measure.text, location: measure.place(in: path), expected: "some run has a value of it",
        actual: "no run of any arm has one at \(id)\(reasons.first ?? "")", time: .zero,
        signature: FindingSignature(measure.checkID))
    }
  }

  private var channelFindings: [Finding] {
    guard arms.pairing == .channel, let difference = channelDifference else { return [] }
    return [
      Finding(
        .vacuous, "every arm meets the same channel", location: path,
        expected: "the same settings and states of all links, and the same faults, at the same virtual time",
        actual: "with seed \(difference.seed) '\(difference.arm)' and '\(arms.baseline)' differ from second "
          + "\(difference.second) on; let arms change no network, give faults times with 'at' and not after events of a call, "
          + "or write pair_by: seed", time: .zero, signature: FindingSignature("arms channel"))
    ]
  }

  private func findings(_ expectation: Expectation) -> [Finding] {
    guard let delta = expectation.delta, let estimate = estimate(of: delta) else { return [] }
    let finding = { (kind: Finding.Kind, expected: String, actual: String) in
      Finding(
        expectation.severity == .warn ? .warning : kind, expectation.text, location: expectation.place(in: path),
        expected: expected, actual: actual, time: .zero, why: expectation.why,
        signature: FindingSignature(expectation.checkID))
    }
    if let reason = idleness(delta) ?? incomparable(delta) { return [finding(.vacuous, "\(delta)", reason)] }
    guard let interval = estimate.interval, let halfWidth = estimate.halfWidth, reasoned(delta).isEmpty else {
      return [finding(.vacuous, "\(delta)", lack(of: delta, estimate))]
    }
    var found: [Finding] = []
    let pairs = Wording.count(estimate.count, "pair")
    let ends = [interval.lowerBound, interval.upperBound]
    if !delta.bounds.allSatisfy(estimate.meets) {
      let text = ends.map(delta.metric.text(of:)).joined(separator: " to ")
      let confidence = Wording.quantity(delta.confidence, .percentage)
      found.append(
        finding(
          .expectation, "\(delta)",
          "\(delta.metric.text(of: estimate.mean)) on average, and \(text) with \(confidence) confidence "
            + "(\(pairs), paired t)"))
    }
    if let precision = delta.precision?.number, halfWidth > precision {
      found.append(
        finding(
          .expectation,
          "half the interval of \(delta.metric.statistic) of \(delta.metric.value), "
            + "\(delta.arms.map(\.value).joined(separator: " minus ")), is at most \(delta.metric.text(of: precision))",
          "\(delta.metric.text(of: halfWidth)) after \(pairs); \(Self.remedy(estimate.count, halfWidth, precision))"))
    }
    return found
  }

  /// Returns why the arms of a difference are as good as one; nil if they are not.
  private func idleness(_ delta: Expectation.Delta) -> String? {
    guard let first = delta.arms.first?.value, let second = delta.arms.last?.value else { return nil }
    return likeness(first, second).map { likeness in
      switch likeness {
      case .events: "the runs of '\(first)' equal those of '\(second)' event by event"
      case .numbers:
        "every number that is compared is equal in every run of '\(first)' and '\(second)': nobody took what they set apart, or it changes none of them"
      case .sound:
        "sound is sent alike in every run of '\(first)' and '\(second)': the other side does not take what sets them apart"
      }
    }
  }

  /// Returns why what peers see and hear leaves nothing to be compared in a number of two arms; nil if it does.
  private func incomparable(_ delta: Expectation.Delta) -> String? {
    guard let number = numbers.first(where: { $0.kind == .init(delta.metric) }) else { return nil }
    if isOfOtherSizes(number) {
      return "pictures are laid beside those of their own camera, and cameras take other sizes in other arms"
    }
    if number.isNothingOnTheWire {
      return
        "nothing was carried in any run: media that a server forwards go from one peer to it, and from it to the other"
    }
    return deprived.first { deprived in
      deprived.isScanty && delta.arms.contains { $0.value == deprived.arm }
        && profits(deprived, from: number, delta)
    }?.text
  }

  /// Whether an arm that gave somebody little of one of the others would pass for as good or better, in a cost or in what that
  /// receiver sees and hears.
  private func profits(_ deprived: Deprived, from number: Number, _ delta: Expectation.Delta) -> Bool {
    guard number.isCost || ConnectionSubject.owner(of: delta.metric.value.subject) == deprived.pair.receiver else {
      return false
    }
    guard let estimate = estimate(of: delta) else { return number.isCost }
    if !delta.bounds.isEmpty, delta.bounds.allSatisfy({ $0.admits(0) && estimate.meets($0) }) { return true }
    let more = deprived.arm == delta.arms[0].value ? estimate.mean : -estimate.mean
    guard !number.isCost else { return more <= 0 }
    guard let better = number.better else { return false }
    return more != 0 && (more > 0) == (better == .higher)
  }

  /// Returns how many seeds it takes about: half the width of an interval falls with the root of their number.
  private static func remedy(_ count: Int, _ halfWidth: Double, _ precision: Double) -> String {
    let needed = Double(count) * (halfWidth / precision) * (halfWidth / precision)
    guard needed <= 100_000 else { return "so many seeds would take too long: ask for less precision" }
    return "give more seeds: seeds: { count: \(Int(needed.rounded(.up))) }"
  }

  /// The gaps of the two arms of a difference whose values were left out for a reason: without those runs it would be
  /// one of the others alone.
  private func reasoned(_ delta: Expectation.Delta) -> [Gap] {
    guard let name = numbers.first(where: { $0.kind == .init(delta.metric) })?.name else { return [] }
    return gaps.filter { gap in
      gap.reason != nil && gap.concerns(name) && delta.arms.contains { $0.value == gap.arm }
    }
  }

  /// Why a difference has no interval, or none of all runs.
  private func lack(of delta: Expectation.Delta, _ estimate: MeanEstimate) -> String {
    let number = numbers.first { $0.kind == .init(delta.metric) }
    let reasons = reasoned(delta)
    guard reasons.isEmpty else { return reasons.map(\.text).joined(separator: ", ") }
    let empty = delta.arms.map(\.value).filter { number?.values(of: $0).isEmpty ?? true }
    guard empty.isEmpty else {
      return "no run of \(empty.map { "'\($0)'" }.joined(separator: " and of ")) has a value of \(delta.metric.value)"
    }
    let gaps = gaps.filter { gap in number.map { gap.concerns($0.name) } ?? false }
    guard gaps.isEmpty else {
      return "\(Wording.count(estimate.count, "pair")) of runs \(estimate.count == 1 ? "gives" : "give") no interval: "
        + gaps.map(\.text).joined(separator: ", ")
    }
    return
      "\(Wording.count(estimate.count, "pair")) of runs \(estimate.count == 1 ? "gives" : "give") no interval; run at least "
      + "\(MeanEstimate.leastCount) seeds: seeds: { count: 20 }"
  }
}

extension Expectation {
  /// The place in a file, as `path:line:column`; nil for what is built in.
  fileprivate func place(in path: String) -> String? {
    span == .builtIn ? nil : "\(path):\(span.line):\(span.column)"
  }
}
