internal import CallCore
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import Vocabulary

/// What arms let peers see and hear, and which of their pictures can be compared.
extension ArmComparison {
  /// The size of the pictures of each peer that has a camera.
  static func pictureSizes(_ scenario: Scenario) -> [String: Scenario.Video.Size] {
    Dictionary(
      scenario.peers.compactMap { peer in
        guard let video = peer.video, peer.devices.camera?.value != Scenario.Devices.Camera.none else { return nil }
        return (peer.name, video.size ?? .usual)
      }, uniquingKeysWith: { old, _ in old })
  }

  /// Whether a number lays pictures beside those of their own camera, which take another size in another arm.
  func isOfOtherSizes(_ number: Number) -> Bool {
    let names = [HarnessEvents.peakSignalToNoise.name, HarnessEvents.structuralSimilarity.name]
    guard case .metric(let metric) = number.kind, names.contains(metric.value.name) else { return false }
    let viewer = ConnectionSubject.owner(of: metric.value.subject)
    let seen = pictureSizes.values.map { $0.filter { $0.key != viewer } }
    return seen.contains { $0 != seen[0] }
  }

  /// Runs of an arm in which nothing of a kind of media came from one peer to another after some window had opened, although
  /// some did in another arm with the same seed.
  struct Deprived: Equatable {
    let pair: ReceptionTimes.Pair
    let arm: String
    let media: String
    let seeds: [UInt64]

    var text: String {
      "'\(arm)' gave \(pair.receiver) no \(media) of \(pair.sender) with seed\(seeds.count == 1 ? "" : "s") "
        + "\(SuiteHeader.ranges(seeds)), and another arm did: fewer bytes are no gain"
    }
  }

  /// Who received nothing of whom in an arm, in the order of the arms.
  var deprived: [Deprived] {
    [("pictures", \Run.viewers), ("sound", \Run.hearers)].flatMap { media, receptions in
      let pairs = Set(runs.flatMap { $0[keyPath: receptions].last.keys }).sorted()
      return arms.names.flatMap { arm in
        pairs.compactMap { pair in
          let seeds = runs.filter { run in
            run.arm == arm && run.isMediaReceived && lacks(run, { $0[keyPath: receptions].last[pair] })
          }.map(\.seed).sorted()
          return seeds.isEmpty ? nil : Deprived(pair: pair, arm: arm, media: media, seeds: seeds)
        }
      }
    }
  }

  /// Whether something last happened in a run before a window opened that happened after its opening in another arm with the
  /// same seed.
  private func lacks(_ run: Run, _ last: (Run) -> Instant?) -> Bool {
    let others = runs.filter { $0.seed == run.seed && $0.arm != run.arm }
    return numbers.contains { number in
      func receives(_ run: Run) -> Bool {
        last(run).map { $0 >= number.openings[run.arm]?[run.seed] ?? .zero } ?? false
      }
      return !receives(run) && others.contains(where: receives)
    }
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
