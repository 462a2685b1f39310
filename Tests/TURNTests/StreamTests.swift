import CallCore
import STUN
import StackWorlds
import TURN
import Testing

/// A client that reaches its server over a connection. The world carries messages; who cuts bytes is the framer.
@Suite struct StreamTests {
  static let peer = Endpoint("192.0.2.9:7000")!

  private func world(_ configure: (inout TURNServer.Configuration) -> Void = { _ in }) -> TURNWorld {
    TURNWorld { server, client in
      client.transport = .tcp
      configure(&server)
    }
  }

  @Test func `an allocation is made over the connection, and data passes both ways`() throws {
    let world = world()
    let allocation = try world.allocate()
    #expect(allocation.mapped == TURNWorld.clientAddress)
    try world.send([1], to: Self.peer)
    world.run(for: .milliseconds(100))
    try world.send([2], to: Self.peer)
    try world.peerSends([3], from: Self.peer)
    #expect(world.clientSent.allSatisfy { $0.path.transport == .tcp })
    #expect(world.peerReceived.map(\.bytes) == [[1], [2]])
    #expect(world.peerReceived.allSatisfy { $0.path.transport == .udp })
    #expect(world.events.last == .data(from: Self.peer, [3]))
  }

  @Test func `ChannelData is padded to four bytes both ways`() throws {
    let world = world()
    try world.allocate()
    try world.client.bindChannel(to: Self.peer, at: world.now)
    world.run(for: .milliseconds(100))
    for size in 0...5 {
      let payload = [UInt8](repeating: 9, count: size)
      try world.send(payload, to: Self.peer)
      world.run(for: .milliseconds(100))
      let sent = try #require(world.clientSent.last)
      #expect(sent.bytes.count == 4 + (size + 3) / 4 * 4 && sent.bytes[3] == UInt8(size))
      try world.peerSends(payload, from: Self.peer)
      #expect(world.events.last == .data(from: Self.peer, payload) && world.peerReceived.last?.bytes == payload)
      let received = try #require(world.clientReceived.last)
      #expect(received.count == sent.bytes.count)
    }
  }

  @Test func `a request is sent once and given up after 39-5 s`() throws {
    let world = world()
    world.serverIsUp = false
    try world.client.allocate(at: .zero)
    world.run(for: .milliseconds(39_499))
    #expect(world.events.isEmpty && world.requests(.allocate).count == 1)
    world.run(for: .milliseconds(1))
    #expect(world.events == [.failed(.timedOut(.allocate))] && world.client.wake == .never)
  }

  @Test func `a connection that ends takes the allocation with it on both sides, at once`() throws {
    let world = world()
    let allocation = try world.allocate()
    world.client.connectionLost(at: world.now)
    world.server.streamClosed(world.clientPath.reversed, at: world.now)
    world.run(for: .zero)
    #expect(world.events.last == .failed(.connectionLost()) && TURNClient.Failure.connectionLost().code == 701)
    #expect(
      world.serverEvents.last == .closeRelay(allocation.relayed, client: TURNWorld.clientAddress, reason: .disconnected)
    )
    let (count, state) = (world.server.allocationCount, world.client.state)
    #expect(count == 0 && state == .failed && world.client.wake == .never && world.server.wake == .never)
    try world.allocate()
  }

  @Test func `a connection that ends during a release completes it`() throws {
    let world = world()
    try world.allocate()
    world.client.release(at: world.now)
    world.client.connectionLost(at: world.now)
    world.run(for: .seconds(1))
    let unsent = world.requests(.refresh).isEmpty
    #expect(world.events.last == .released && unsent)
  }

  @Test func `the end of a connection means nothing to a client that uses UDP`() throws {
    let world = TURNWorld()
    try world.allocate()
    world.client.connectionLost(at: world.now)
    let stream = Path(local: TURNWorld.serverAddress, remote: TURNWorld.clientAddress, transport: .tcp)
    world.server.streamClosed(stream, at: world.now)
    let (state, count) = (world.client.state, world.server.allocationCount)
    #expect(state == .allocated && count == 1)
  }

  @Test func `the same addresses over UDP and TCP are two clients`() throws {
    let world = world()
    try world.allocate()
    let path = Path(local: TURNWorld.serverAddress, remote: TURNWorld.clientAddress)
    let (overTCP, overUDP) = (
      world.server.hasAllocation(on: world.clientPath.reversed), world.server.hasAllocation(on: path)
    )
    #expect(overTCP && !overUDP)
    world.client.receive([0x40, 0, 0, 0].span.bytes, on: path.reversed, at: world.now)
    let unexpected = world.client.counters.unexpected
    #expect(unexpected == 1)
  }

  @Test func `a stale nonce is met over TCP as over UDP`() throws {
    let world = world { $0.nonceLifetime = .seconds(30) }
    try world.allocate()
    world.run(for: .minutes(20))
    let (state, stale) = (world.client.state, world.client.counters.staleNonces)
    #expect(state == .allocated && stale >= 2)
  }
}
