internal import CallCore
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import Vocabulary

/// What arms let peers see and hear, and which of their pictures can be compared.
extension ArmComparison {
  /// Whether a number lays pictures beside those of their own camera, which take another size in another arm.
  func isOfOtherSizes(_ number: Number) -> Bool {
    let names = [HarnessEvents.peakSignalToNoise.name, HarnessEvents.structuralSimilarity.name]
    let viewer: String
    switch number.kind {
    case .metric(let metric) where names.contains(metric.value.name):
      viewer = ConnectionSubject.owner(of: metric.value.subject)
    case .score(let scorer, let peer, _) where pictureScorers.contains(scorer): viewer = peer
    case .metric, .score, .processor: return false
    }
    return seeds.contains { seed in
      let sizes = runs.filter { $0.seed == seed }.map(\.pictureSizes)
      return Set(sizes.flatMap(\.keys)).contains { camera in
        camera != viewer && Set(sizes.compactMap { $0[camera] }).count > 1
      }
    }
  }

  /// Runs of an arm in which a kind of media came from one peer to another for clearly less time of some window than in
  /// another arm with the same seed.
  struct Deprived: Equatable, Sendable {
    let pair: Receptions.Pair
    let arm: String
    let media: String
    var seeds: [UInt64] = []
    /// The time in the worst of those runs, and in the other arm.
    var own = Interval.zero
    var other = Interval.zero
    /// Whether it was less than half of the time in some run: what the arm costs then says nothing.
    var isScanty = false

    /// Notes the time of a run, and the longest of the runs with its seed; seeds come in order.
    mutating func note(_ own: Interval, of most: Interval, seed: UInt64) {
      if seeds.last != seed { seeds.append(seed) }
      if other == .zero || own.seconds * other.seconds < self.own.seconds * most.seconds {
        (self.own, other) = (own, most)
      }
      if own < most / 2 { isScanty = true }
    }

    var text: String {
      let runs = "with seed\(seeds.count == 1 ? "" : "s") \(SuiteHeader.ranges(seeds))"
      let gave = "'\(arm)' gave \(pair.receiver) "
      guard own > .zero else {
        return gave + "no \(media) of \(pair.sender) \(runs), and another arm did: what that saves is no gain"
      }
      return gave
        + "\(media) of \(pair.sender) for \(Wording.quantity(own.seconds, .duration)) \(runs), and another arm for "
        + "\(Wording.quantity(other.seconds, .duration)): what that saves is no gain"
    }
  }

  private typealias ReceptionKind = KeyPath<Receptions, [Receptions.Pair: Receptions.Presence]>

  /// Returns who received less of whom in an arm than in another, in the order of the arms.
  func findDeprived() -> [Deprived] {
    [("pictures", \Receptions.seen), ("sound", \Receptions.heard)].flatMap { media, kind in
      let pairs = Set(runs.flatMap { $0.receptions[keyPath: kind].keys }).sorted()
      let found = pairs.map { findDeprived($0, media, kind) }
      return arms.names.flatMap { arm in found.compactMap { $0[arm] } }
    }
  }

  /// Returns the arms that are short of what comes from one peer to another.
  private func findDeprived(_ pair: Receptions.Pair, _ media: String, _ kind: ReceptionKind) -> [String: Deprived] {
    var found: [String: Deprived] = [:]
    for seed in seeds {
      let runs = runs.filter { $0.seed == seed }
      // Who says nothing is not heard; in which arm somebody spoke does not matter.
      let spoken = Set(runs.flatMap { $0.receptions.spoken[pair.sender]?.periods ?? [] })
      let presences = runs.map { ($0.receptions[keyPath: kind][pair] ?? .init()).bridged }
      for number in numbers {
        // Windows that opened elsewhere tell of other times.
        let compared = zip(runs, presences).filter { !number.isElsewhere($0.0.arm, seed) }
        let times = compared.map { received($1, media == "sound" ? spoken : nil, in: $0, number) }
        guard let most = times.max() else { continue }
        for ((run, _), own) in zip(compared, times) where run.isMediaReceived {
          // What was under way when a window opens, or closes, may come before it or after.
          guard most - own > max(own > .zero ? .seconds(1) : .milliseconds(500), most / 10) else { continue }
          found[run.arm, default: Deprived(pair: pair, arm: run.arm, media: media)].note(own, of: most, seed: seed)
        }
      }
    }
    return found
  }

  /// For how long of the window of a number media came that were due. What is said may be heard up to two seconds later.
  private func received(_ presence: Set<Int>, _ due: Set<Int>?, in run: Run, _ number: Number) -> Interval {
    let opening = number.openings[run.arm]?[run.seed] ?? number.openings.values.compactMap { $0[run.seed] }.min()
    let closing = number.closings[run.arm]?[run.seed] ?? number.closings.values.compactMap { $0[run.seed] }.max()
    guard let opening, let closing, opening < closing else { return .zero }
    let window = Receptions.Presence.number(of: opening)..<Receptions.Presence.number(of: closing)
    let counts = (0...8).map { delay in
      window.count { (due?.contains($0) ?? (delay == 0)) && presence.contains($0 + delay) }
    }
    return Receptions.Presence.period * Int64(counts.max() ?? 0)
  }

  /// What is wrong with comparing what peers see and hear in the arms, in words.
  var receptionTexts: [String] {
    let names = numbers.filter { isOfOtherSizes($0) && $0.hasSamples }.map(\.name).joined(separator: ", ")
    let nothing = numbers.filter(\.isNothingOnTheWire).map {
      "\($0.name): no arm carries anything; what a server forwards is asked for with 'from' or 'to' alone"
    }
    return deprived.map(\.text) + nothing
      + (names.isEmpty ? [] : ["\(names): no arm is better in it, because cameras take pictures of other sizes"])
  }
}

extension Receptions.Presence {
  /// The periods, and those between two that lie less than one and a half seconds apart: at low frame rates, and in comfort
  /// noise, there are such gaps.
  fileprivate var bridged: Set<Int> {
    var all = Set(periods)
    for (one, next) in zip(periods, periods.dropFirst()) where next - one <= 6 { all.formUnion(one..<next) }
    return all
  }
}
