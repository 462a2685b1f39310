package import ScenarioFormat
package import ScenarioJudge
package import ScenarioRun

/// The runs of all arms at one point of the matrix, and what they measured.
package struct ArmComparison: Sendable {
  /// A run of one arm.
  package struct Run: Sendable {
    package let arm: String
    package let seed: UInt64
    package let verdict: Verdict
    /// The hashes of the channel's states, one for each second.
    package let channel: [UInt64]
    package let cpuSeconds: Double
  }

  /// A number that is compared, and its value in each run.
  package struct Number: Sendable {
    /// The number, without bounds.
    package let metric: Expectation.Metric
    /// The direction of improvement; nil if it has none.
    package var better: Expectation.Delta.Better?
    /// The values by arm and seed.
    package var samples: [String: [UInt64: Double]] = [:]

    /// The name, such as `bob.q.mos mean`.
    package var name: String {
      guard metric.window != Window() else { return "\(metric.value) \(metric.statistic)" }
      let ends = [metric.window.from?.text ?? "start", metric.window.to?.text ?? "end"]
      return "\(metric.value) \(metric.statistic) [\(ends.joined(separator: ", "))]"
    }
  }

  /// The id of the cells without the arm: `id[loss=5%]`.
  package var id: String { entry.cell.pointID }
  package var path: String { entry.path }
  package var title: String? { entry.title }
  package var why: String? { entry.cell.scenario.why }
  package var scenarioID: String { entry.cell.scenario.id }
  /// The variables of the matrix, without the arm.
  package var assignments: [(variable: String, value: String)] { entry.cell.pointAssignments }
  package let arms: Scenario.Arms
  /// The first arm of the point.
  private let entry: SuitePlan.Entry
  package private(set) var runs: [Run] = []
  package internal(set) var numbers: [Number] = []
  /// The expected differences.
  package private(set) var deltas: [Expectation] = []

  package init(_ entry: SuitePlan.Entry, _ arms: Scenario.Arms) {
    self.entry = entry
    self.arms = arms
  }

  /// Adds a run of one arm.
  package mutating func add(_ result: RunResult, of cell: Cell) {
    guard let arm = cell.scenario.arms?.own else { return }
    runs.append(
      Run(
        arm: arm, seed: result.seed, verdict: result.verdict, channel: result.channel, cpuSeconds: result.cpuSeconds))
    // Measures first: a difference that has a condition is not expected at every point.
    let expectations = cell.scenario.expectations.filter(\.isDelta)
    for expectation in expectations.filter(\.isMeasure) + expectations.filter({ !$0.isMeasure }) {
      guard let delta = expectation.delta else { continue }
      if !delta.isMeasure, !deltas.contains(where: { $0.id == expectation.id }) { deltas.append(expectation) }
      let index = index(of: delta)
      guard let number = result.measurements.first(where: { $0.id == expectation.id })?.measured else { continue }
      numbers[index].samples[arm, default: [:]][result.seed] = number
    }
  }

  /// Adds the runs of the same point with other seeds.
  package mutating func merge(_ other: ArmComparison) {
    runs += other.runs
    for delta in other.deltas where !deltas.contains(where: { $0.id == delta.id }) { deltas.append(delta) }
    for number in other.numbers {
      guard let index = numbers.firstIndex(where: { $0.metric.isSame(as: number.metric) }) else {
        numbers.append(number)
        continue
      }
      for (arm, values) in number.samples {
        numbers[index].samples[arm, default: [:]].merge(values) { old, _ in old }
      }
    }
  }

  /// Whether every expected difference with a precision has it.
  package var isPrecise: Bool {
    deltas.compactMap(\.delta).allSatisfy { delta in
      guard let precision = delta.precision?.number, let estimate = estimate(of: delta) else { return true }
      return estimate.halfWidth.map { $0 <= precision } ?? false
    }
  }

  /// Whether some expected difference says how precise it must be.
  package var asksPrecision: Bool {
    deltas.contains { $0.delta?.precision != nil }
  }

  private mutating func index(of delta: Expectation.Delta) -> Int {
    let better = delta.better ?? delta.metric.usualBetter
    if let index = numbers.firstIndex(where: { $0.metric.isSame(as: delta.metric) }) {
      numbers[index].better = delta.better ?? numbers[index].better
      return index
    }
    var metric = delta.metric
    metric.bounds = []
    numbers.append(Number(metric: metric, better: better))
    return numbers.count - 1
  }

  /// Returns the mean of an expected difference; nil for a number that is only shown.
  func estimate(of delta: Expectation.Delta) -> MeanEstimate? {
    guard delta.arms.count == 2, let number = numbers.first(where: { $0.metric.isSame(as: delta.metric) }) else {
      return nil
    }
    return difference(number, delta.arms[0].value, minus: delta.arms[1].value, confidence: delta.confidence)
  }

  /// The seeds of all runs, sorted.
  package var seeds: [UInt64] { Set(runs.map(\.seed)).sorted() }

  /// Returns the judgement over all arms: whether they met the same channel, and the expected differences.
  package func judgement(overrides: [ScenarioOverride]) -> ReportedRun {
    entry.judgement(findings, of: id, seed: seeds.first ?? 1, overrides: overrides)
  }

  // MARK: - The channel

  /// The first run that met another channel than the baseline's run of the same seed.
  package struct ChannelDifference: Equatable, Sendable {
    package let arm: String
    package let seed: UInt64
    /// The second from which on the channels differ.
    package let second: Int
  }

  /// Returns the first difference between the channels of two arms with the same seed; nil if there is none.
  package var channelDifference: ChannelDifference? {
    for seed in seeds {
      let mine = runs.filter { $0.seed == seed }
      guard let base = mine.first(where: { $0.arm == arms.baseline }) ?? mine.first else { continue }
      for run in mine {
        let second = zip(run.channel, base.channel).enumerated().first { $1.0 != $1.1 }?.offset
        if let second { return ChannelDifference(arm: run.arm, seed: seed, second: second) }
      }
    }
    return nil
  }

  /// The hash over the channels of all seeds, as far as all arms saw them.
  package var channelHash: UInt64 {
    var hash: UInt64 = 0
    for seed in seeds {
      let channels = runs.filter { $0.seed == seed }.map(\.channel)
      guard let length = channels.map(\.count).min(), length > 0, let first = channels.first else { continue }
      hash = (hash ^ first[length - 1]) &* 0x100_0000_01B3
    }
    return hash
  }

  // MARK: - Differences

  /// Returns the number in one arm minus that in another, run by run.
  package func differences(_ number: Number, _ first: String, minus second: String) -> [Double] {
    guard let a = number.samples[first], let b = number.samples[second] else { return [] }
    return a.keys.sorted().compactMap { seed in b[seed].map { a[seed, default: 0] - $0 } }
  }

  /// Returns the mean difference of a number between two arms.
  package func difference(
    _ number: Number, _ first: String, minus second: String, confidence: Double = 0.95
  ) -> MeanEstimate {
    MeanEstimate(differences(number, first, minus: second), confidence: confidence)
  }

  /// Returns the arms that no other arm beats: for each of the others, one that is better in some number and worse in
  /// none, by intervals that do not contain zero.
  package var undominated: [String] {
    let judged = numbers.filter { $0.better != nil }
    return arms.names.filter { arm in
      !arms.names.contains { other in
        let signs = judged.map { number in
          difference(number, other, minus: arm).sign * (number.better == .higher ? 1 : -1)
        }
        return other != arm && signs.contains(1) && !signs.contains(-1)
      }
    }
  }
}

