import CallCore
import STUN
import StackWorlds
import TURN
import Testing

@Suite struct ClientTests {
  static let peer = Endpoint("192.0.2.9:7000")!

  @Test func `a challenged client allocates with the second request`() throws {
    let world = TURNWorld()
    let allocation = try world.allocate()
    #expect(allocation.mapped == TURNWorld.clientAddress && allocation.lifetime == .seconds(600))
    #expect(allocation.relayed.address == IPAddress("203.0.113.1")! && allocation.relayed.port >= 49_152)
    #expect(world.events == [.allocated(allocation)])
    #expect(world.requests(.allocate).map(\.message.hasIntegrity) == [false, true])
    #expect(
      world.serverEvents == [.openRelay(allocation.relayed, client: TURNWorld.clientAddress, username: "alice")])
  }

  @Test func `an IPv6 relay is asked for by family`() throws {
    let world = TURNWorld { _, client in client.family = .ipv6 }
    let allocation = try world.allocate()
    #expect(allocation.relayed.address == IPAddress("2001:db8::1")!)
    let peer = Endpoint("[2001:db8:5::9]:7000")!
    try world.send([1], to: peer)
    world.run(for: .seconds(1))
    #expect(world.peerReceived.map(\.bytes) == [[1]])
    try world.peerSends([2, 3], from: peer)
    #expect(world.events.last == .data(from: peer, [2, 3]))
  }

  @Test func `a wrong password fails with 401 after one try`() throws {
    let world = TURNWorld { _, client in client.credentials.password = "wrong" }
    try world.client.allocate(at: .zero)
    world.run(for: .seconds(60))
    #expect(world.events == [.failed(.rejected(.allocate, .unauthenticated))])
    #expect(world.requests(.allocate).count == 2)
  }

  @Test(arguments: [
    STUNError.forbidden, .wrongCredentials, .unsupportedTransport, .allocationQuotaReached, .insufficientCapacity,
    .addressFamilyNotSupported, .peerAddressFamilyMismatch, .serverError, .badRequest,
  ])
  func `an allocation the server refuses fails with its code`(error: STUNError) throws {
    let world = TURNWorld()
    world.server.rejectNext(.allocate, with: error)
    try world.client.allocate(at: .zero)
    world.run(for: .seconds(60))
    #expect(world.events == [.failed(.rejected(.allocate, error))])
    let (code, state) = (TURNClient.Failure.rejected(.allocate, error).code, world.client.state)
    #expect(code == error.code && state == .failed)
    #expect(world.client.wake == .never)
  }

  @Test func `437 asks for a new local address, and the next allocation succeeds from there`() throws {
    let world = TURNWorld()
    world.server.rejectNext(.allocate, with: .allocationMismatch)
    try world.client.allocate(at: .zero)
    world.run(for: .seconds(1))
    #expect(world.events == [.newLocalAddressNeeded])
    let other = Endpoint("198.51.100.7:5001")!
    try world.client.allocate(from: other, at: world.now)
    world.run(for: .seconds(1))
    #expect(world.client.allocation?.mapped == other)
  }

  @Test func `a challenge too long to be answered in a datagram times out instead of trapping`() throws {
    let world = TURNWorld()
    world.serverIsUp = false
    try world.client.allocate(at: .zero)
    world.run(for: .milliseconds(10))
    let id = try #require(world.requests(.allocate).last?.message.transactionID)
    var challenge = STUNMessageBuilder(.errorResponse, .allocate, id)
    challenge.append(.errorCode, .unauthenticated)
    challenge.append(.realm, String(repeating: "r", count: 763))
    challenge.append(.nonce, String(repeating: "n", count: 763))
    let path = Path(local: TURNWorld.clientAddress, remote: TURNWorld.serverAddress)
    world.client.receive(challenge.bytes.span.bytes, on: path, at: world.now)
    world.run(for: .seconds(60))
    #expect(world.events == [.failed(.timedOut(.allocate))])
  }

  @Test func `a silent server fails the allocation after all retransmissions, at 39-5 s`() throws {
    let world = TURNWorld()
    world.serverIsUp = false
    try world.client.allocate(at: .zero)
    world.run(for: .milliseconds(39_499))
    #expect(world.events.isEmpty && world.requests(.allocate).count == 7)
    world.run(for: .milliseconds(1))
    #expect(world.events == [.failed(.timedOut(.allocate))])
    #expect(TURNClient.Failure.timedOut(.allocate).code == 701)
    #expect(world.client.wake == .never)
  }

  @Test func `300 leads to the alternate server`() throws {
    let world = TURNWorld()
    let alternate = Endpoint("203.0.113.99:3478")!
    world.server.rejectNext(.allocate, with: .tryAlternate, alternate: alternate)
    try world.client.allocate(at: .zero)
    world.run(for: .milliseconds(200))
    let last = try #require(world.clientSent.last)
    #expect(last.path.remote == alternate)
    let message = try STUNMessage(parsing: last.bytes.span.bytes)
    #expect(!message.hasIntegrity && message.method == .allocate)
  }

  @Test func `300 says which domain name the alternate server must prove to have`() throws {
    let world = TURNWorld { _, client in client.transport = .tls }
    world.serverIsUp = false
    try world.client.allocate(at: .zero)
    world.run(for: .milliseconds(100))
    #expect(world.client.alternateDomain == nil)
    let id = try #require(world.requests(.allocate).last?.message.transactionID)
    var redirection = STUNMessageBuilder(.errorResponse, .allocate, id)
    redirection.append(.errorCode, .tryAlternate)
    redirection.append(.alternateServer, Endpoint("203.0.113.99:3478")!)
    redirection.append(.alternateDomain, "turn.example.org")
    world.client.receive(redirection.bytes.span.bytes, on: world.client.path, at: world.now)
    #expect(world.client.alternateDomain == "turn.example.org")
    world.run(for: .seconds(60))
    try world.client.allocate(at: world.now)
    #expect(world.client.alternateDomain == nil)
  }

  @Test func `300 without an alternate is a failure`() throws {
    let world = TURNWorld()
    world.server.rejectNext(.allocate, with: .tryAlternate)
    try world.client.allocate(at: .zero)
    world.run(for: .seconds(1))
    #expect(world.events == [.failed(.rejected(.allocate, .tryAlternate))])
  }

  @Test func `payloads wait for the permission, then go out in order, then through a channel`() throws {
    let world = TURNWorld()
    try world.allocate()
    for byte: UInt8 in 1...3 { try world.send([byte], to: Self.peer) }
    #expect(world.peerReceived.isEmpty)
    world.run(for: .milliseconds(100))
    #expect(world.peerReceived.map(\.bytes) == [[1], [2], [3]])
    try world.send([4], to: Self.peer)
    world.run(for: .milliseconds(100))
    #expect(world.peerReceived.map(\.bytes).last == [4])
    #expect(world.peerReceived.allSatisfy { $0.path.local == Self.peer })
    #expect(world.events.contains(.permissionGranted(Self.peer.address)))
    #expect(world.events.contains(.channelBound(Self.peer, number: 0x4000)))
    let counters = world.client.counters
    #expect(
      counters.indicationsSent == 3 && counters.channelDataSent == 1 && world.requests(.createPermission).count == 1)
  }

  @Test func `a peer's data arrives in an indication, and through a channel once there is one`() throws {
    let world = TURNWorld { _, client in client.indicationsBeforeChannel = nil }
    try world.allocate()
    try world.client.createPermission(for: Self.peer.address, at: world.now)
    world.run(for: .milliseconds(100))
    try world.peerSends([1, 2, 3], from: Self.peer)
    #expect(world.events.last == .data(from: Self.peer, [1, 2, 3]))
    try world.client.bindChannel(to: Self.peer, at: world.now)
    world.run(for: .milliseconds(100))
    try world.peerSends([], from: Self.peer)
    #expect(world.events.last == .data(from: Self.peer, []))
    let counters = world.client.counters
    #expect(counters.indicationsReceived == 1 && counters.channelDataReceived == 1)
  }

  @Test func `data through a channel whose binding's answer was lost is taken`() throws {
    let world = TURNWorld { _, client in client.indicationsBeforeChannel = nil }
    try world.allocate()
    world.isLost = { $0.path.local == TURNWorld.serverAddress && $0.bytes.first == 0x01 }
    try world.client.bindChannel(to: Self.peer, at: world.now)
    world.run(for: .milliseconds(100))
    try world.peerSends([1], from: Self.peer)
    #expect(world.events.last == .data(from: Self.peer, [1]) && world.client.counters.channelDataReceived == 1)
  }

  @Test func `data from an address without permission never reaches the client`() throws {
    let world = TURNWorld()
    try world.allocate()
    try world.peerSends([1], from: Self.peer)
    #expect(world.events.count == 1 && world.server.counters.droppedWithoutPermission == 1)
  }

  @Test func `a Data indication from a peer the client never permitted is not believed`() throws {
    let world = TURNWorld()
    try world.allocate()
    var indication = STUNMessageBuilder(.indication, .data, STUNTransactionID(high: 1, low: 1))
    indication.append(.xorPeerAddress, Self.peer)
    indication.append(.data, [1])
    let path = Path(local: TURNWorld.clientAddress, remote: TURNWorld.serverAddress)
    world.client.receive(indication.bytes.span.bytes, on: path, at: world.now)
    world.run(for: .seconds(1))
    #expect(world.events.count == 1 && world.client.counters.unexpected == 1)
  }

  @Test func `media is read in place, and everything else is left to receive`() throws {
    let world = TURNWorld()
    try world.allocate()
    try world.client.bindChannel(to: Self.peer, at: world.now)
    let path = Path(local: TURNWorld.clientAddress, remote: TURNWorld.serverAddress)
    let channelData: [UInt8] = [0x40, 0, 0, 2, 7, 8, 0, 0]
    let found = world.client.payload(of: channelData.span.bytes, on: path, at: world.now)
    #expect(found?.peer == Self.peer && found?.range == 4..<6)
    let other: [UInt8] = [0x16, 0xFE, 0xFD, 0]
    let nothing = world.client.payload(of: other.span.bytes, on: path, at: world.now)
    let elsewhere = world.client.payload(of: channelData.span.bytes, on: path.reversed, at: world.now)
    #expect(nothing == nil && elsewhere == nil)
  }

  @Test func `the waiting queue is bounded and drops the oldest`() throws {
    let world = TURNWorld { _, client in client.queueLimit = 2 }
    try world.allocate()
    for byte: UInt8 in 1...5 { try world.send([byte], to: Self.peer) }
    world.run(for: .seconds(1))
    #expect(world.peerReceived.map(\.bytes) == [[4], [5]] && world.client.counters.droppedPayloads == 3)
  }

  @Test func `a denied peer is reported and what waited for it is dropped`() throws {
    let world = TURNWorld { server, _ in server.deniedPeers = [IPPrefix("192.0.2.0/24")!] }
    try world.allocate()
    try world.send([1], to: Self.peer)
    world.run(for: .seconds(1))
    #expect(
      world.events.last == .permissionFailed(Self.peer.address, .rejected(.createPermission, .forbidden)))
    #expect(world.peerReceived.isEmpty && world.client.counters.droppedPayloads == 1)
    let state = world.client.state
    #expect(state == .allocated)
  }

  @Test func `releasing sends a Refresh of zero and leaves nothing pending`() throws {
    let world = TURNWorld()
    let allocation = try world.allocate()
    world.client.release(at: world.now)
    world.run(for: .seconds(1))
    #expect(world.events.last == .released)
    #expect(world.requests(.refresh).last?.message[.lifetime] == 0)
    #expect(
      world.serverEvents.last == .closeRelay(allocation.relayed, client: TURNWorld.clientAddress, reason: .released))
    #expect(world.client.wake == .never && world.server.wake == .never)
  }

  @Test func `a release of what the server no longer knows ends well`() throws {
    let world = TURNWorld()
    try world.allocate()
    world.server.restart(at: world.now)
    world.client.release(at: world.now)
    world.run(for: .seconds(1))
    #expect(world.events.last == .released && world.client.state == .released)
  }

  @Test func `a release during the allocation gives it back as soon as it is there`() throws {
    let world = TURNWorld()
    try world.client.allocate(at: .zero)
    world.client.release(at: .zero)
    world.run(for: .seconds(2))
    #expect(world.events == [.released] && world.server.allocationCount == 0)
  }

  @Test func `a release whose answer is lost every time still ends`() throws {
    let world = TURNWorld()
    try world.allocate()
    world.serverIsUp = false
    world.client.release(at: world.now)
    world.run(for: .seconds(40))
    #expect(world.events.last == .released && world.client.wake == .never)
  }

  @Test func `a caller's mistakes are thrown`() throws {
    let world = TURNWorld()
    #expect(throws: TURNClient.Misuse.notAllocated) { try world.send([1], to: Self.peer) }
    try world.allocate()
    #expect(throws: TURNClient.Misuse.alreadyAllocated) { try world.client.allocate(at: world.now) }
    #expect(throws: TURNClient.Misuse.familyMismatch) { try world.send([1], to: Endpoint("[2001:db8::9]:1")!) }
    let large = [UInt8](repeating: 0, count: TURNClient.maximumPayload + 1)
    #expect(throws: TURNClient.Misuse.payloadTooLarge) { try world.send(large, to: Self.peer) }
  }

  @Test func `the largest payload fits a datagram, by indication and by channel, over IPv6`() throws {
    let world = TURNWorld { _, client in client.family = .ipv6 }
    try world.allocate()
    let peer = Endpoint("[2001:db8:5::9]:7000")!
    let large = [UInt8](repeating: 7, count: TURNClient.maximumPayload)
    try world.send(large, to: peer)
    world.run(for: .seconds(1))
    try world.send(large, to: peer)
    try world.peerSends(large, from: peer)
    #expect(world.peerReceived.map(\.bytes) == [large, large] && world.events.last == .data(from: peer, large))
  }

  @Test func `forged, foreign and malformed datagrams are counted and change nothing`() throws {
    let world = TURNWorld()
    try world.client.allocate(at: .zero)
    world.run(for: .milliseconds(60))
    // The authenticated request is out; answer it without knowing the password.
    let id = try #require(world.requests(.allocate).last?.message.transactionID)
    var forged = STUNMessageBuilder(.successResponse, .allocate, id)
    forged.append(.xorRelayedAddress, Self.peer)
    forged.append(.xorMappedAddress, Self.peer)
    forged.append(.lifetime, 600)
    let path = Path(local: TURNWorld.clientAddress, remote: TURNWorld.serverAddress)
    world.client.receive(forged.bytes.span.bytes, on: path, at: world.now)
    forged.appendIntegrity(key: .shortTerm(password: "guess"))
    world.client.receive(forged.bytes.span.bytes, on: path, at: world.now)
    world.client.receive([1, 2, 3].span.bytes, on: path, at: world.now)
    world.client.receive(forged.bytes.span.bytes, on: Path(local: path.local, remote: Self.peer), at: world.now)
    let (counters, state) = (world.client.counters, world.client.state)
    #expect(counters.forged == 2 && counters.malformed == 1 && counters.unexpected == 1 && state == .allocating)
    world.run(for: .seconds(1))
    #expect(world.client.allocation?.mapped == TURNWorld.clientAddress)
  }

  @Test(arguments: 1...20)
  func `with a third of all datagrams lost, data still gets through both ways`(seed: UInt64) throws {
    let world = TURNWorld()
    var random = RandomStream(seed: seed)
    world.isLost = { _ in random.chance(0.33) }
    try world.client.allocate(at: .zero)
    world.run(for: .seconds(39))
    let allocation = world.client.allocation
    try #require(allocation != nil)
    try world.client.createPermission(for: Self.peer.address, at: world.now)
    world.run(for: .seconds(39))
    for byte: UInt8 in 0..<20 {
      try world.send([byte], to: Self.peer)
      try world.peerSends([byte], from: Self.peer)
    }
    world.run(for: .seconds(39))
    let received = world.events.filter { if case .data = $0 { true } else { false } }
    #expect(world.peerReceived.count > 3 && received.count > 3)
    #expect(world.events.allSatisfy { if case .failed = $0 { false } else { true } })
  }
}
