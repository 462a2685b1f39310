internal import CallCore
internal import ScenarioFormat
internal import ScenarioJudge
internal import Vocabulary

/// What can be said of the arms at one point, and of which it cannot.
extension ArmComparison {
  /// Runs of an arm in which a number has no value.
  package struct Gap: Equatable, Sendable {
    /// The number; nil for all of them.
    package let number: String?
    package let arm: String
    /// The seeds of those runs, sorted.
    package let seeds: [UInt64]
    /// Whether no run of the arm has a value.
    package let isWhole: Bool
    /// Why there is none; nil where nothing was measured.
    package let reason: String?

    /// The gap in words.
    package var text: String {
      let place = isWhole ? "in any run" : "with seed\(seeds.count == 1 ? "" : "s") \(SuiteHeader.ranges(seeds))"
      return "'\(arm)' has no value of \(number ?? "any number") \(place)" + (reason.map { ": \($0)" } ?? "")
    }

    /// Whether it is one of a number.
    func concerns(_ name: String) -> Bool { number == nil || number == name }
  }

  /// The gaps of numbers that some run has. Those of scores are told with their reasons.
  package var gaps: [Gap] {
    arms.names.compactMap(silentGap)
      + numbers.filter { $0.hasSamples || !$0.lacks.isEmpty }.flatMap { number in
        arms.names.flatMap { gaps(of: number, $0) }
      }
  }

  /// The gaps in words, and which numbers that are compared unless the file names some have no value in any run.
  package var gapTexts: [String] {
    let empty = numbers.filter { number in
      !number.hasSamples && number.isMetric
        && !(measures + deltas).contains { $0.delta.map { .init($0.metric) } == number.kind }
    }
    let names = empty.map(\.name).joined(separator: ", ")
    let material =
      hasOneMaterial ? [] : ["the arms do not encode the same sound and pictures: their microphones or cameras differ"]
    return gaps.map(\.text) + material + (empty.isEmpty ? [] : ["no arm has a value of \(names) in any run"])
      + windowTexts + deedTexts + receptionTexts
  }

  /// Whether the devices of all arms gave the same to encode with the same seed.
  private var hasOneMaterial: Bool {
    seeds.allSatisfy { seed in Set(runs.filter { $0.seed == seed }.map(\.material)).count <= 1 }
  }

  /// Which numbers are compared although their windows are not quite the same, and by how much these differ.
  private var windowTexts: [String] {
    var groups: [(text: String, names: [String])] = []
    for number in numbers {
      let (opened, length) = number.windowDifference
      let texts = [
        opened >= .milliseconds(10) ? "open up to \(Wording.quantity(opened.seconds, .duration)) apart" : nil,
        length >= .milliseconds(10)
          ? "are up to \(Wording.quantity(length.seconds, .duration)) longer in one arm than in another" : nil,
      ].compactMap(\.self)
      guard !texts.isEmpty else { continue }
      let text = texts.joined(separator: " and ")
      if let index = groups.firstIndex(where: { $0.text == text }) {
        groups[index].names.append(number.name)
      } else {
        groups.append((text, [number.name]))
      }
    }
    return groups.map {
      "the windows of \($0.names.joined(separator: ", ")) \($0.text): part of a difference may be of the channel"
    } + momentTexts
  }

  /// Which numbers tell of clearly fewer moments than an arm has samples of.
  private var momentTexts: [String] {
    numbers.filter { $0.leastCommonShare < 0.9 }.map {
      "\($0.name) is of the moments at which every arm has a sample: in some run "
        + "\(Wording.quantity($0.leastCommonShare, .percentage)) of those of an arm"
    }
  }

  /// What peers do at clearly other times in one arm than in another, as after events of a call, and by how much.
  private var deedTexts: [String] {
    var widest: [String: Interval] = [:]
    for seed in seeds {
      let runs = runs.filter { $0.seed == seed }
      for deed in Set(runs.flatMap(\.deeds.keys)) {
        let times = runs.compactMap { $0.deeds[deed] }
        guard let first = times.min(), let last = times.max() else { continue }
        widest[deed] = max(widest[deed] ?? .zero, last - first)
      }
    }
    let texts = widest.filter { $0.value >= .milliseconds(10) }.sorted { $0.key < $1.key }.map {
      "\($0.key) up to \(Wording.quantity($0.value.seconds, .duration))"
    }
    guard !texts.isEmpty else { return [] }
    return [
      "what follows events of a call comes at other times in one arm than in another, \(texts.joined(separator: ", ")): "
        + "part of a difference may be of that"
    ]
  }

