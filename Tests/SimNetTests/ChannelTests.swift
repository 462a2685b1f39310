import CallCore
import Testing

@testable import SimNet

@Suite struct ChannelTests {
  private let settings = LinkSettings(
    delay: .milliseconds(20), jitter: .uniform(.milliseconds(5)), loss: .random(0.2), duplication: 0.1)

  private func wire(_ settings: LinkSettings, seed: UInt64 = 3) -> Wire {
    Wire(
      settings, name: "a", direction: .tx, end: .network(NetworkID(index: 0)), isUp: true,
      random: RandomSource(seed: seed), trace: Trace())
  }

  /// The fates of packets that are sent at these milliseconds.
  private func fates(_ settings: LinkSettings, at times: [Int64]) -> [Int64: String] {
    var wire = wire(settings)
    var fates: [Int64: String] = [:]
    for time in times {
      switch wire.offer(200, at: .zero + .milliseconds(time)) {
      case .drop(let reason): fates[time] = "\(reason)"
      case .carry(let carriage): fates[time] = "\(carriage.delay) \(carriage.copy != nil)"
      }
    }
    return fates
  }

  @Test func `packets sent at the same time meet the same loss and delay, whatever else is sent`() {
    let often = fates(settings, at: Array(stride(from: 0, to: 6_000, by: 20)))
    let seldom = fates(settings, at: Array(stride(from: 0, to: 6_000, by: 60)))
    #expect(seldom.allSatisfy { often[$0.key] == $0.value })
    #expect(Set(seldom.values).count > 50)
  }

  @Test func `packets of one instant have fates of their own`() {
    var wire = wire(LinkSettings(loss: .random(0.5)))
    var lost = 0
    for _ in 0..<1_000 {
      if case .drop = wire.offer(200, at: .zero) { lost += 1 }
    }
    #expect((400...600).contains(lost))
  }

  /// The hashes of five seconds with a change of the link, and packets at an interval.
  private func hashes(
    _ loss: LossModel, packetsEvery spacing: Interval, seed: UInt64 = 1, until end: Interval = .seconds(5),
    changeAt change: Interval = .milliseconds(2_500)
  ) throws -> [UInt64] {
    let pair = try Pair(seed: seed, tx: LinkSettings(loss: loss), recordsChannels: true)
    var time = Instant.zero
    while time < .zero + end {
      if time == .zero + change { try pair.simulator.setLink("a", .tx) { $0.delay = .milliseconds(50) } }
      pair.send()
      time += spacing
      pair.simulator.run(until: time)
    }
    return pair.simulator.channelHashes(every: .seconds(1))
  }

  static let models: [LossModel] = [
    .none, .random(0.1), .gilbertElliott(GilbertElliott(meanLoss: 0.2, meanBurst: .milliseconds(100))),
  ]

  @Test(arguments: models)
  func `the hash of a channel does not depend on the packets it carries`(model: LossModel) throws {
    let often = try hashes(model, packetsEvery: .milliseconds(10))
    // One of each second, and one of the rest.
    #expect(often.count == 6)
    #expect(try hashes(model, packetsEvery: .milliseconds(250)) == often)
    let short = try hashes(model, packetsEvery: .milliseconds(250), until: .seconds(3))
    #expect(short.dropLast() == often.prefix(3))
  }

  @Test func `the hash tells another seed, another model and another time of a change apart`() throws {
    let model = LossModel.gilbertElliott(GilbertElliott(meanLoss: 0.2, meanBurst: .milliseconds(100)))
    let base = try hashes(model, packetsEvery: .milliseconds(50))
    #expect(try hashes(model, packetsEvery: .milliseconds(50), seed: 2)[0] != base[0])
    #expect(try hashes(.random(0.2), packetsEvery: .milliseconds(50))[0] != base[0])
    let later = try hashes(model, packetsEvery: .milliseconds(50), changeAt: .milliseconds(2_550))
    #expect(Array(later.prefix(2)) == Array(base.prefix(2)))
    #expect(later[2] != base[2])
    #expect(later[4] != base[4])
  }

  @Test func `the hash tells what is noted beside the links, and when`() throws {
    func hashes(noting text: String?, at time: Interval = .milliseconds(1_500)) throws -> [UInt64] {
      let pair = try Pair(recordsChannels: true)
      pair.simulator.run(until: .zero + time)
      if let text { pair.simulator.noteChannel(text) }
      pair.simulator.run(until: .zero + .seconds(3))
      return pair.simulator.channelHashes(every: .seconds(1))
    }
    let plain = try hashes(noting: nil)
    let noted = try hashes(noting: "packets are dropped")
    #expect(noted[0] == plain[0] && noted[1] != plain[1] && noted[2] != plain[2])
    #expect(try hashes(noting: "packets are dropped") == noted)
    #expect(try hashes(noting: "others are dropped")[1] != noted[1])
    #expect(try hashes(noting: "packets are dropped", at: .milliseconds(1_501))[1] != noted[1])
  }

  @Test func `what happens after the last whole period is in the last hash`() throws {
    func hashes(noting text: String?) throws -> [UInt64] {
      let pair = try Pair(recordsChannels: true)
      pair.simulator.run(until: .zero + .milliseconds(2_900))
      if let text { pair.simulator.noteChannel(text) }
      return pair.simulator.channelHashes(every: .seconds(1))
    }
    let (plain, noted) = (try hashes(noting: nil), try hashes(noting: "packets are dropped"))
    #expect(plain.count == 3 && plain[..<2] == noted[..<2] && plain[2] != noted[2])
  }

  @Test func `links that are not asked keep no states`() throws {
    let pair = try Pair(tx: LinkSettings(loss: .random(0.1)))
    pair.simulator.run(until: .zero + .seconds(2))
    #expect(pair.simulator.channelHashes(every: .seconds(1)).isEmpty)
  }
}
