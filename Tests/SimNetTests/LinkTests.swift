import CallCore
import Testing

@testable import SimNet

@Suite struct LinkTests {
  @Test func `a datagram arrives after the delay with its bytes and its path`() throws {
    let pair = try Pair(tx: LinkSettings(delay: .milliseconds(20)))
    pair.send(9, size: 3)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.milliseconds == [20])
    #expect(pair.b.arrivals.first?.bytes == [9, 0, 0])
    #expect(pair.b.arrivals.first?.path == Path(local: pair.bEndpoint, remote: pair.aEndpoint))
    #expect(pair.simulator.now == .zero + .seconds(1))
    #expect(pair.simulator.packetsInFlight == 0)
  }

  @Test func `a rate serialises packets one after another with their headers`() throws {
    // 972 bytes and 28 of headers are 8000 bits: 10 ms at 800 kbit/s.
    let pair = try Pair(tx: LinkSettings(rate: .kilobitsPerSecond(800), delay: .milliseconds(5)))
    for _ in 0..<3 { pair.send(size: 972) }
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.milliseconds == [15, 25, 35])
  }

  @Test func `a change of rate keeps the bits already sent and moves the rest`() throws {
    let pair = try Pair(tx: LinkSettings(rate: .kilobitsPerSecond(800)))
    for _ in 0..<2 { pair.send(size: 972) }
    pair.simulator.run(until: .zero + .milliseconds(4))
    // 4800 bits are left of the first packet: 12 ms at half the rate; the second takes 20 ms.
    try pair.simulator.setLink("a", .tx) { $0.rate = .kilobitsPerSecond(400) }
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.milliseconds == [16, 36])
  }

  @Test func `removing the rate sends what is queued at once`() throws {
    let pair = try Pair(tx: LinkSettings(rate: .kilobitsPerSecond(800), delay: .milliseconds(1)))
    for _ in 0..<3 { pair.send(size: 972) }
    pair.simulator.run(until: .zero + .milliseconds(4))
    try pair.simulator.setLink("a", .tx) { $0.rate = nil }
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.milliseconds == [5, 5, 5])
  }

  @Test(arguments: [
    (QueueLimit.packets(2), 3), (.bytes(3_000), 4), (.bytes(2_999), 3), (.time(.milliseconds(20)), 3),
    (.time(.milliseconds(19)), 2), (.packets(0), 1), (.unlimited, 10),
  ])
  func `a full queue drops from the tail`(limit: QueueLimit, delivered: Int) throws {
    let pair = try Pair(tx: LinkSettings(rate: .kilobitsPerSecond(800), queue: limit))
    let drops = Drops(pair.simulator.trace)
    for tag in 0..<10 { pair.send(UInt8(tag), size: 972) }
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.tags == (0..<UInt8(delivered)).map { $0 })
    #expect(drops.reasons == Array(repeating: "queue", count: 10 - delivered))
  }

  @Test func `jitter that keeps order never overtakes and jitter that allows it does`() throws {
    var settings = LinkSettings(delay: .milliseconds(50), jitter: .normal(.milliseconds(20)))
    let kept = try Pair(tx: settings)
    kept.stream(200, spacing: .milliseconds(1))
    #expect(kept.b.tags == (0..<200).map { UInt8($0) })
    settings.order = .allow
    let free = try Pair(tx: settings)
    free.stream(200, spacing: .milliseconds(1))
    #expect(free.b.tags.sorted() == (0..<200).map { UInt8($0) })
    #expect(free.b.tags != free.b.tags.sorted())
  }

  @Test func `uniform jitter stays within its spread`() throws {
    let pair = try Pair(
      tx: LinkSettings(delay: .milliseconds(50), jitter: .uniform(.milliseconds(10)), order: .allow))
    for _ in 0..<500 { pair.send() }
    pair.simulator.run(until: .zero + .seconds(1))
    let times = pair.b.milliseconds
    #expect(times.count == 500)
    #expect(times.allSatisfy { (40...60).contains($0) })
    #expect(times.first! <= 41 && times.last! >= 59)
  }

  @Test func `reordered packets skip the delay`() throws {
    let pair = try Pair(
      tx: LinkSettings(delay: .milliseconds(50), reordering: Reordering(probability: 1, gap: 3)))
    for tag in 1...6 as ClosedRange<UInt8> { pair.send(tag) }
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.tags == [3, 6, 1, 2, 4, 5])
  }

  @Test func `a duplicate arrives once more and is never copied again`() throws {
    let certain = LinkSettings(duplication: 1)
    let pair = try Pair(tx: certain)
    pair.send(7)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.tags == [7, 7])
    #expect(pair.simulator.packetsInFlight == 0)
  }

  @Test(arguments: [nil, DataRate.kilobitsPerSecond(500)])
  func `nothing waits for a copy, and no copy comes before what went ahead of it`(rate: DataRate?) throws {
    let settings = LinkSettings(
      rate: rate, delay: .milliseconds(20), jitter: .exponential(.milliseconds(30)), duplication: 0.3)
    var wire = Wire(
      settings, name: "l", direction: .tx, end: .network(NetworkID(index: 0)), isUp: true,
      random: RandomSource(seed: 5), trace: Trace())
    var latest = Instant.zero
    var copies = 0
    for index in 0..<2_000 as Range<Int64> {
      guard case .carry(let carriage) = wire.offer(100, at: .zero + .milliseconds(5) * index) else { continue }
      latest = max(latest, carriage.departure + carriage.delay)
      #expect(carriage.arrival == latest)
      guard let copy = carriage.copy else { continue }
      copies += 1
      #expect(copy.arrival == max(latest, carriage.departure + copy.delay))
    }
    #expect(copies > 400)
  }

  @Test func `a copy in the queue holds nothing back when the rate changes`() throws {
    let slow = LinkSettings(
      rate: .kilobitsPerSecond(100), queue: .unlimited, jitter: .exponential(.milliseconds(50)), duplication: 0.5)
    let pair = try Pair(tx: slow)
    for tag in 0..<100 as Range<UInt8> { pair.send(tag) }
    var fast = slow
    fast.rate = .megabitsPerSecond(10)
    try pair.simulator.setLink(try pair.simulator.link("a"), .tx, fast)
    pair.simulator.run(until: .zero + .seconds(30))
    var seen: [UInt8] = []
    for tag in pair.b.tags where !seen.contains(tag) { seen.append(tag) }
    #expect(seen == Array(0..<100))
    #expect(pair.b.tags.count > 120)
  }

  @Test func `a packet and its copy are damaged each on its own`() throws {
    let pair = try Pair(
      tx: LinkSettings(duplication: 1, corruption: Corruption(probability: 0.5, isAfterChecksum: true)))
    var damaged = [0, 0, 0]
    for _ in 0..<300 {
      pair.send(size: 64)
      pair.simulator.run(until: pair.simulator.now + .milliseconds(1))
      let two = pair.b.arrivals.suffix(2).map(\.bytes)
      let count = two.count { $0.contains { $0 != 0 } }
      damaged[count] += 1
    }
    // A quarter, a half, a quarter.
    #expect((50...100).contains(damaged[0]) && (120...180).contains(damaged[1]) && (50...100).contains(damaged[2]))
    #expect(pair.simulator.packetsInFlight == 0)
  }

  @Test func `a packet both lost and duplicated arrives once`() throws {
    let pair = try Pair(tx: LinkSettings(loss: .random(1), duplication: 1))
    pair.send(7)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.tags == [7])
  }

  @Test func `a damaged packet is dropped by the checksum`() throws {
    let pair = try Pair(tx: LinkSettings(corruption: Corruption(probability: 1)))
    let drops = Drops(pair.simulator.trace)
    pair.send()
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.arrivals.isEmpty)
    #expect(drops.reasons == ["corrupt"])
  }

  @Test func `damage behind the checksum flips one bit of this copy only`() throws {
    let pair = try Pair(
      tx: LinkSettings(duplication: 0, corruption: Corruption(probability: 1, isAfterChecksum: true)))
    pair.send(size: 64)
    pair.simulator.run(until: .zero + .seconds(1))
    let ones = pair.b.arrivals[0].bytes.reduce(0) { $0 + $1.nonzeroBitCount }
    #expect(ones == 1)
  }

  @Test func `a datagram larger than the MTU is dropped and one that fits is not`() throws {
    let pair = try Pair(tx: LinkSettings(mtu: 1_280))
    let drops = Drops(pair.simulator.trace)
    pair.send(1, size: 1_252)
    pair.send(2, size: 1_253)
    pair.send(3, size: 9_000)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.tags == [1])
    #expect(drops.reasons == ["mtu", "mtu"])
  }

  @Test func `IPv6 headers count 48 bytes`() throws {
    let pair = try Pair(prefix: "2001:db8::/64", tx: LinkSettings(mtu: 1_280))
    pair.send(1, size: 1_232)
    pair.send(2, size: 1_233)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.tags == [1])
    #expect(pair.b.arrivals.first?.path.remote.address == IPAddress("2001:db8::2"))
  }

  @Test func `a link that goes down loses what it carries and queues`() throws {
    let pair = try Pair(tx: LinkSettings(rate: .kilobitsPerSecond(800), delay: .milliseconds(50)))
    let drops = Drops(pair.simulator.trace)
    for tag in 1...3 as ClosedRange<UInt8> { pair.send(tag, size: 972) }
    pair.simulator.run(until: .zero + .milliseconds(15))
    try pair.simulator.setLink("a", isUp: false)
    pair.send(4)
    try pair.simulator.setLink("a", isUp: true)
    pair.send(5)
    pair.simulator.run(until: .zero + .seconds(1))
    #expect(pair.b.tags == [5])
    // Two queued, one sent while no interface was up, one on its way.
    #expect(drops.reasons == ["link-down", "link-down", "no-route", "link-down"])
    #expect(pair.simulator.packetsInFlight == 0)
  }

  @Test func `a blackhole is one-way and shows to nobody`() throws {
    let pair = try Pair()
    let drops = Drops(pair.simulator.trace)
    pair.simulator.run(until: .zero + .seconds(1))
    let notices = pair.a.changes.count
    try pair.simulator.setLink("a", .tx) { $0.isBlackhole = true }
    pair.send()
    pair.simulator.send([1], from: pair.bSocket, to: pair.aEndpoint)
    pair.simulator.run(until: .zero + .seconds(2))
    #expect(pair.b.arrivals.isEmpty)
    #expect(pair.a.tags == [1])
    #expect(drops.reasons == ["blackhole"])
    #expect(pair.a.changes.count == notices)
    #expect(pair.simulator.interfaces(of: pair.aHost)[0].isUp)
  }

  @Test func `settings that make no sense are refused`() throws {
    let pair = try Pair()
    #expect(throws: SimulatorError.self) { try pair.simulator.setLink("a", .tx) { $0.loss = .random(1.5) } }
    #expect(throws: SimulatorError.self) {
      try pair.simulator.setLink("a", .tx) { $0.rate = .kilobitsPerSecond(0) }
    }
    #expect(throws: SimulatorError.unknownLink("x")) { try pair.simulator.setLink("x", isUp: false) }
  }

  @Test func `a change of rate keeps the order of what it moves and of what is already on its way`() throws {
    let pair = try Pair(
      tx: LinkSettings(rate: .kilobitsPerSecond(800), delay: .milliseconds(60), jitter: .uniform(.milliseconds(50))))
    for tag in 0..<20 as Range<UInt8> { pair.send(tag, size: 972) }
    for step in 1...10 as ClosedRange<Int64> {
      pair.simulator.run(until: .zero + .milliseconds(step * 13))
      try pair.simulator.setLink("a", .tx) { $0.rate = .kilobitsPerSecond(step % 2 == 0 ? 500 : 3_000) }
    }
    pair.simulator.run(until: .zero + .seconds(2))
    #expect(pair.b.tags == (0..<20).map { UInt8($0) })
    #expect(pair.simulator.packetsInFlight == 0)
  }

  @Test func `a schedule of rates passes the bits it promises`() throws {
    // 1 s each at 1, 2 and 0.5 Mbit/s, always backlogged: 3.5 Mbit, in packets of 8000 bits.
    let pair = try Pair(tx: LinkSettings(rate: .megabitsPerSecond(1), queue: .unlimited), tracesPackets: false)
    for _ in 0..<1_000 { pair.send(size: 972) }
    for (second, rate) in [(1, 2_000), (2, 500)] as [(Int64, Int64)] {
      pair.simulator.run(until: .zero + .seconds(second))
      try pair.simulator.setLink("a", .tx) { $0.rate = .kilobitsPerSecond(rate) }
    }
    pair.simulator.run(until: .zero + .seconds(3))
    // The packet cut by each change loses less than a nanosecond to rounding, so the last may be one short.
    #expect((436...437).contains(pair.b.arrivals.count))
  }

  @Test func `exponential jitter only adds delay`() throws {
    let pair = try Pair(
      tx: LinkSettings(delay: .milliseconds(20), jitter: .exponential(.milliseconds(10)), order: .allow))
    for _ in 0..<2_000 { pair.send() }
    pair.simulator.run(until: .zero + .seconds(5))
    let times: [Double] = pair.b.arrivals.map { $0.time.seconds * 1_000 }
    let isNeverEarly = times.allSatisfy { $0 >= 20 }
    #expect(isNeverEarly)
    let mean: Double = times.reduce(0, +) / 2_000
    #expect(abs(mean - 30) < 1)
  }
}