  /// The runs of an arm in which nobody received media, if there were any elsewhere.
  private func silentGap(_ arm: String) -> Gap? {
    let own = runs.filter { $0.arm == arm }
    let silent = isMediaReceived ? own.filter { !$0.isMediaReceived } : []
    guard !silent.isEmpty else { return nil }
    return Gap(
      number: nil, arm: arm, seeds: silent.map(\.seed).sorted(), isWhole: silent.count == own.count,
      reason: "nobody received media")
  }

  private func gaps(of number: Number, _ arm: String) -> [Gap] {
    let lacks = number.lacks[arm] ?? [:]
    let missing = Set(runs.filter { $0.arm == arm && ($0.isMediaReceived || !isMediaReceived) }.map(\.seed))
      .subtracting((number.samples[arm] ?? [:]).keys).sorted()
    let isWhole = number.values(of: arm).isEmpty
    let (short, unmeasured) = (missing.filter { lacks[$0] != nil }, missing.filter { lacks[$0] == nil })
    let groups = [(short, Self.text(short.compactMap { lacks[$0] })), (number.isMetric ? unmeasured : [], nil)]
    return groups.filter { !$0.0.isEmpty }.map {
      Gap(number: number.name, arm: arm, seeds: $0, isWhole: isWhole && $0 == missing, reason: $1)
    }
  }

  /// A time of a run, and that of the run of another arm.
  private typealias Times = (own: Interval, arm: String, other: Interval)

  /// `measured for 3.4s to 3.8s, in 'b' for 10s`, `its window opened at 5s, in 'a' at 2.5s`
  private static func text(_ lacks: [Lack]) -> String? {
    let short = lacks.compactMap { lack -> Times? in
      if case .short(let own, let arm, let other) = lack { (own, arm, other) } else { nil }
    }
    let elsewhere = lacks.compactMap { lack -> Times? in
      if case .elsewhere(let own, let arm, let other) = lack { (own - .zero, arm, other - .zero) } else { nil }
    }
    let texts = [
      phrase("measured", "for", short), phrase("its window opened", "at", elsewhere),
      lacks.contains(.fewCommonMoments)
        ? "less than half of its samples are of moments at which every other arm has one, too"
        : nil,
    ].compactMap(\.self)
    return texts.isEmpty ? nil : texts.joined(separator: "; ")
  }

  private static func phrase(_ verb: String, _ preposition: String, _ times: [Times]) -> String? {
    guard !times.isEmpty else { return nil }
    let arms = times.map { "'\($0.arm)'" }.inOrderOfAppearance.joined(separator: " and ")
    let texts = (1...3).lazy.map { places in
      (range(times.map(\.own), places: places), range(times.map(\.other), places: places))
    }
    // As many decimals as tell the two apart.
    guard let (own, other) = texts.first(where: { $0 != $1 }) ?? texts.last else { return nil }
    return "\(verb) \(preposition) \(own), in \(arms) \(preposition) \(other)"
  }

  private static func range(_ times: [Interval], places: Int) -> String {
    let texts = [times.min(), times.max()].compactMap(\.self).map {
      "\(Wording.decimal($0.seconds, places: places))s"
    }
    return texts.inOrderOfAppearance.joined(separator: " to ")
  }

  /// The arms that have a value of every number with a direction in every run that any arm has one of, and that gave peers
  /// what other arms did. The others might look better than they are, because their worst runs are missing.
  package var completeArms: [String] {
    let judged = numbers.filter { $0.better != nil }
    return arms.names.filter { arm in
      !deprived.contains { $0.arm == arm && $0.isScanty }
        && judged.allSatisfy { number in
          let seeds = number.samples.values.reduce(into: Set<UInt64>()) { $0.formUnion($1.keys) }
          return seeds.isSubset(of: (number.samples[arm] ?? [:]).keys)
        }
    }
  }

