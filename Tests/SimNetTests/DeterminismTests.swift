import CallCore
import Testing

@testable import SimNet

@Suite struct DeterminismTests {
  private static let rough = LinkSettings(
    rate: .megabitsPerSecond(1), queue: .packets(10), delay: .milliseconds(30), jitter: .normal(.milliseconds(8)),
    order: .allow, loss: .gilbertElliott(GilbertElliott(meanLoss: 0.1, meanBurst: .milliseconds(40))),
    reordering: Reordering(probability: 0.02), duplication: 0.02,
    corruption: Corruption(probability: 0.02, isAfterChecksum: true))

  @Test func `the same seed gives the same trace and another seed another`() throws {
    let hashes = try ([5, 5, 6] as [UInt64]).map { seed in
      let pair = try Pair(seed: seed, tx: Self.rough)
      pair.stream(500, spacing: .milliseconds(3), size: 400)
      return pair.simulator.trace.hash
    }
    #expect(hashes[0] == hashes[1])
    #expect(hashes[0] != hashes[2])
  }

  @Test func `adding an unrelated host and its traffic moves no draw`() throws {
    let plain = try Pair(seed: 5, tx: Self.rough)
    plain.stream(300, spacing: .milliseconds(3), size: 400)

    let crowded = try Pair(seed: 5, tx: Self.rough)
    let simulator = crowded.simulator
    let stranger = try simulator.addHost("stranger", delegate: Recorder(simulator))
    try simulator.attach(stranger, to: try simulator.network("lan"), link: "stranger", tx: Self.rough)
    let socket = try simulator.bind(stranger)
    for index in 0..<300 {
      crowded.send(UInt8(truncatingIfNeeded: index), size: 400)
      simulator.send([0xFF], from: socket, to: Endpoint(IPAddress("10.0.0.2")!, port: 9))
      simulator.run(until: simulator.now + .milliseconds(3))
    }
    while simulator.step() {}
    #expect(plain.b.arrivals == crowded.b.arrivals)
    #expect(plain.b.arrivals.count > 200)
  }

  @Test func `changing one impairment moves no draw of another`() throws {
    let lossOnly = try Pair(seed: 5, tx: LinkSettings(loss: .random(0.3)))
    lossOnly.stream(200, spacing: .milliseconds(1))
    let both = try Pair(seed: 5, tx: LinkSettings(jitter: .uniform(.microseconds(100)), loss: .random(0.3)))
    both.stream(200, spacing: .milliseconds(1))
    #expect(lossOnly.b.tags == both.b.tags)
  }

  @Test func `every packet sent is delivered or dropped for a reason and nothing is left`() throws {
    let pair = try Pair(seed: 9, tx: Self.rough)
    let drops = Drops(pair.simulator.trace)
    pair.stream(1_000, spacing: .milliseconds(2), size: 400)
    #expect(pair.simulator.packetsInFlight == 0)
    let live = pair.simulator.fabric.pool.liveCount
    #expect(live == 0)
    // Duplicates arrive beyond the count.
    #expect(pair.b.arrivals.count + drops.reasons.count >= 1_000)
    #expect(drops.reasons.contains("loss") && drops.reasons.contains("queue"))
  }
}
