/// The assignment of media packets to repair packets.
package enum RepairMasks {
  /// The kind of loss for which masks are made.
  package enum Kind: Hashable, Sendable, CaseIterable { case random, bursty }

  /// The largest number of media packets for which random losses have masks of their own, as in libwebrtc; more are
  /// interleaved.
  package static let randomLimit = 12

  /// Returns the number of repair packets for a protection factor, 255 being as many as media packets (libwebrtc
  /// `ForwardErrorCorrection::NumFecPackets`): rounded, and at least one if there is any protection.
  package static func count(mediaCount: Int, factor: UInt8) -> Int {
    guard factor > 0, mediaCount > 0 else { return 0 }
    return min(mediaCount, max(1, (mediaCount * Int(factor) + 128) >> 8))
  }

  /// Returns the indices of the media packets that each repair packet protects.
  ///
  /// Interleaved masks protect packet i by repair packet i modulo their number, so that a burst as long as that number
  /// is recovered. Masks for random losses give the packets different sets of repair packets as long as there are such
  /// sets, so that any two losses are recovered; see ``randomSets(mediaCount:repairCount:)``. libwebrtc has tables with
  /// these properties instead.
  ///
  /// - Precondition: `repairCount` is in 1...`mediaCount`, and `mediaCount` at most ``PacketMask/capacity``.
  package static func masks(mediaCount: Int, repairCount: Int, kind: Kind) -> [PacketMask] {
    precondition(repairCount >= 1 && repairCount <= mediaCount && mediaCount <= PacketMask.capacity)
    guard kind == .random, mediaCount <= randomLimit else {
      return (0..<repairCount).map { PacketMask(stride(from: $0, to: mediaCount, by: repairCount)) }
    }
    var masks = Array(repeating: PacketMask(), count: repairCount)
    for (media, set) in randomSets(mediaCount: mediaCount, repairCount: repairCount).enumerated() {
      for repair in 0..<repairCount where set >> repair & 1 == 1 { masks[repair].insert(media) }
    }
    return masks
  }

  /// Returns the set of repair packets of each media packet, as bits.
  ///
  /// The next set is the one used least often so far; among those, one of two repair packets, then of three, then of one:
  /// a single one is lost with its repair packet, and many are of little use to iteration. Then the one whose repair
  /// packets protect the fewest packets so far, then the lowest.
  private static func randomSets(mediaCount: Int, repairCount: Int) -> [Int] {
    var uses = Array(repeating: 0, count: 1 << repairCount)
    var loads = Array(repeating: 0, count: repairCount)
    var result: [Int] = []
    for _ in 0..<mediaCount {
      var best: (cost: (Int, Int, Int), set: Int)?
      for set in 1..<1 << repairCount where set.nonzeroBitCount <= maximumSetSize {
        var load = 0
        for repair in 0..<repairCount where set >> repair & 1 == 1 { load += loads[repair] * loads[repair] }
        let cost = (uses[set], rank(set.nonzeroBitCount), load)
        if best.map({ cost < $0.cost }) ?? true { best = (cost, set) }
      }
      guard let set = best?.set else { break }
      uses[set] += 1
      for repair in 0..<repairCount where set >> repair & 1 == 1 { loads[repair] += 1 }
      result.append(set)
    }
    return result
  }

  /// The largest set. There are at least twelve such sets of four repair packets, and all sets of fewer.
  private static let maximumSetSize = 3

  private static func rank(_ size: Int) -> Int {
    switch size {
    case 2: 0
    case 3: 1
    default: 2
    }
  }
}
