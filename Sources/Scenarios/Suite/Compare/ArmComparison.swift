package import CallCore
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
    /// The hashes of the channel's states, one for each ``RunResult/channelPeriod`` and one for the rest.
    package let channel: [UInt64]
    package let duration: Interval
    package let cpuSeconds: Double
    package let traceHash: UInt64
    package let eventCount: UInt64
    /// Whether any peer received media.
    package let isMediaReceived: Bool
    /// A hash over the sound and the pictures that devices had to encode.
    package let material: UInt64?
    /// Who heard and saw whom, and when.
    package let receptions: Receptions
    /// When each action was first performed, and each recording began to play.
    package let deeds: [String: Instant]
    /// The sizes of the pictures that each camera took, in order.
    package let pictureSizes: [String: [String]]
    /// How sound was sent over each connection.
    package let audioFormats: [String: [String]]
    /// What the peer of each connection prefers, and in which nothing was sent, in words.
    package let untakenFormats: [String: [String]]
    /// The checks of which the run has a finding, warnings apart.
    package let failures: [String]
    package let warnings: [String]
  }

  /// The id of the cells without the arm: `id[loss=5%]`.
  package var id: String { entry.cell.pointID }
  package var path: String { entry.path }
  package var title: String? { entry.title }
  package var why: String? { entry.cell.scenario.why }
  package var scenarioID: String { entry.cell.scenario.id }
  var hasRealMedia: Bool { entry.cell.scenario.media == .real }
  /// The variables of the matrix, without the arm.
  package var assignments: [(variable: String, value: String)] { entry.cell.pointAssignments }
  package private(set) var arms: Scenario.Arms
  /// The first arm of the point.
  private let entry: SuitePlan.Entry
  package private(set) var runs: [Run] = []
  package internal(set) var numbers: [Number] = []
  /// The course of the runs with the first seed.
  package private(set) var timeline: CompareTimeline?
  /// The names of the scorers that score pictures.
  private(set) var pictureScorers: Set<String> = []
  /// Who received less of whom in an arm than in another, in the order of the arms.
  private(set) var deprived: [Deprived] = []
  /// What Opus packets carry, by arm.
  private var sent: [String: [SentOpus]] = [:]
  /// The seeds of the runs that a scorer gave no score.
  private var unscored: [UnscoredRuns: [UInt64]] = [:]
  /// The expected differences.
  package private(set) var deltas: [Expectation] = []
  /// The numbers that the file asks for.
  package private(set) var measures: [Expectation] = []

  package init(_ entry: SuitePlan.Entry, _ arms: Scenario.Arms) {
    self.entry = entry
    self.arms = arms
  }

  /// Adds a run of one arm.
  package mutating func add(_ result: RunResult, of cell: Cell) {
    guard let arm = cell.scenario.arms?.own else { return }
    defer {
      addScores(result, arm, cell.scenario.measuredWindow)
      add(result.sentOpus, of: arm)
      add(result.codecLoad, of: arm, seed: result.seed)
    }
    runs.append(
      Run(
        arm: arm, seed: result.seed, verdict: result.verdict, channel: result.channel, duration: result.virtualDuration,
        cpuSeconds: result.cpuSeconds,
        traceHash: result.traceHash, eventCount: result.eventCount, isMediaReceived: result.isMediaReceived,
        material: result.material,
        receptions: result.receptions, deeds: result.deeds, pictureSizes: result.pictureSizes,
        audioFormats: result.audioFormats, untakenFormats: result.untakenFormats,
        failures: result.findings.filter { $0.kind != .warning }.map(\.title).inOrderOfAppearance,
        warnings: result.findings.filter { $0.kind == .warning }.map(\.title).inOrderOfAppearance))
    // Measures first: a difference that has a condition is not expected at every point.
    let expectations = cell.scenario.expectations.filter(\.isDelta)
    for expectation in expectations.filter(\.isMeasure) + expectations.filter({ !$0.isMeasure }) {
      guard let delta = expectation.delta else { continue }
      if delta.isMeasure {
        if expectation.span != .builtIn { measures.appendNew(expectation) }
      } else {
        deltas.appendNew(expectation)
      }
      let index = index(of: delta)
      guard let measurement = result.measurements.first(where: { $0.id == expectation.id }) else { continue }
      note(measurement.course, of: index, result, arm)
      if let number = measurement.measured { numbers[index].samples[arm, default: [:]][result.seed] = number }
      if let opened = measurement.opened { numbers[index].openings[arm, default: [:]][result.seed] = opened }
      if let closed = measurement.closed { numbers[index].closings[arm, default: [:]][result.seed] = closed }
      if let time = measurement.time { numbers[index].times[arm, default: [:]][result.seed] = time }
      if !measurement.samples.isEmpty { numbers[index].moments[arm, default: [:]][result.seed] = measurement.samples }
    }
  }

  /// Keeps the course of a number in a run of the first seed.
  private mutating func note(_ course: ThinnedSeries?, of number: Int, _ result: RunResult, _ arm: String) {
    if timeline == nil { timeline = CompareTimeline(seed: result.seed) }
    guard timeline?.seed == result.seed else { return }
    timeline?.drops[arm] = result.drops
    if let course, !course.points.isEmpty { timeline?.courses[numbers[number].courseTitle, default: [:]][arm] = course }
  }

  private mutating func add(_ others: [SentOpus], of arm: String) {
    var all = sent[arm] ?? []
    for other in others {
      if let index = all.firstIndex(where: { $0.peer == other.peer }) {
        all[index].add(other)
      } else {
        all.append(other)
      }
    }
    sent[arm] = all
  }

  /// Returns what the Opus packets of each peer carry in all runs of an arm.
  func sentOpus(of arm: String) -> [SentOpus] { sent[arm] ?? [] }

  private mutating func addScores(_ result: RunResult, _ arm: String, _ window: Window) {
    for score in result.scores {
      if score.isOfPictures { pictureScorers.insert(score.scorer) }
      let kind = Number.Kind.score(scorer: score.scorer, peer: score.peer, window)
      if let problem = score.problem {
        let place = UnscoredRuns(scorer: score.scorer, peer: score.peer, arm: arm, problem: problem)
        unscored[place, default: []].append(result.seed)
      }
      if let value = score.value {
        add(value, to: kind, better: .higher, of: arm, seed: result.seed)
        guard let index = numbers.firstIndex(where: { $0.kind == kind }) else { continue }
        if let time = score.time { numbers[index].times[arm, default: [:]][result.seed] = time }
        if let opened = score.opened { numbers[index].openings[arm, default: [:]][result.seed] = opened }
        if let closed = score.closed { numbers[index].closings[arm, default: [:]][result.seed] = closed }
      }
    }
  }

  private mutating func add(_ load: RunResult.CodecLoad?, of arm: String, seed: UInt64) {
    guard let load else { return }
    // Without a direction: what this machine needs decides about no arm.
    add(load.encoding, to: .processor(.encoders), of: arm, seed: seed)
    add(load.decoding, to: .processor(.decoders), of: arm, seed: seed)
  }

  private mutating func add(
    _ value: Double, to kind: Number.Kind, better: Expectation.Delta.Better? = nil, of arm: String, seed: UInt64
  ) {
    let index = numbers.firstIndex { $0.kind == kind } ?? numbers.count
    if index == numbers.count { numbers.append(Number(kind: kind, better: better)) }
    numbers[index].samples[arm, default: [:]][seed] = value
  }

  /// Adds the runs of the same point with other seeds.
  package mutating func merge(_ other: ArmComparison) {
    runs += other.runs
    for delta in other.deltas { deltas.appendNew(delta) }
    for measure in other.measures { measures.appendNew(measure) }
    for (arm, more) in other.sent { add(more, of: arm) }
    pictureScorers.formUnion(other.pictureScorers)
    if let first = other.timeline, first.seed < timeline?.seed ?? .max { timeline = first }
    unscored.merge(other.unscored, uniquingKeysWith: +)
    for number in other.numbers {
      guard let index = numbers.firstIndex(where: { $0.kind == number.kind }) else {
        numbers.append(number)
        continue
      }
      numbers[index].merge(number)
    }
    settle()
  }

  /// Whether some peer is a program.
  var hasProgram: Bool { entry.cell.scenario.peers.contains { $0.stack == .external } }

  /// Whether some run received media.
  var isMediaReceived: Bool { runs.contains(where: \.isMediaReceived) }

  /// Takes the values away that cannot be compared with those of other arms: of runs in which nobody received media, of
  /// those whose window lies elsewhere, and of those that could be measured for clearly less time; and finds who received less
  /// than in another arm. Call it after the last run.
  mutating func settle() {
    let isMediaReceived = isMediaReceived
    for index in numbers.indices {
      if isOfOtherSizes(numbers[index]) { numbers[index].better = nil }
      for run in runs where numbers[index].samples[run.arm]?[run.seed] != nil {
        let lack =
          isMediaReceived && !run.isMediaReceived
          ? .noMedia : numbers[index].shift(run.arm, run.seed) ?? numbers[index].shortness(run.arm, run.seed)
        if let lack { numbers[index].remove(run.arm, run.seed, lack) }
      }
      numbers[index].keepCommonMoments()
    }
    deprived = findDeprived()
  }

  /// Whether every expected difference with a precision has it. Differences that are all equal never have: few runs
  /// cannot tell a number that never changes from one that seldom does.
  package var isPrecise: Bool {
    deltas.compactMap(\.delta).allSatisfy { delta in
      guard let precision = delta.precision?.number, let estimate = estimate(of: delta) else { return true }
      return estimate.deviation > 0 && estimate.halfWidth.map { $0 <= precision } ?? false
    }
  }

  /// Whether some expected difference says how precise it must be.
  package var asksPrecision: Bool {
    deltas.contains { $0.delta?.precision != nil }
  }

  private mutating func index(of delta: Expectation.Delta) -> Int {
    let better = delta.better ?? delta.metric.usualBetter
    let kind = Number.Kind(delta.metric)
    if let index = numbers.firstIndex(where: { $0.kind == kind }) {
      numbers[index].better = delta.better ?? numbers[index].better
      return index
    }
    numbers.append(Number(kind: kind, better: better))
    return numbers.count - 1
  }

  // MARK: Scores

  /// Why some runs of an arm have no score.
  private struct UnscoredRuns: Hashable {
    var scorer, peer, arm, problem: String
  }

  /// What a scorer did not score, in words, sorted; nothing of peers to whom nobody speaks in any run.
  package var unscoredTexts: [String] {
    unscored.filter { place, _ in
      !Self.unaddressed.contains(place.problem) || isAddressed(place.peer, place.scorer)
    }.map { place, seeds in
      "\(place.scorer) scored nothing of \(place.peer) in '\(place.arm)', "
        + "seed\(seeds.count == 1 ? "" : "s") \(SuiteHeader.ranges(seeds.sorted())): \(place.problem)"
    }.sorted()
  }

  /// The problems of peers to whom nobody speaks, and whom nobody films.
  private static let unaddressed = [HeardSpeech.silence, SeenPictures.nothing]

  private func isAddressed(_ peer: String, _ scorer: String) -> Bool {
    numbers.contains { if case .score(scorer, peer, _) = $0.kind { true } else { false } }
      || unscored.keys.contains {
        $0.peer == peer && $0.scorer == scorer && !Self.unaddressed.contains($0.problem)
      }
  }

  /// Whether any run has a score of a scorer.
  package func hasScores(of name: String) -> Bool {
    numbers.contains { if case .score(name, _, _) = $0.kind { true } else { false } }
  }

  /// Returns the mean of an expected difference; nil for a number that is only shown.
  func estimate(of delta: Expectation.Delta) -> MeanEstimate? {
    guard delta.arms.count == 2, let number = numbers.first(where: { $0.kind == .init(delta.metric) }) else {
      return nil
    }
    return difference(number, delta.arms[0].value, minus: delta.arms[1].value, confidence: delta.confidence)
  }

  /// Makes another arm the one that the others are compared with; false if there is no such arm.
  package mutating func setBaseline(_ name: String) -> Bool {
    guard arms.names.contains(name) else { return false }
    arms.baseline = name
    return true
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

  /// Whether runs of different arms with the same seed can be compared.
  package var isPaired: Bool { arms.pairing == .seed || channelDifference == nil }

  /// Returns the first difference between the channels of two arms with the same seed; nil if there is none.
  package var channelDifference: ChannelDifference? {
    for seed in seeds {
      let mine = runs.filter { $0.seed == seed }
      guard let base = mine.first(where: { $0.arm == arms.baseline }) ?? mine.first else { continue }
      for run in mine {
        let index = zip(run.channel, base.channel).prefix(Self.commonCount([run, base])).enumerated()
          .first { $1.0 != $1.1 }?.offset
        guard let index else { continue }
        let second = Int((RunResult.channelPeriod * Int64(index)).seconds)
        return ChannelDifference(arm: run.arm, seed: seed, second: second)
      }
    }
    return nil
  }

  /// Returns how many hashes of runs tell of the same time: without the last one where they end at different times.
  private static func commonCount(_ runs: [Run]) -> Int {
    let count = runs.map(\.channel.count).min() ?? 0
    return Set(runs.map(\.duration)).count == 1 ? count : max(0, count - 1)
  }

  /// The hash over the channels of all seeds, as far as all arms saw them.
  package var channelHash: UInt64 {
    var hash: UInt64 = 0
    for seed in seeds {
      let mine = runs.filter { $0.seed == seed }
      let count = Self.commonCount(mine)
      guard count > 0, let first = mine.first else { continue }
      hash = (hash ^ first.channel[count - 1]) &* 0x100_0000_01B3
    }
    return hash
  }

  // MARK: - Differences

  /// Returns the number in one arm minus that in another, run by run; zero where they are as good as equal in all runs.
  package func differences(_ number: Number, _ first: String, minus second: String) -> [Double] {
    guard let a = number.samples[first], let b = number.samples[second] else { return [] }
    if number.isNearlyEqual(first, second) { return a.map { _ in 0 } }
    return a.keys.sorted().compactMap { seed in b[seed].map { a[seed, default: 0] - $0 } }
  }

  /// Returns the mean difference of a number between two arms.
  package func difference(
    _ number: Number, _ first: String, minus second: String, confidence: Double = 0.95
  ) -> MeanEstimate {
    number.mean(ofDifferences: differences(number, first, minus: second), first, second, confidence: confidence)
  }
}

extension [Expectation] {
  /// Appends an expectation unless one with its id is there.
  fileprivate mutating func appendNew(_ expectation: Expectation) {
    if !contains(where: { $0.id == expectation.id }) { append(expectation) }
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
