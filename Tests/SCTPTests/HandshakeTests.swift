import CallCore
import SCTP
import Testing

@Suite struct HandshakeTests {
  typealias World = SCTPWorld<SCTPAssociation>

  @Test func `one side opens the association with four packets`() {
    let world = World.associations()
    world.left.start(at: .zero)
    world.run(for: .seconds(1))
    #expect(world.left.state == .established)
    #expect(world.right.state == .established)
    #expect(world.events[0] == [.established])
    #expect(world.events[1] == [.established])
    let kinds = world.sent.map { $0.flatMap { chunks(of: $0) } }
    guard case .initiation(let initiation) = kinds[0][0], case .initiationAck(let ack) = kinds[1][0],
      case .cookieEcho(let cookie) = kinds[0][1]
    else {
      Issue.record("\(kinds)")
      return
    }
    #expect(kinds[1][1] == .cookieAck)
    #expect(cookie == ack.parameters.cookie)
    #expect(world.sent[0].map(tag) == [0, ack.initiateTag])
    #expect(world.sent[1].map(tag) == [initiation.initiateTag, initiation.initiateTag])
    #expect(initiation.parameters.supportedExtensions == [130, 192])
    #expect(world.sent.map(\.count) == [2, 2])
  }

  @Test func `both sides open at once`() {
    let world = World.associations()
    world.left.start(at: .zero)
    world.right.start(at: .zero)
    world.run(for: .seconds(3))
    #expect(world.left.state == .established)
    #expect(world.right.state == .established)
    #expect(world.events[0] == [.established])
    #expect(world.events[1] == [.established])
  }

  @Test(arguments: Side.allCases, 0..<6)
  func `the loss of any packet of a handshake from both sides is repaired`(side: Side, lost: Int) throws {
    let world = World.associations()
    world.drops = { from, number, _ in from == side && number == lost }
    world.left.start(at: .zero)
    world.right.start(at: .zero)
    let isOpen = world.run(within: .seconds(10)) {
      world.left.state == .established && world.right.state == .established
    }
    #expect(isOpen)
    try expectTransfer(in: world)
  }

  @Test(arguments: Side.allCases, 0..<3)
  func `the loss of any packet of a handshake from one side is repaired`(side: Side, lost: Int) throws {
    let world = World.associations()
    world.drops = { from, number, _ in from == side && number == lost }
    world.left.start(at: .zero)
    let isOpen = world.run(within: .seconds(10)) {
      world.left.state == .established && world.right.state == .established
    }
    #expect(isOpen)
    try expectTransfer(in: world)
  }

  @Test(arguments: 1...40 as ClosedRange<UInt64>)
  func `a handshake over a lossy reordering link opens one association`(seed: UInt64) throws {
    let world = World.associations(seed: seed)
    for side in 0..<2 {
      world.links[side].loss = 0.3
      world.links[side].duplication = 0.2
      world.links[side].reordering = 0.3
      world.links[side].reorderDelay = .seconds(2)
    }
    world.left.start(at: .zero)
    if seed % 2 == 0 { world.right.start(at: .zero) }
    let isOpen = world.run(within: .seconds(120)) {
      world.left.state == .established && world.right.state == .established
    }
    #expect(isOpen)
    world.run(for: .seconds(20))
    #expect(world.events[0].filter { $0 == .established }.count == 1)
    #expect(world.events[1].filter { $0 == .established }.count == 1)
    #expect(!world.events[0].contains(.restarted))
    #expect(!world.events[1].contains(.restarted))
    try expectTransfer(in: world, limit: .seconds(120))
  }

  func expectTransfer(in world: World, limit: Interval = .seconds(10)) throws {
    try world.left.send(OutgoingMessage(stream: 1, ppid: 53, payload: [1, 2]), at: world.now)
    try world.right.send(OutgoingMessage(stream: 2, ppid: 53, payload: [3]), at: world.now)
    let hasArrived = world.run(within: limit) { world.messages(.left).count == 1 && world.messages(.right).count == 1 }
    #expect(hasArrived)
  }

