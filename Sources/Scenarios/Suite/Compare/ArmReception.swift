internal import CallCore
internal import ScenarioFormat
internal import ScenarioJudge
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

  /// Runs of an arm in which nothing of a kind of media came to a peer from the opening of the first window on, although some
  /// did in another arm with the same seed.
  struct Deprived: Equatable {
    let peer: String
    let arm: String
    let media: String
    let seeds: [UInt64]

    var text: String {
      "'\(arm)' gave \(peer) no \(media) with seed\(seeds.count == 1 ? "" : "s") \(SuiteHeader.ranges(seeds)), "
        + "and another arm did: fewer bytes are no gain"
    }
  }

  /// The peers to whom nothing of a kind of media came in an arm, in the order of the arms.
  var deprived: [Deprived] {
    [("pictures", \Run.viewers), ("sound", \Run.hearers)].flatMap { media, receivers in
      let peers = Set(runs.flatMap { $0[keyPath: receivers].keys }).sorted()
      let receives = { (run: Run, peer: String) in
        run[keyPath: receivers][peer].map { $0 >= opening(of: run) } ?? false
      }
      return arms.names.flatMap { arm in
        peers.compactMap { peer in
          let seeds = runs.filter { run in
            run.arm == arm && run.isMediaReceived && !receives(run, peer)
              && runs.contains { $0.seed == run.seed && receives($0, peer) }
          }.map(\.seed).sorted()
          return seeds.isEmpty ? nil : Deprived(peer: peer, arm: arm, media: media, seeds: seeds)
        }
      }
    }
  }

  /// When the first window of a run opened.
  private func opening(of run: Run) -> Instant {
    numbers.compactMap { $0.openings[run.arm]?[run.seed] }.min() ?? .zero
  }

  /// What is wrong with comparing what peers see and hear in the arms, in words.
  var receptionTexts: [String] {
    let names = numbers.filter { isOfOtherSizes($0) && $0.hasSamples }.map(\.name).joined(separator: ", ")
    return deprived.map(\.text)
      + (names.isEmpty ? [] : ["\(names): no arm is better in it, because cameras take pictures of other sizes"])
  }
}