extension Cell {
  /// The variables of the matrix, without the arm.
  fileprivate var pointAssignments: [(variable: String, value: String)] {
    assignments.filter { $0.variable != Scenario.Arms.variable }
  }

  /// The id without the arm: the point of the matrix that all arms share. No other scenario has it.
  package var pointID: String {
    var point = self
    point.assignments = pointAssignments
    return point.id
  }
}

extension Expectation.Metric {
  fileprivate func isSame(as other: Expectation.Metric) -> Bool {
    value == other.value && statistic == other.statistic && window == other.window
  }

  /// The direction of improvement that follows from the meaning of the value; nil if it has none.
  fileprivate var usualBetter: Expectation.Delta.Better? {
    let name = value.name
    if Self.higher.contains(where: name.hasSuffix) { return .higher }
    return Self.lower.contains(where: name.hasSuffix) ? .lower : nil
  }

  private static let higher = [
    "mos", "stoi", "psnr", "ssim", "framesDecoded", "framesPerSecond", "availableOutgoingBitrate", "messagesReceived",
  ]
  private static let lower = [
    "concealment", "lsd", "mouth_to_ear", "frame_delay", "packetsLost", "bytesSent", "packetsSent", "concealedSamples",
    "concealmentEvents", "freezeCount", "totalFreezesDuration", "framesDropped", "roundTripTime", "jitter",
    "totalRoundTripTime", "fractionLost", "pliCount", "nackCount", "retransmittedBytesSent",
  ]
}