  /// Returns whether the runs of two arms are the same, event by event and in every number but those of this machine.
  func areEqual(_ first: String, _ second: String) -> Bool {
    let (mine, others) = (bySeed(first, \.traceHash), bySeed(second, \.traceHash))
    return first != second && !mine.isEmpty && mine == others && mine.values.allSatisfy { $0 != 0 }
      && sentOpus(of: first) == sentOpus(of: second)
      && haveEqualSamples(first, second)
  }

  private func haveEqualSamples(_ first: String, _ second: String) -> Bool {
    numbers.allSatisfy { $0.isOfThisMachine || $0.samples[first] ?? [:] == $0.samples[second] ?? [:] }
  }

  /// Returns whether every number that is compared is as good as equal in every run of two arms, although some differs from seed
  /// to seed, or their runs have equally many events: what sets them apart shows in none of the numbers.
  func haveEqualNumbers(_ first: String, _ second: String) -> Bool {
    let compared = numbers.filter { number in
      !number.isOfThisMachine && [first, second].contains { !number.values(of: $0).isEmpty }
    }
    guard !compared.isEmpty, compared.allSatisfy({ $0.isNearlyEqual(first, second) }) else {
      return false
    }
    return haveEqualEventCounts(first, second) || compared.contains { Set($0.values(of: first)).count > 1 }
  }

  /// Returns whether two arms differ in settings of audio alone, and none of them changes how any sound is sent: the other side
  /// takes nothing of it. What is left of a difference is the length of descriptions.
  func sendAlike(_ first: String, _ second: String) -> Bool {
    let paths = zip(arms.names, arms.paths).filter { [first, second].contains($0.0) }.flatMap(\.1)
    // What a program sends is unknown.
    guard !hasProgram, !paths.isEmpty, paths.allSatisfy(Self.isOfAudio) else { return false }
    let (mine, others) = (bySeed(first, \.audioFormats), bySeed(second, \.audioFormats))
    return !mine.isEmpty && mine == others && mine.values.allSatisfy { !$0.isEmpty }
  }

  private static func isOfAudio(_ path: String) -> Bool {
    let parts = path.split(separator: ".")
    return parts.count > 1 && parts[1] == "audio"
  }

  private func haveEqualEventCounts(_ first: String, _ second: String) -> Bool {
    bySeed(first, \.eventCount) == bySeed(second, \.eventCount)
  }

  private func bySeed<Value>(_ arm: String, _ value: KeyPath<Run, Value>) -> [UInt64: Value] {
    Dictionary(runs.filter { $0.arm == arm }.map { ($0.seed, $0[keyPath: value]) }, uniquingKeysWith: { old, _ in old })
  }

  /// In what two arms are as good as one.
  enum Likeness { case events, numbers, sound }

  /// Returns in what two arms are as good as one; nil if they are not.
  func likeness(_ first: String, _ second: String) -> Likeness? {
    guard first != second else { return nil }
    if areEqual(first, second) { return .events }
    if haveEqualNumbers(first, second) { return .numbers }
    return sendAlike(first, second) ? .sound : nil
  }

  /// The arms that change nothing of the baseline's runs.
  package var idleArms: [String] { arms.names.filter { areEqual($0, arms.baseline) } }

  /// Says of an arm that it changes nothing of the baseline, or none of the numbers; nil if it does.
  func idleText(_ arm: String) -> String? { idleText(arm, besides: arms.baseline) }

  /// Says of an arm that it is as good as an earlier one, where neither is the baseline; nil if it is none.
  func twinText(_ arm: String) -> String? {
    guard arm != arms.baseline else { return nil }
    return arms.names.prefix { $0 != arm }.lazy.filter { $0 != arms.baseline }.compactMap { idleText(arm, besides: $0) }
      .first
  }

  private func idleText(_ arm: String, besides other: String) -> String? {
    likeness(arm, other).map { likeness in
      switch likeness {
      case .events: "'\(arm)' changes nothing: its runs equal those of '\(other)' event by event"
      case .numbers:
        "'\(arm)' changes none of these numbers in any run of '\(other)'"
          + (haveEqualEventCounts(arm, other)
            ? ": does the other side take what it asks for, and is there anything that it mends?" : "")
      case .sound:
        "'\(arm)' sends no sound otherwise than '\(other)' in any run: the other side does not take what it asks for"
      }
    }
  }
}
