import CallCore
import SCTP
import Testing

@Suite struct PartialReliabilityTests {
  typealias World = SCTPWorld<SCTPAssociation>

  @Test(arguments: [false, true]) func `a message without retransmissions is skipped when it is lost`(
    isUnordered: Bool
  ) throws {
    let world = World.connected()
    let first = world.sentCount[0]
    world.drops = { side, number, _ in side == .left && number == first }
    for byte in 0..<4 as Range<UInt8> {
      try world.left.send(
        OutgoingMessage(stream: 0, ppid: 53, payload: [byte], isUnordered: isUnordered, maximumRetransmissions: 0),
        at: world.now)
      world.run(for: .milliseconds(1))
    }
    world.run(for: .milliseconds(100))
    #expect(world.messages(.right).map(\.payload) == [[1], [2], [3]])
    #expect(world.left.statistics.retransmittedPackets == 0)
    #expect(world.left.statistics.abandonedMessages == 1)
    #expect(world.left.statistics.unackData == 0)
  }

  @Test func `a large message of which a fragment is lost is skipped as a whole`() throws {
    let world = World.connected()
    let first = world.sentCount[0]
    world.drops = { side, number, _ in side == .left && number == first + 2 }
    try world.left.send(
      OutgoingMessage(stream: 0, ppid: 53, payload: payload(50_000), maximumRetransmissions: 0), at: world.now)
    try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: [7]), at: world.now)
    world.run(for: .seconds(3))
    #expect(world.messages(.right).map(\.payload) == [[7]])
    // The rest was not sent.
    #expect(world.sentCount[0] - first < 30)
    // The skip ends with a TSN that was never sent, in place of the rest: the peer may have everything before it.
    let sent = world.sent[0].flatMap { chunks(of: $0) }
    let last = sent.compactMap { if case .forwardTSN(let chunk) = $0 { chunk.newCumulativeTSN } else { nil } }.last
    #expect(last != nil)
    #expect(!sent.contains { if case .data(let chunk) = $0 { chunk.tsn == last } else { false } })
  }

  @Test func `a message is not sent after its lifetime`() throws {
    let world = World.connected()
    world.links[0].rate = 100_000
    try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: payload(100_000)), at: world.now)
    try world.left.send(
      OutgoingMessage(stream: 1, ppid: 53, payload: [1], expiry: world.now + .milliseconds(100)), at: world.now)
    try world.left.send(OutgoingMessage(stream: 1, ppid: 53, payload: [2]), at: world.now)
    // The first message has the link until then: without interleaving the others wait.
    world.run(for: .seconds(30))
    #expect(world.messages(.right).map(\.stream) == [0, 1])
    #expect(world.messages(.right).last?.payload == [2])
  }

  @Test func `a lost message is sent again until its lifetime ends`() throws {
    let world = World.connected()
    let start = world.now
    world.drops = { side, _, _ in side == .left && world.now < start + .seconds(3) }
    for (byte, lifetime) in [(1, 2), (2, 20)] as [(UInt8, Int64)] {
      try world.left.send(
        OutgoingMessage(stream: 0, ppid: 53, payload: [byte], expiry: world.now + .seconds(lifetime)), at: world.now)
      world.drain()
    }
    world.run(for: .seconds(20))
    #expect(world.messages(.right).map(\.payload) == [[2]])
    #expect(world.left.statistics.unackData == 0)
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `unreliable messages never block, and come in order at most once`(seed: UInt64) throws {
    let world = World.connected(seed: seed)
    for side in 0..<2 {
      world.links[side].loss = 0.2
      world.links[side].reordering = 0.1
    }
    var random = RandomSource(seed: seed).stream("messages")
    let sent = (0..<200).map { payload($0 % 10 == 0 ? 4_000 : 30, number: $0) }
    for (number, bytes) in sent.enumerated() {
      var message = OutgoingMessage(stream: UInt16(number % 3), ppid: 53, payload: bytes)
      switch random.uniform(below: 3) {
      case 0: message.maximumRetransmissions = 0
      case 1: message.maximumRetransmissions = 1
      default: message.expiry = world.now + .milliseconds(150)
      }
      try world.left.send(message, at: world.now)
      world.run(for: .milliseconds(10))
    }
    world.run(for: .seconds(30))
    // A reliable message behind them passes.
    for stream in 0..<3 as Range<UInt16> {
      try world.left.send(OutgoingMessage(stream: stream, ppid: 1, payload: [UInt8(stream)]), at: world.now)
    }
    world.run(for: .seconds(60))
    let received = world.messages(.right)
    #expect(received.filter { $0.ppid == 1 }.count == 3)
    let numbers = received.filter { $0.ppid == 53 }.map { message in sent.firstIndex(of: message.payload) }
    #expect(!numbers.contains(nil))
    for stream in 0..<3 {
      let ofStream = numbers.compactMap { $0 }.filter { $0 % 3 == stream }
      #expect(zip(ofStream, ofStream.dropFirst()).allSatisfy { $0 < $1 })
    }
    #expect(received.count > 100)
    #expect(world.left.statistics.unackData == 0)
    #expect(world.left.statistics.abandonedMessages > 0)
  }

  @Test func `limits mean nothing to a peer without FORWARD TSN`() throws {
    var other = SCTPSettings()
    other.offersPartialReliability = false
    let world = World.connected(rightSettings: other)
    let first = world.sentCount[0]
    world.drops = { side, number, _ in side == .left && number == first }
    try world.left.send(
      OutgoingMessage(stream: 0, ppid: 53, payload: [1], maximumRetransmissions: 0), at: world.now)
    world.run(for: .seconds(2))
    #expect(world.messages(.right).map(\.payload) == [[1]])
  }
}
