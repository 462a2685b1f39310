internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// What the pictures of arms allow to be compared.
extension ArmComparison {
  /// Returns the size of the pictures of each peer with video.
  static func pictureSizes(_ scenario: Scenario) -> [String: Scenario.Video.Size?] {
    Dictionary(
      scenario.peers.compactMap { peer in peer.video.map { (peer.name, $0.size) } }, uniquingKeysWith: { old, _ in old }
    )
  }

  /// Whether a number lays pictures beside those of their own camera, which take another size in another arm.
  func isOfOtherSizes(_ number: Number) -> Bool {
    guard let first = pictureSizes.values.first, pictureSizes.values.contains(where: { $0 != first }) else {
      return false
    }
    return [HarnessEvents.peakSignalToNoise.name, HarnessEvents.structuralSimilarity.name].contains(
      where: number.measures)
  }

  /// Runs of an arm in which a peer saw no picture, although it saw some in another arm with the same seed.
  struct Unseen: Equatable {
    let peer: String
    let arm: String
    let seeds: [UInt64]

    var text: String {
      "'\(arm)' showed \(peer) no picture with seed\(seeds.count == 1 ? "" : "s") \(SuiteHeader.ranges(seeds)), and another arm did: "
        + "fewer bytes are no gain"
    }
  }

  /// The peers to whom arms showed nothing, in the order of the arms.
  var unseen: [Unseen] {
    let viewers = Set(runs.flatMap(\.viewers)).sorted()
    return arms.names.flatMap { arm in
      viewers.compactMap { peer in
        let seeds = runs.filter { run in
          run.arm == arm && !run.viewers.contains(peer)
            && runs.contains { $0.seed == run.seed && $0.viewers.contains(peer) }
        }.map(\.seed).sorted()
        return seeds.isEmpty ? nil : Unseen(peer: peer, arm: arm, seeds: seeds)
      }
    }
  }

  /// What is wrong with comparing the pictures of the arms, in words.
  var pictureTexts: [String] {
    let names = numbers.filter { isOfOtherSizes($0) && $0.hasSamples }.map(\.name).joined(separator: ", ")
    return unseen.map(\.text)
      + (names.isEmpty ? [] : ["\(names): no arm is better in it, because cameras take pictures of other sizes"])
  }
}
