import CallCore
import SCTP
import Testing

@Suite struct TransferTests {
  typealias World = SCTPWorld<SCTPAssociation>

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `every message arrives once and in order over a lossy reordering link`(seed: UInt64) throws {
    let world = World.connected(seed: seed)
    for side in 0..<2 {
      world.links[side].loss = Double(seed % 4) * 0.07
      world.links[side].duplication = 0.05
      world.links[side].reordering = 0.2
    }
    var random = RandomSource(seed: seed).stream("messages")
    var expected: [[UInt16: [[UInt8]]]] = [[:], [:]]
    for number in 0..<60 {
      let stream = UInt16(random.uniform(below: 3))
      let size = random.chance(0.2) ? random.uniform(below: 9_000) : random.uniform(below: 300)
      let bytes = payload(Int(size) + 1, number: number)
      let message = OutgoingMessage(stream: stream, ppid: 53, payload: bytes)
      if random.chance(0.5) {
        try world.left.send(message, at: world.now)
        expected[1][stream, default: []].append(bytes)
      } else {
        try world.right.send(message, at: world.now)
        expected[0][stream, default: []].append(bytes)
      }
      world.run(for: .milliseconds(Int64(random.uniform(below: 30))))
    }
    world.run(for: .seconds(120))
    for side in Side.allCases {
      let received = Dictionary(grouping: world.messages(side), by: \.stream).mapValues { $0.map(\.payload) }
      #expect(received == expected[side.rawValue])
    }
    #expect(world.left.statistics.unackData == 0)
    #expect(world.right.statistics.unackData == 0)
  }

  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `unordered messages all arrive once, large ones too`(seed: UInt64) throws {
    let world = World.connected(seed: seed)
    for side in 0..<2 {
      world.links[side].loss = 0.15
      world.links[side].reordering = 0.3
    }
    let sent = (0..<40).map { payload($0 % 5 == 0 ? 5_000 : 50, number: $0) }
    for bytes in sent {
      try world.left.send(OutgoingMessage(stream: 1, ppid: 53, payload: bytes, isUnordered: true), at: world.now)
      world.run(for: .milliseconds(5))
    }
    world.run(for: .seconds(60))
    let received = world.messages(.right).map(\.payload)
    #expect(received.count == sent.count)
    #expect(Set(received) == Set(sent))
    // Some passed others.
    #expect(received != sent)
  }

  @Test func `a lost unordered message does not delay the next`() throws {
    let world = World.connected()
    let first = world.sentCount[0]
    world.drops = { side, number, _ in side == .left && number == first }
    try world.left.send(OutgoingMessage(stream: 1, ppid: 53, payload: [1], isUnordered: true), at: world.now)
    world.drain()
    try world.left.send(OutgoingMessage(stream: 1, ppid: 53, payload: [2], isUnordered: true), at: world.now)
    world.run(for: .milliseconds(50))
    #expect(world.messages(.right).map(\.payload) == [[2]])
    world.run(for: .seconds(2))
    #expect(world.messages(.right).map(\.payload) == [[2], [1]])
  }

  @Test func `a lost ordered message delays its own stream alone`() throws {
    let world = World.connected()
    let first = world.sentCount[0]
    world.drops = { side, number, _ in side == .left && number == first }
    for (stream, byte) in [(1, 1), (1, 2), (2, 3)] as [(UInt16, UInt8)] {
      try world.left.send(OutgoingMessage(stream: stream, ppid: 53, payload: [byte]), at: world.now)
      world.drain()
    }
    world.run(for: .milliseconds(50))
    #expect(world.messages(.right).map(\.payload) == [[3]])
    world.run(for: .seconds(2))
    #expect(world.messages(.right).map(\.payload) == [[3], [1], [2]])
  }