  @Test func `a repeated COOKIE ECHO is acknowledged again and changes nothing`() throws {
    let world = World.associations()
    world.left.start(at: .zero)
    world.run(for: .seconds(1))
    let echo = try #require(
      world.sent[0].first { chunks(of: $0).contains { if case .cookieEcho = $0 { true } else { false } } })
    world.sent = [[], []]
    world.deliver(echo, to: .right)
    #expect(world.sent[1].map { chunks(of: $0) } == [[.cookieAck]])
    #expect(world.events[1] == [.established])
    try expectTransfer(in: world)
  }

  @Test func `a cookie that another made is refused`() throws {
    let world = World.associations()
    world.left.start(at: .zero)
    world.drops = { side, number, _ in side == .left && number == 1 }
    world.run(for: .milliseconds(100))
    var forged = world.sent[0][1]
    #expect(world.left.state == .cookieEchoed)
    forged[20] ^= 1
    world.deliver(packet(tag: tag(of: forged), chunks(of: forged)), to: .right)
    #expect(world.right.state == .closed)
    #expect(world.right.counters.refusedCookies == 1)
  }

  @Test func `a stale cookie is reported and the handshake begins anew`() throws {
    let world = World.associations()
    world.left.start(at: .zero)
    // COOKIE ECHO is lost for longer than the lifetime.
    world.drops = { side, number, bytes in
      side == .left && number > 0 && tag(of: bytes) != 0 && world.now < .zero + .seconds(70)
    }
    world.run(for: .seconds(60))
    #expect(world.left.state == .cookieEchoed)
    let isOpen = world.run(within: .seconds(30)) {
      world.left.state == .established && world.right.state == .established
    }
    #expect(isOpen)
    #expect(world.left.counters.errorsReceived == 1)
  }

  @Test func `a handshake without answer ends after the limit of retransmissions`() {
    var settings = SCTPSettings()
    settings.maximumInitRetransmissions = 3
    settings.maximumBackoff = nil
    let world = World.associations(settings: settings)
    world.drops = { _, _, _ in true }
    world.left.start(at: .zero)
    world.run(for: .seconds(60))
    #expect(world.sent[0].count == 4)
    #expect(world.events[0] == [.closed(.timedOut)])
    // 1, 2, 4 and 8 s.
    #expect(world.left.state == .ended)
    #expect(world.left.deadline == nil)
  }

  @Test func `a peer that restarts makes a new association`() throws {
    let world = World.connected()
    try world.left.send(OutgoingMessage(stream: 0, ppid: 53, payload: [1]), at: world.now)
    world.run(for: .seconds(1))
    world.right = SCTPAssociation(random: RandomSource(seed: 99).stream("again"))
    world.right.start(at: world.now)
    let isOpen = world.run(within: .seconds(10)) { world.right.state == .established }
    #expect(isOpen)
    world.run(for: .seconds(1))
    #expect(world.takeEvents(.left) == [.restarted])
    _ = world.takeEvents(.right)
    try expectTransfer(in: world)
  }

  @Test func `a peer that opened with another tag than it answered with is followed`() throws {
    let world = World.associations()
    world.left.start(at: .zero)
    world.drain()
    guard case .initiation(let initiation)? = chunks(of: world.sent[0][0]).first else {
      Issue.record("no INIT")
      return
    }
    func initChunk(tag: UInt32, cookie: [UInt8]? = nil) -> InitChunk {
      InitChunk(
        initiateTag: tag, receiverWindow: 100_000, outboundStreams: 9, inboundStreams: 9, initialTSN: tag,
        parameters: InitParameters(cookie: cookie))
    }
    world.deliver(packet(tag: 0, [.initiation(initChunk(tag: 20))]), to: .left)
    guard case .initiationAck(let ack)? = world.sent[0].last.flatMap({ chunks(of: $0).first }) else {
      Issue.record("no INIT ACK")
      return
    }
    // Both sides know one tag of each (RFC 9260 section 5.2.1).
    #expect(ack.initiateTag == initiation.initiateTag)
    #expect(ack.initialTSN == initiation.initialTSN)
    let own = initiation.initiateTag
    world.deliver(packet(tag: own, [.initiationAck(initChunk(tag: 10, cookie: [1]))]), to: .left)
    #expect(world.left.state == .cookieEchoed)
    world.deliver(packet(tag: own, [.cookieEcho(ack.parameters.cookie ?? [])]), to: .left)
    #expect(world.left.state == .established)
    #expect(world.sent[0].last.map(tag) == 20)
    #expect(world.sent[0].last.map { chunks(of: $0) } == [.cookieAck])
    #expect(world.events[0] == [.established])
  }

  @Test func `an INIT with a tag or with company is refused`() {
    let world = World.associations()
    let initiation = SCTPChunk.initiation(
      InitChunk(initiateTag: 1, receiverWindow: 9_000, outboundStreams: 1, inboundStreams: 1, initialTSN: 1))
    world.deliver(packet(tag: 5, [initiation]), to: .left)
    world.deliver(packet(tag: 0, [initiation, .cookieAck]), to: .left)
    #expect(world.left.counters.wrongTag == 1)
    #expect(world.left.counters.malformed == 1)
    #expect(world.sent[0].isEmpty)
  }

  @Test func `an INIT without streams is aborted with its own tag`() {
    let world = World.associations()
    let initiation = SCTPChunk.initiation(
      InitChunk(initiateTag: 77, receiverWindow: 9_000, outboundStreams: 0, inboundStreams: 1, initialTSN: 1))
    world.deliver(packet(tag: 0, [initiation]), to: .left)
    #expect(
      world.sent[0].map { chunks(of: $0) } == [
        [.abort([SCTPErrorCause(.invalidMandatoryParameter)], isTagReflected: false)]
      ])
    #expect(world.sent[0].map(tag) == [77])
    #expect(world.left.state == .closed)
  }

  @Test func `packets with a wrong checksum, tag or port are counted and ignored`() {
    let world = World.connected()
    let good = packet(tag: 1, [.abort([], isTagReflected: false)])
    var bad = good
    bad[9] ^= 1
    world.deliver(bad, to: .left)
    world.deliver(good, to: .left)
    world.deliver(packet(tag: 1, [.cookieAck], sourcePort: 1), to: .left)
    world.deliver([1, 2, 3], to: .left)
    #expect(world.left.counters.wrongChecksum == 1)
    #expect(world.left.counters.wrongTag == 1)
    #expect(world.left.counters.wrongPort == 1)
    #expect(world.left.counters.malformed == 1)
    #expect(world.left.state == .established)
  }

  @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
  func `checksums are zero only if both sides accept that`(left: Bool, right: Bool) throws {
    var (settings, other) = (SCTPSettings(), SCTPSettings())
    settings.offersZeroChecksum = left
    other.offersZeroChecksum = right
    let world = World.connected(settings: settings, rightSettings: other)
    world.sent = [[], []]
    try expectTransfer(in: world)
    for packet in world.sent.joined() {
      #expect((SCTPPacketHeader.parse(packet.span.bytes)?.checksum == .zero) == (left && right))
    }
  }
}
