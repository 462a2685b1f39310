package import CallCore
package import ScenarioFormat
internal import ScenarioJudge
internal import Vocabulary

internal import func Foundation.log10

extension ArmComparison {
  /// Why a run has no value that could be compared.
  package enum Lack: Sendable, Equatable {
    /// Its window opened at clearly another time than in another arm.
    case elsewhere(Instant, than: String, Instant)
    /// It was measured for clearly less of the window than in another arm.
    case short(Interval, than: String, Interval)
    /// Nobody received media, which somebody did in another run.
    case noMedia
    /// In less than half of its samples every other arm has one, too.
    case fewCommonMoments
  }

  /// A number that is compared, and its value in each run.
  package struct Number: Sendable {
    /// What the number is.
    package enum Kind: Sendable, Equatable {
      /// A metric without bounds.
      case metric(Expectation.Metric)
      /// What a scorer says of the speech that a peer heard in a window.
      case score(scorer: String, peer: String, Window)
      /// The share of a processor that all encoders take over the run, or all decoders.
      case processor(Coding)

      init(_ metric: Expectation.Metric) { self = .metric(metric.number) }
    }

    /// The two sides of a codec.
    package enum Coding: String, Sendable, CaseIterable {
      case encoders, decoders
    }

    package let kind: Kind
    /// The direction of improvement; nil if it has none.
    package var better: Expectation.Delta.Better?
    /// The values by arm and seed.
    package var samples: [String: [UInt64: Double]] = [:]
    /// For how long of its window it was measured, by arm and seed.
    var times: [String: [UInt64: Interval]] = [:]
    /// Its samples where they are compared one by one, by arm and seed.
    var moments: [String: [UInt64: [Measurement.Sample]]] = [:]
    /// The share of the samples of a run that were compared, by arm and seed.
    private(set) var commonShares: [String: [UInt64: Double]] = [:]
    /// When its window opened and closed, by arm and seed.
    var openings: [String: [UInt64: Instant]] = [:]
    var closings: [String: [UInt64: Instant]] = [:]
    /// Why runs have no value that could be compared, by arm and seed.
    var lacks: [String: [UInt64: Lack]] = [:]

    package init(kind: Kind, better: Expectation.Delta.Better? = nil) {
      self.kind = kind
      self.better = better
    }

    /// The name without the window: `bob.q.mos mean`, `bob.pesq`.
    package var title: String {
      switch kind {
      case .metric(let metric): "\(metric.value) \(metric.statistic)"
      case .score(let scorer, let peer, _): "\(peer).\(scorer)"
      case .processor(let coding): "\(coding.rawValue), share of a processor of this machine"
      }
    }

    /// The name, such as `bob.q.mos mean [lossy, bye]`.
    package var name: String {
      guard window != Window() else { return title }
      return "\(title) [\(window.from?.text ?? "start"), \(window.to?.text ?? "end")]"
    }

    private var window: Window {
      switch kind {
      case .metric(let metric): metric.window
      case .score(_, _, let window): window
      case .processor: Window()
      }
    }

    /// What the course of the number shows: the value, or the growth of a counter in a second.
    var courseTitle: String {
      guard case .metric(let metric) = kind else { return title }
      return metric.value.counting == nil ? "\(metric.value)" : "\(metric.value) a second"
    }

    /// Returns a value of the course with its unit.
    func courseText(of value: Double) -> String {
      guard case .metric(let metric) = kind else { return text(of: value) }
      return metric.value.counting == nil
        ? Wording.quantity(value, metric.value.type, unit: metric.value.unit)
        : metric.isOfBytes ? Wording.quantity(value * 8, .rate) : Wording.quantity(value, .real)
    }

    /// Returns a value with its unit.
    package func text(of value: Double) -> String {
      switch kind {
      case .metric(let metric): metric.text(of: value)
      case .score: Self.text(ofScore: value)
      case .processor: Wording.quantity(value, .percentage)
      }
    }

    /// Returns a value that is rounded already, with its unit, and with all its digits where that is none or dB.
    func text(ofRounded value: Double) -> String {
      guard Int64(exactly: value) == nil else { return text(of: value) }
      switch kind {
      case .metric(let metric):
        let (type, unit) = metric.statistic.result(of: metric.value)
        return type == .real ? "\(value)" + (unit.map { " \($0)" } ?? "") : text(of: value)
      case .score: return "\(value)"
      case .processor: return text(of: value)
      }
    }

    /// Three decimals, or three digits of what is small: the scale of a score is unknown.
    private static func text(ofScore value: Double) -> String {
      let leading = value == 0 ? 0 : Int(log10(value.magnitude).rounded(.down))
      return Wording.decimal(value, places: min(max(3, 2 - leading), 300))
    }

    /// The values of an arm in the order of the seeds.
    package func values(of arm: String) -> [Double] {
      (samples[arm] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    /// Returns whether two arms have values in the same runs, and these are as good as equal. A longer description delays
    /// what comes after it, on a link with a rate: by its bytes, which is less than a millisecond on most, in every run the same,
    /// and little beside the delay itself.
    func isNearlyEqual(_ first: String, _ second: String) -> Bool {
      let (own, others) = (samples[first] ?? [:], samples[second] ?? [:])
      guard own.count == others.count else { return false }
      let pairs = own.compactMap { seed, value in others[seed].map { (value, $0) } }
      guard pairs.count == own.count else { return false }
      if pairs.allSatisfy({ ($0 - $1).magnitude <= magnitude(of: [$0]) * 1e-4 }) { return true }
      let differences = pairs.map { $0 - $1 }
      guard isOfDelay, let least = differences.min(), let most = differences.max() else { return false }
      return max(least.magnitude, most.magnitude) <= 1e-3 && most - least <= 1e-4
        && pairs.allSatisfy { ($0 - $1).magnitude <= $0.magnitude * 0.02 }
    }

    /// Returns how large values are, to which their rounding and their differences are compared. A timestamp tells the time
    /// of a run, and not the decades since 1970.
    private func magnitude(of values: [Double]) -> Double {
      if case .metric(let metric) = kind, metric.value.isTimestamp { return 1 }
      return values.map(\.magnitude).max() ?? 0
    }

    /// Returns the mean of an arm.
    package func mean(of arm: String, confidence: Double = 0.95) -> MeanEstimate {
      let values = values(of: arm)
      return MeanEstimate(values, confidence: confidence, magnitude: magnitude(of: values))
    }

    /// Returns the mean of differences between two arms.
    func mean(ofDifferences differences: [Double], _ first: String, _ second: String, confidence: Double)
      -> MeanEstimate
    {
      MeanEstimate(
        differences, confidence: confidence, magnitude: magnitude(of: values(of: first) + values(of: second)))
    }

    /// Whether its unit is the second, and a delay of everything shifts it: jitter it does not.
    private var isOfDelay: Bool {
      guard case .metric(let metric) = kind else { return false }
      return metric.statistic.result(of: metric.value).0 == .duration && !metric.value.name.hasSuffix("jitter")
    }

    /// Takes the value of a run away.
    mutating func remove(_ arm: String, _ seed: UInt64, _ lack: Lack) {
      samples[arm]?[seed] = nil
      lacks[arm, default: [:]][seed] = lack
    }

    /// Takes the values of runs with the same seed from the samples of moments at which every arm has one. Of a delay that is
    /// known only of sound that plays, an arm that loses more would otherwise be told by other moments.
    mutating func keepCommonMoments() {
      guard case .metric(let metric) = kind else { return }
      for seed in Set(moments.values.flatMap(\.keys)) {
        let runs = moments.compactMapValues { $0[seed] }.filter { samples[$0.key]?[seed] != nil }
        guard let first = runs.values.first else { continue }
        let common = runs.values.reduce(into: Set(first.map(\.time))) { $0.formIntersection($1.map(\.time)) }
        guard runs.values.allSatisfy({ common.count * 2 >= $0.count }) else {
          for arm in runs.keys { remove(arm, seed, .fewCommonMoments) }
          continue
        }
        for (arm, all) in runs {
          let kept = all.filter { common.contains($0.time) }
          guard let value = metric.statistic.result(of: kept) else { continue }
          samples[arm]?[seed] = value
          commonShares[arm, default: [:]][seed] = Double(kept.count) / Double(all.count)
        }
      }
    }

    /// The smallest share of the samples of a run that were compared; 1 where all were.
    var leastCommonShare: Double { commonShares.values.flatMap(\.values).min() ?? 1 }

    /// Returns why the value of a run cannot be compared with that of another arm and the same seed: it was measured
    /// for clearly less time. Nil if it can be.
    func shortness(_ arm: String, _ seed: UInt64) -> Lack? {
      guard let own = times[arm]?[seed] else { return nil }
      var longest: (arm: String, time: Interval)?
      for (other, times) in times.sorted(by: { $0.key < $1.key }) {
        if let time = times[seed], time > longest?.time ?? own { longest = (other, time) }
      }
      guard let longest, longest.time - own > shortfall(of: longest.time) else { return nil }
      return .short(own, than: longest.arm, longest.time)
    }

    /// By how much less time a run may have been measured for.
    private func shortfall(of time: Interval) -> Interval {
      if growsWithTime { return Self.growthTolerance }
      // Of sound that plays while somebody speaks some arms have less, which lose more.
      if measures(HarnessEvents.mouthToEar.name) { return time / 2 }
      // What is compared with what was said comes by the 2.5 s.
      if SpeechMeter.names.contains(where: measures) { return time / 10 }
      return Self.tolerance(of: time)
    }

    /// Returns why the value of a run cannot be compared with that of another arm and the same seed: its window opened
    /// later, and so tells of another part of the channel. Nil if it can be.
    func shift(_ arm: String, _ seed: UInt64) -> Lack? {
      guard let own = openings[arm]?[seed] else { return nil }
      var first: (arm: String, opened: Instant)?
      for (other, openings) in openings.sorted(by: { $0.key < $1.key }) {
        if let opened = openings[seed], opened < first?.opened ?? own { first = (other, opened) }
      }
      let time = max(times[arm]?[seed] ?? .zero, first.flatMap { times[$0.arm]?[seed] } ?? .zero)
      guard let first, own - first.opened > Self.tolerance(of: time) else { return nil }
      return .elsewhere(own, than: first.arm, first.opened)
    }

    /// Whether the window of a run opened elsewhere than in another arm.
    func isElsewhere(_ arm: String, _ seed: UInt64) -> Bool {
      if case .elsewhere? = lacks[arm]?[seed] { true } else { false }
    }

    /// Whether it is larger where it is measured for longer, as the growth of a counter is.
    private var growsWithTime: Bool {
      guard case .metric(let metric) = kind else { return false }
      return metric.statistic != .rate && (metric.isGrowth || [.sum, .count].contains(metric.statistic))
    }

    /// By how much the times may differ in which something grows: the duration of a packet of audio.
    private static var growthTolerance: Interval { .milliseconds(20) }

    /// By how much the windows of runs with the same seed that are compared opened apart, and differ in length; zero where
    /// they are the same.
    var windowDifference: (opened: Interval, length: Interval) {
      func widest<Value: Comparable>(_ values: [String: [UInt64: Value]], _ distance: (Value, Value) -> Interval)
        -> Interval
      {
        let seeds = Set(values.values.flatMap(\.keys))
        return seeds.map { seed in
          let own = values.compactMap { arm, bySeed in samples[arm]?[seed] == nil ? nil : bySeed[seed] }
          return own.min().flatMap { low in own.max().map { distance(low, $0) } } ?? .zero
        }.max() ?? .zero
      }
      // Common moments are as many in every arm.
      return (widest(openings) { $1 - $0 }, moments.isEmpty ? widest(times) { $1 - $0 } : .zero)
    }

    /// By how much windows of a length may differ: by a tenth, a second at most, and the time between two samples at least.
    private static func tolerance(of time: Interval) -> Interval {
      min(.seconds(1), max(StatsSampler.period, time / 10))
    }

    /// Adds the runs of other seeds.
    mutating func merge(_ other: Number) {
      for (arm, values) in other.samples { samples[arm, default: [:]].merge(values) { old, _ in old } }
      for (arm, values) in other.times { times[arm, default: [:]].merge(values) { old, _ in old } }
      for (arm, values) in other.openings { openings[arm, default: [:]].merge(values) { old, _ in old } }
      for (arm, values) in other.closings { closings[arm, default: [:]].merge(values) { old, _ in old } }
      for (arm, values) in other.moments { moments[arm, default: [:]].merge(values) { old, _ in old } }
      for (arm, values) in other.commonShares { commonShares[arm, default: [:]].merge(values) { old, _ in old } }
      for (arm, values) in other.lacks { lacks[arm, default: [:]].merge(values) { old, _ in old } }
    }

    /// Whether any run has a value.
    var hasSamples: Bool { samples.values.contains { !$0.isEmpty } }

    /// Whether it is a number of the scenario.
    var isMetric: Bool { if case .metric = kind { true } else { false } }

    /// Whether it is a value of a scenario with this name, such as `q.mos`.
    func measures(_ name: String) -> Bool {
      if case .metric(let metric) = kind { metric.value.name == name } else { false }
    }

    /// Whether it was measured on this machine, and decides nothing.
    var isOfThisMachine: Bool { if case .processor = kind { true } else { false } }

    /// Whether it is what an arm costs on the wire.
    var isCost: Bool {
      guard case .metric(let metric) = kind else { return false }
      let name = metric.value.name
      return name.hasPrefix("wire.")
        || ["ytesSent", "ytesReceived", "acketsSent", "acketsReceived"].contains(where: name.hasSuffix)
    }

    /// Whether it is of what peers send to one another, and nothing was in any run: a server forwards it.
    var isNothingOnTheWire: Bool {
      guard case .metric(let metric) = kind, let quantity = metric.value.wire, quantity.from != nil,
        quantity.to != nil, quantity.kind != .cleartext
      else { return false }
      return hasSamples && samples.values.allSatisfy { $0.values.allSatisfy { $0 == 0 } }
    }

    /// Whether arms can be better or worse in it.
    var isJudged: Bool { better != nil && !isOfThisMachine }

    /// Whether it is what an arm gains or loses.
    var isScore: Bool { better != nil && !isCost }
  }
}
