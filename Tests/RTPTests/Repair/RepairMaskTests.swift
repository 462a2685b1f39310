import RTP
import Testing

@Suite struct RepairMaskTests {
  @Test(arguments: [
    (10, 0, 0), (10, 1, 1), (1, 255, 1), (10, 128, 5), (10, 64, 3), (3, 42, 1), (10, 255, 10), (48, 25, 5),
  ])
  func `the number of repair packets is libwebrtc's`(media: Int, factor: Int, count: Int) {
    #expect(RepairMasks.count(mediaCount: media, factor: UInt8(factor)) == count)
  }

  @Test(arguments: RepairMasks.Kind.allCases)
  func `each repair packet protects some packet, and each packet is protected`(kind: RepairMasks.Kind) {
    for media in [1, 2, 3, 4, 7, 12, 13, 24, 48] {
      for repairs in 1...media {
        let masks = RepairMasks.masks(mediaCount: media, repairCount: repairs, kind: kind)
        #expect(masks.count == repairs && masks.allSatisfy { !$0.isEmpty && $0.last! < media })
        let all = masks.reduce(UInt128(0)) { $0 | $1.bits }
        #expect(all == (1 << UInt128(media)) - 1, "\(media) \(repairs)")
      }
    }
  }

  @Test func `random masks differ for any two packets as long as there are enough`() {
    for media in 1...RepairMasks.randomLimit {
      for repairs in 1...media where 1 << repairs > media {
        let masks = RepairMasks.masks(mediaCount: media, repairCount: repairs, kind: .random)
        let columns = (0..<media).map { index in masks.map { $0.contains(index) } }
        #expect(Set(columns).count == media, "\(media) \(repairs)")
      }
    }
  }

  @Test func `random masks share the packets evenly among the repair packets`() {
    for media in 2...RepairMasks.randomLimit {
      for repairs in 1...media {
        let counts = RepairMasks.masks(mediaCount: media, repairCount: repairs, kind: .random).map(\.count)
        #expect(counts.max()! - counts.min()! <= 2, "\(media) \(repairs) \(counts)")
      }
    }
  }

  @Test func `a burst as long as the number of bursty repair packets has no two packets in one of them`() {
    for media in [2, 3, 5, 12, 13, 24] {
      for repairs in 1...media {
        let masks = RepairMasks.masks(mediaCount: media, repairCount: repairs, kind: .bursty)
        for first in 0...media - repairs {
          #expect(masks.allSatisfy { mask in (first..<first + repairs).filter(mask.contains).count == 1 })
        }
      }
    }
  }
}
