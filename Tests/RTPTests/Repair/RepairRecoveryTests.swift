import CallCore
import RTP
import Testing

/// Recovery against linear algebra over GF(2).
@Suite struct RepairRecoveryTests {
  /// Returns the lost packets that some solution of all equations determines: those whose unit vector is a sum of rows.
  private func solvable(_ lost: [Int], _ masks: [PacketMask]) -> Set<Int> {
    var rows = masks.map { mask in
      lost.enumerated().reduce(0) { $0 | (mask.contains($1.element) ? 1 << $1.offset : 0) }
    }
    var rank = 0
    for bit in lost.indices {
      guard let pivot = (rank..<rows.count).first(where: { rows[$0] >> bit & 1 == 1 }) else { continue }
      rows.swapAt(rank, pivot)
      for row in rows.indices where row != rank && rows[row] >> bit & 1 == 1 { rows[row] ^= rows[rank] }
      rank += 1
    }
    return Set(rows.filter { $0.nonzeroBitCount == 1 }.map { lost[$0.trailingZeroBitCount] })
  }

  /// Returns the lost packets that iteration finds: an equation with one unknown gives it to all others.
  private func peelable(_ lost: [Int], _ masks: [PacketMask]) -> Set<Int> {
    var open = Set(lost)
    var found: Set<Int> = []
    while let mask = masks.first(where: { mask in open.filter(mask.contains).count == 1 }),
      let next = open.first(where: mask.contains)
    {
      open.remove(next)
      found.insert(next)
    }
    return found
  }

  private func recovered(
    _ samples: RepairSamples, _ repairs: [[UInt8]], _ lost: [Int], _ format: RepairFormat
  ) -> [[UInt8]] {
    var decoder = RepairDecoder(format: format, ssrc: RepairSamples.ssrc)
    // A packet before the group makes the stream known.
    for packet in RepairSamples(1, first: 65_529).packets { decoder.receive(media: packet) }
    for (index, packet) in samples.packets.enumerated() where !lost.contains(index) { decoder.receive(media: packet) }
    for repair in repairs { decoder.receive(repair: repair) }
    return decoder.takeAll()
  }

  @Test(arguments: RepairFormat.allCases, RepairMasks.Kind.allCases)
  func `every single loss is recovered exactly`(format: RepairFormat, kind: RepairMasks.Kind) {
    for count in [1, 2, 3, 5, 8, 12, 13, 30, 48] {
      let samples = RepairSamples(count, seed: UInt64(count))
      for factor in [1, 60, 128] as [UInt8] {
        let repairs = samples.repairs(format, factor: factor, kind: kind)
        #expect(repairs.count == RepairMasks.count(mediaCount: count, factor: factor))
        for lost in 0..<count {
          #expect(recovered(samples, repairs, [lost], format) == [samples.packets[lost]], "\(lost) of \(count)")
        }
      }
    }
  }

  @Test(arguments: RepairMasks.Kind.allCases)
  func `every pair is recovered that linear algebra can recover`(kind: RepairMasks.Kind) {
    for count in 2...12 {
      let samples = RepairSamples(count, seed: UInt64(count))
      for wanted in 1...min(4, count) {
        let masks = RepairMasks.masks(mediaCount: count, repairCount: wanted, kind: kind)
        let repairs = samples.repairs(.ulpfec, factor: samples.factor(for: wanted), kind: kind)
        for a in 0..<count {
          for b in a + 1..<max(count, a + 1) {
            let expected = solvable([a, b], masks)
            #expect(expected == peelable([a, b], masks))
            let found = Set(recovered(samples, repairs, [a, b], .ulpfec))
            #expect(found == Set(expected.map { samples.packets[$0] }), "\(a), \(b) of \(count), \(wanted) repairs")
          }
        }
      }
    }
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func `random losses of media and repair packets are recovered as iteration can, and in any order`(seed: UInt64) {
    var random = RandomSource(seed: seed).stream("loss")
    let format = RepairFormat.allCases[Int(seed % 3)]
    let kind = RepairMasks.Kind.allCases[Int(seed / 3 % 2)]
    let count = 1 + Int(random.uniform(below: 24))
    let samples = RepairSamples(count, first: UInt16(truncatingIfNeeded: random.next()), seed: seed, gaps: true)
    let factor = UInt8(1 + random.uniform(below: 255))
    let repairs = samples.repairs(format, factor: factor, kind: kind)
    let masks = RepairMasks.masks(mediaCount: count, repairCount: repairs.count, kind: kind)
    let rate = random.unit()
    let lost = (1..<max(1, count)).filter { _ in random.chance(rate) }
    let kept = repairs.indices.filter { _ in random.chance(0.8) }
    let expected = peelable(lost, kept.map { masks[$0] })
    #expect(expected.isSubset(of: solvable(lost, kept.map { masks[$0] })))
    var decoder = RepairDecoder(format: format, ssrc: RepairSamples.ssrc)
    decoder.receive(media: samples.packets[0])
    var arrivals: [(isRepair: Bool, bytes: [UInt8])] = kept.map { (true, repairs[$0]) }
    arrivals += samples.packets.indices.filter { !lost.contains($0) }.map { (false, samples.packets[$0]) }
    // Duplicates, and any order.
    arrivals += arrivals.filter { _ in random.chance(0.3) }
    var found: [[UInt8]] = []
    while !arrivals.isEmpty {
      let next = arrivals.remove(at: Int(random.uniform(below: UInt64(arrivals.count))))
      if next.isRepair { decoder.receive(repair: next.bytes) } else { decoder.receive(media: next.bytes) }
      found += decoder.takeAll()
    }
    // Packets that came after their own recovery are among the recovered.
    #expect(Set(expected.map { samples.packets[$0] }).isSubset(of: Set(found)))
    #expect(Set(found).isSubset(of: Set(samples.packets)))
    #expect(Set(found).count == found.count && decoder.refusedCount == 0)
  }

  @Test(arguments: RepairFormat.allCases)
  func `a long stream over the wrap is repaired without a wrong packet`(format: RepairFormat) {
    var random = RandomSource(seed: 3).stream("loss")
    var decoder = RepairDecoder(format: format, ssrc: RepairSamples.ssrc)
    var (first, lost, found): (UInt16, Int, Int) = (60_000, 0, 0)
    for group in 0..<400 as Range<UInt64> {
      let samples = RepairSamples(16, first: first, seed: group, gaps: true)
      first &+= 21
      var missing: Set<[UInt8]> = []
      for packet in samples.packets {
        if group > 0, random.chance(0.06) { missing.insert(packet) } else { decoder.receive(media: packet) }
      }
      for repair in samples.repairs(format, factor: 64) where random.chance(0.94) { decoder.receive(repair: repair) }
      let recovered = decoder.takeAll()
      #expect(missing.isSuperset(of: recovered) && Set(recovered).count == recovered.count)
      (lost, found) = (lost + missing.count, found + recovered.count)
    }
    #expect(lost > 300 && found > lost * 3 / 4 && decoder.recoveredCount == found, "\(found) of \(lost)")
    #expect(decoder.refusedCount == 0)
  }

  @Test func `the last packets of a group are recovered before any later one arrives`() {
    let samples = RepairSamples(6)
    let repairs = samples.repairs(.flexFEC, factor: 128)
    #expect(Set(recovered(samples, repairs, [4, 5], .flexFEC)) == Set(samples.packets[4...]))
  }
}