  @Test func `messages of 256 KiB pass in both directions at once`() throws {
    let world = World.connected()
    for side in 0..<2 { world.links[side].loss = 0.02 }
    let bytes = payload(262_144)
    try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: bytes), at: world.now)
    try world.right.send(OutgoingMessage(stream: 0, ppid: 53, payload: bytes), at: world.now)
    let hasArrived = world.run(within: .seconds(60)) {
      !world.messages(.left).isEmpty && !world.messages(.right).isEmpty
    }
    #expect(hasArrived)
    #expect(world.messages(.left).map(\.payload) == [bytes])
    #expect(world.messages(.right).map(\.payload) == [bytes])
    #expect(world.sent.joined().allSatisfy { $0.count <= 1_191 })
  }

  @Test func `small messages share packets`() throws {
    let world = World.connected()
    let before = world.sentCount[0]
    for number in 0..<50 {
      try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: [UInt8(number)]), at: world.now)
    }
    world.run(for: .milliseconds(5))
    // 20 bytes a chunk.
    #expect(world.sentCount[0] - before == 1)
    world.run(for: .seconds(1))
    #expect(world.messages(.right).map(\.payload) == (0..<50).map { [$0] })
  }

  @Test func `three SACKs that report a chunk missing have it sent again before the timeout`() throws {
    let world = World.connected()
    let first = world.sentCount[0]
    world.drops = { side, number, _ in side == .left && number == first }
    for number in 0..<5 {
      try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: payload(1_000, number: number)), at: world.now)
      world.run(for: .milliseconds(1))
    }
    world.run(for: .milliseconds(60))
    #expect(world.messages(.right).count == 5)
    #expect(world.left.statistics.retransmittedPackets == 1)
    // Half of the initial window of ten packets.
    #expect(world.left.statistics.congestionWindow < 7 * 1_191)
  }

  @Test(arguments: [1_000_000, 10_000_000], [5, 100] as [Int64])
  func `without losses nothing is sent twice`(rate: Int64, delay: Int64) throws {
    let world = World.connected()
    for side in 0..<2 {
      world.links[side].rate = rate
      world.links[side].delay = .milliseconds(delay)
    }
    try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: payload(150_000)), at: world.now)
    for number in 0..<20 {
      try world.right.send(OutgoingMessage(stream: 0, ppid: 53, payload: payload(100, number: number)), at: world.now)
      world.run(for: .milliseconds(70))
    }
    world.run(for: .seconds(30))
    #expect(world.messages(.right).count == 1)
    #expect(world.messages(.left).count == 20)
    #expect(world.right.statistics.retransmittedPackets == 0)
    #expect(world.left.statistics.retransmittedPackets == 0)
  }

  @Test(arguments: [1, 2]) func `a chunk is sent again once for each loss, without a timeout`(losses: Int) throws {
    let world = World.connected()
    var lost: UInt32?
    var transmissions = 0
    world.drops = { side, _, bytes in
      guard side == .left else { return false }
      for case .data(let chunk) in chunks(of: bytes) {
        lost = lost ?? chunk.tsn
        guard chunk.tsn == lost else { continue }
        transmissions += 1
        return transmissions <= losses
      }
      return false
    }
    for number in 0..<100 {
      try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: payload(1_000, number: number)), at: world.now)
      world.run(for: .milliseconds(2))
    }
    // Less than the least timeout.
    #expect(world.messages(.right).count > 50)
    world.run(for: .seconds(3))
    #expect(world.messages(.right).count == 100)
    #expect(transmissions == losses + 1)
    #expect(world.left.statistics.retransmittedPackets == losses)
  }

  @Test func `sequence numbers of chunks and messages wrap`() throws {
    // Every draw is the largest number, so that the second TSN is zero.
    let source = RandomSource(drawing: { .max })
    let world = World(
      SCTPAssociation(random: source.stream("left")), SCTPAssociation(random: source.stream("right")))
    world.left.start(at: .zero)
    world.links[0].loss = 0.02
    world.run(for: .seconds(20))
    _ = (world.takeEvents(.left), world.takeEvents(.right))
    world.keepsSent = false
    for number in 0..<66_000 {
      try world.left.send(
        OutgoingMessage(stream: 0, ppid: UInt32(number), payload: [1], maximumRetransmissions: number < 100 ? 0 : nil),
        at: world.now)
    }
    let hasArrived = world.run(within: .minutes(10)) { world.left.statistics.unackData == 0 }
    #expect(hasArrived)
    world.run(for: .seconds(20))
    let numbers = world.messages(.right).map(\.ppid)
    #expect(Array(numbers.suffix(65_900)) == Array(100..<UInt32(66_000)))
  }

  @Test func `a loss at the end is repaired by the timeout, with a window of one packet`() throws {
    let world = World.connected()
    let first = world.sentCount[0]
    world.drops = { side, number, _ in side == .left && number == first }
    try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: [1]), at: world.now)
    world.run(for: .milliseconds(499))
    #expect(world.messages(.right).isEmpty)
    world.run(for: .milliseconds(2))
    #expect(world.left.statistics.congestionWindow == 1_191)
    world.run(for: .milliseconds(10))
    #expect(world.messages(.right).count == 1)
  }

  @Test func `DATA is acknowledged at once in every second packet, and after 200 ms otherwise`() throws {
    let world = World.connected()
    func acknowledgments(_ count: Int) throws -> Int {
      let before = world.sentCount[1]
      for _ in 0..<count {
        try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: payload(1_000)), at: world.now)
        world.drain()
      }
      world.run(for: .milliseconds(50))
      return world.sentCount[1] - before
    }
    // The first DATA of an association is acknowledged at once.
    #expect(try acknowledgments(1) == 1)
    #expect(try acknowledgments(1) == 0)
    world.run(for: .milliseconds(200))
    #expect(try acknowledgments(4) == 2)
  }

  @Test func `the association ends after the limit of retransmissions`() throws {
    var settings = SCTPSettings()
    settings.maximumRetransmissions = 4
    let world = World.connected(settings: settings)
    world.drops = { _, _, _ in true }
    try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: [1]), at: world.now)
    world.run(for: .seconds(60))
    #expect(world.events[0] == [.closed(.timedOut)])
  }

  @Test func `without a limit a message arrives after a long outage`() throws {
    let world = World.connected()
    world.drops = { _, _, _ in world.now < .zero + .minutes(10) }
    try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: [1]), at: world.now)
    world.run(until: .zero + .minutes(10))
    // The backoff is limited to three seconds.
    world.run(for: .milliseconds(3_100))
    #expect(world.messages(.right).count == 1)
  }

  @Test func `an idle association sends heartbeats, which measure the round-trip time`() {
    let world = World.connected()
    #expect(world.left.statistics.smoothedRoundTripTime == nil)
    world.run(for: .seconds(32))
    #expect(world.left.statistics.smoothedRoundTripTime == .milliseconds(20))
    let before = world.sentCount[0]
    world.run(for: .seconds(310))
    // Ten of its own, and ten acknowledgments.
    #expect((19...22).contains(world.sentCount[0] - before))
  }

  @Test func `a peer without answer to heartbeats is given up`() {
    var settings = SCTPSettings()
    settings.maximumRetransmissions = 2
    let world = World.connected(settings: settings)
    world.drops = { _, _, _ in true }
    world.run(for: .minutes(5))
    #expect(world.events[0] == [.closed(.timedOut)])
  }

  @Test(arguments: [0, 0.001]) func `a transfer fills a link of 10 Mbit/s and 50 ms`(loss: Double) throws {
    let world = World.connected()
    world.keepsSent = false
    for side in 0..<2 {
      world.links[side].delay = .milliseconds(25)
      world.links[side].rate = 10_000_000
      // The product of bandwidth and delay.
      world.links[side].queueLimit = 62_500
      world.links[side].loss = loss
    }
    let message = payload(65_536)
    func fill() throws {
      while world.left.bufferedBytes(of: 0) < 500_000 {
        try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: message), at: world.now)
      }
    }
    for second in 0..<5 {
      // After slow start.
      if second == 2 { world.events[1] = [] }
      for _ in 0..<20 {
        try fill()
        world.run(for: .milliseconds(50))
      }
    }
    let received = world.messages(.right).reduce(0) { $0 + $1.payload.count }
    let share = Double(received) * 8 / 3 / 10_000_000
    // 31 bytes of headers in a packet.
    #expect(share > 1_160 / 1_191 * (loss == 0 ? 0.97 : 0.75), "\(share) of the rate")
  }

  @Test func `a receiver with a full buffer closes its window, and the sender waits`() throws {
    var settings = SCTPSettings()
    settings.receiveBuffer = 20_000
    let world = World.connected(settings: settings)
    // The first fragment is lost until the end: everything else waits in the receiver's buffer.
    let first = world.sentCount[0]
    var isLost = true
    world.drops = { side, number, bytes in
      side == .left && isLost
        && chunks(of: bytes).contains { if case .data(let chunk) = $0 { chunk.ssn == 0 } else { false } }
        && number >= first
    }
    for number in 0..<60 {
      try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: payload(1_000, number: number)), at: world.now)
    }
    world.run(for: .seconds(20))
    #expect(world.left.statistics.receiverWindow < 2_000)
    #expect(world.left.bufferedBytes(of: 0) > 30_000)
    #expect(world.messages(.right).isEmpty)
    isLost = false
    world.run(for: .seconds(20))
    #expect(world.messages(.right).map(\.payload) == (0..<60).map { payload(1_000, number: $0) })
  }

  @Test func `a message that the receive buffer cannot hold aborts the association`() throws {
    var settings = SCTPSettings()
    settings.receiveBuffer = 20_000
    let world = World.connected(settings: settings)
    try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: payload(40_000)), at: world.now)
    world.run(for: .seconds(60))
    #expect(world.events[1] == [.closed(.failed(.outOfResource))])
    #expect(world.events[0] == [.closed(.peerAborted([SCTPErrorCause(.outOfResource)]))])
  }

  @Test func `streams take turns by messages, more of them with a higher priority`() throws {
    let world = World.connected()
    for number in 0..<12 {
      for (stream, priority) in [(1, 256), (2, 512)] as [(UInt16, UInt16)] {
        try world.left.send(
          OutgoingMessage(stream: stream, ppid: 53, payload: payload(2_000, number: number), priority: priority),
          at: world.now)
      }
    }
    world.run(for: .seconds(5))
    let streams = world.messages(.right).prefix(12).map(\.stream)
    #expect(streams.filter { $0 == 2 }.count == 8)
  }

  @Test func `the same seed sends the same bytes`() throws {
    func run() throws -> [[[UInt8]]] {
      let world = World.connected(seed: 5)
      for side in 0..<2 {
        world.links[side].loss = 0.1
        world.links[side].reordering = 0.1
      }
      for number in 0..<50 {
        for stream in 0..<UInt16(10) {
          try world.left.send(
            OutgoingMessage(
              stream: stream, ppid: 53, payload: payload(700, number: number), isUnordered: stream % 2 == 0,
              maximumRetransmissions: stream == 3 ? 0 : nil), at: world.now)
        }
        world.run(for: .milliseconds(20))
      }
      world.run(for: .seconds(30))
      return world.sent
    }
    #expect(try run() == run())
  }
}
