import CallCore
import Testing

@testable import ScenarioJudge

@Suite struct PictureMomentsTests {
  private static func moments(seed: UInt64, count: Int64 = 400) -> [Instant] {
    let moments = PictureMoments(RandomSource(seed: seed))
    return (1...count).map { moments.moment(before: .zero + StatsSampler.period * $0) }
  }

  @Test func `the moment of a sample lies within the period before it`() {
    for (index, moment) in Self.moments(seed: 3).enumerated() {
      let sample = Instant.zero + StatsSampler.period * Int64(index + 1)
      #expect(moment <= sample && moment > sample - StatsSampler.period)
    }
  }

  @Test(arguments: [125, 250, 500] as [Int64])
  func `moments meet every layer of a camera in step with the samples equally often`(period: Int64) {
    // Temporal layers repeat every four pictures.
    for seed in 1...5 as ClosedRange<UInt64> {
      var counts = [0, 0, 0, 0]
      for moment in Self.moments(seed: seed) {
        counts[Int(moment.nanoseconds / (period * 1_000_000 / 4) % 4)] += 1
      }
      #expect(counts.allSatisfy { (95...105).contains($0) }, "\(counts)")
    }
  }

  @Test func `with another seed the moments lie elsewhere, and with the same they do not`() {
    #expect(Self.moments(seed: 1) == Self.moments(seed: 1))
    #expect(Set((1...20).map { Self.moments(seed: $0)[0] }).count == 20)
  }
}
