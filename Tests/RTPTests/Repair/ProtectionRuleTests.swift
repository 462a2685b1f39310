import CallCore
import RTP
import Testing

@Suite struct ProtectionRuleTests {
  private func conditions(
    loss: Double, roundTrip: Int64 = 100, kilobits: Int64 = 1_500, layers: Int = 1
  ) -> ProtectionRule.Conditions {
    var conditions = ProtectionRule.Conditions()
    conditions.loss = loss
    conditions.roundTrip = .milliseconds(roundTrip)
    conditions.bitrate = .kilobitsPerSecond(kilobits)
    conditions.temporalLayers = layers
    return conditions
  }

  private func protection(_ conditions: ProtectionRule.Conditions) -> Protection {
    ProtectionRule.protection(for: conditions)
  }

  @Test func `without loss there is no protection`() {
    #expect(protection(conditions(loss: 0)) == .none)
    #expect(protection(conditions(loss: 0.003)) == .none)
  }

  @Test func `more loss gives more protection, up to as many repair packets as media packets`() {
    let factors = stride(from: 0.01, through: 1, by: 0.03).map { protection(conditions(loss: $0)).deltaFactor }
    #expect(zip(factors, factors.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(factors[0] == 64 && factors.last! >= 250)
  }

  @Test func `below 20 ms of round trip delta frames are left to retransmission`() {
    #expect(protection(conditions(loss: 0.1, roundTrip: 19)).deltaFactor == 0)
    #expect(protection(conditions(loss: 0.1, roundTrip: 19)).keyFactor > 0)
    #expect(protection(conditions(loss: 0.1, roundTrip: 20)).deltaFactor > 0)
  }

  @Test func `key frames have at least the protection of delta frames`() {
    for loss in stride(from: 0.01, through: 0.6, by: 0.01) {
      let protection = protection(conditions(loss: loss))
      #expect(protection.keyFactor >= protection.deltaFactor)
    }
  }

  @Test func `small frames are protected only when the round trip is long or layers are many`() {
    // 100 kbit/s at 30 Hz are 416 bytes, less than 700 at VGA.
    #expect(protection(conditions(loss: 0.1, kilobits: 100)) == .none)
    #expect(protection(conditions(loss: 0.1, roundTrip: 200, kilobits: 100)) != .none)
    #expect(protection(conditions(loss: 0.1, kilobits: 100, layers: 3)) != .none)
  }

  @Test(arguments: [(10, 1), (50, 3), (100, 6), (1_000, 6)] as [(Int64, Int)])
  func `groups reach over the frames of two round trips`(roundTrip: Int64, frames: Int) {
    #expect(protection(conditions(loss: 0.1, roundTrip: roundTrip)).maximumFrames == frames)
    #expect(protection(conditions(loss: 0.1, roundTrip: roundTrip, layers: 3)).maximumFrames == 1)
  }

  @Test func `the largest loss of ten seconds counts`() {
    var rule = ProtectionRule()
    let high = rule.protection(for: conditions(loss: 0.2), at: .zero)
    #expect(rule.protection(for: conditions(loss: 0), at: .zero + .seconds(10)) == high)
    #expect(rule.protection(for: conditions(loss: 0), at: .zero + .seconds(11)) == .none)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `no conditions trap`(seed: UInt64) {
    var random = RandomSource(seed: seed).stream("conditions")
    for _ in 0..<500 {
      var conditions = ProtectionRule.Conditions()
      conditions.loss = [random.unit(), -1, 2, .nan, .infinity][Int(random.uniform(below: 5))]
      conditions.roundTrip = .nanoseconds(Int64(bitPattern: random.next()))
      conditions.bitrate = .bitsPerSecond(Int64(random.uniform(below: 1 << 40)))
      conditions.frameRate = [random.unit() * 100, 0, -1, 1e-9][Int(random.uniform(below: 4))]
      conditions.width = Int(random.uniform(below: 9_000))
      conditions.height = Int(random.uniform(below: 9_000))
      conditions.temporalLayers = Int(random.uniform(below: 5))
      conditions.packetsPerKeyFrame = random.unit() * 1e6
      conditions.packetsPerFrame = random.unit() * 100
      let protection = protection(conditions)
      #expect((1...6).contains(protection.maximumFrames))
    }
  }
}
