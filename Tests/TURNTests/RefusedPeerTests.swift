import CallCore
import STUN
import StackWorlds
import TURN
import Testing

/// Peers that a server will not relay to, and requests about them that nobody answers.
@Suite struct RefusedPeerTests {
  private static let peer = Endpoint("192.0.2.9:7000")!

  private func failures(_ world: TURNWorld) -> [TURNClient.Event] {
    world.events.filter { event in
      switch event {
      case .failed, .permissionFailed, .channelFailed: true
      default: false
      }
    }
  }

  @Test func `a refused permission is asked for once, however much is sent`() throws {
    let world = TURNWorld()
    world.server.setRejection(.forbidden, of: .createPermission)
    try world.allocate()
    try world.send([0], to: Self.peer)
    world.run(for: .milliseconds(100))
    for byte: UInt8 in 0..<100 {
      let refusal = TURNClient.Misuse.permissionRefused(.rejected(.createPermission, .forbidden))
      #expect(throws: refusal) { try world.send([byte], to: Self.peer) }
      world.run(for: .milliseconds(100))
    }
    #expect(world.requests(.createPermission).count == 1 && failures(world).count == 1)
    #expect(world.client.counters.droppedPayloads == 101)
  }

  @Test func `renewing, and asking in so many words, try again`() throws {
    let world = TURNWorld()
    world.server.rejectNext(.createPermission, with: .forbidden, count: 2)
    try world.allocate()
    try world.send([1], to: Self.peer)
    world.run(for: .milliseconds(100))
    world.client.renew(at: world.now)
    try world.send([2], to: Self.peer)
    world.run(for: .milliseconds(100))
    try world.client.createPermission(for: Self.peer.address, at: world.now)
    world.run(for: .milliseconds(100))
    try world.send([3], to: Self.peer)
    world.run(for: .milliseconds(100))
    #expect(world.requests(.createPermission).count == 3 && world.peerReceived.map(\.bytes) == [[3]])
  }

  @Test func `a refused permission that is not to be kept is not asked for again`() throws {
    let world = TURNWorld()
    world.server.rejectNext(.createPermission, with: .forbidden)
    try world.allocate()
    try world.client.createPermission(for: Self.peer.address, isKept: false, at: world.now)
    world.run(for: .milliseconds(100))
    #expect(throws: TURNClient.Misuse.permissionRefused(.rejected(.createPermission, .forbidden))) {
      try world.client.createPermission(for: Self.peer.address, isKept: false, at: world.now)
    }
    world.run(for: .milliseconds(100))
    #expect(world.requests(.createPermission).count == 1)
    try world.client.createPermission(for: Self.peer.address, at: world.now)
    world.run(for: .milliseconds(100))
    #expect(world.requests(.createPermission).count == 2 && world.events.last == .permissionGranted(Self.peer.address))
  }

  @Test(arguments: [STUNMethod.createPermission, .channelBind])
  func `a request for one peer that is never answered costs that peer alone`(method: STUNMethod) throws {
    let world = TURNWorld()
    try world.allocate()
    world.isLost = { sent in
      (try? STUNMessage(parsing: sent.bytes.span.bytes))?.method == method && sent.path.local == TURNWorld.clientAddress
    }
    try world.send([1], to: Self.peer)
    world.run(for: .seconds(45))
    let expected: TURNClient.Event =
      method == .createPermission
      ? .permissionFailed(Self.peer.address, .timedOut(method)) : .channelFailed(Self.peer, .timedOut(method))
    let state = world.client.state
    #expect(failures(world) == [expected] && state == .allocated)
    world.isLost = { _ in false }
    let other = Endpoint("192.0.2.10:7000")!
    try world.send([2], to: other)
    world.run(for: .seconds(1))
    #expect(world.peerReceived.last?.bytes == [2])
    world.client.release(at: world.now)
    world.run(for: .seconds(1))
    #expect(world.events.last == .released && world.server.allocationCount == 0)
  }

  @Test func `a refused channel is reported once, and indications go on`() throws {
    let world = TURNWorld()
    world.server.setRejection(.forbidden, of: .channelBind)
    try world.allocate()
    for byte: UInt8 in 1...20 {
      try world.send([byte], to: Self.peer)
      world.run(for: .seconds(1))
    }
    #expect(failures(world) == [.channelFailed(Self.peer, .rejected(.channelBind, .forbidden))])
    #expect(world.peerReceived.count == 20 && world.requests(.channelBind).count == 1)
  }

  @Test func `payloads that bind no channel go in indications for ever`() throws {
    let world = TURNWorld()
    try world.allocate()
    for byte: UInt8 in 1...5 {
      try world.client.send([byte].span.bytes, to: Self.peer, bindsChannel: false, at: world.now)
      world.run(for: .seconds(1))
    }
    #expect(world.requests(.channelBind).isEmpty && world.client.counters.indicationsSent == 5)
    try world.send([6], to: Self.peer)
    world.run(for: .seconds(1))
    #expect(world.requests(.channelBind).count == 1)
  }

  @Test func `a channel that is renewed every four minutes renews its permission too`() throws {
    let world = TURNWorld { server, client in
      server.nonceLifetime = .seconds(36_000)
      client.channelRefresh = .minutes(4)
    }
    try world.allocate()
    try world.send([1], to: Self.peer)
    world.run(for: .minutes(30))
    #expect(world.requests(.createPermission).count == 1)
    let before = world.events.count
    try world.peerSends([2], from: Self.peer)
    #expect(world.events.count == before + 1 && failures(world).isEmpty)
  }

  @Test(arguments: [Interval.minutes(4), .minutes(9)])
  func `what nothing is sent to is renewed no more, and comes back when something is`(channelRefresh: Interval) throws {
    let world = TURNWorld { server, client in
      server.nonceLifetime = .seconds(36_000)
      client.channelRefresh = channelRefresh
      client.unusedPermissionLifetime = .minutes(5)
    }
    try world.allocate()
    try world.send([1], to: Self.peer)
    let kept = Endpoint("192.0.2.10:7000")!
    for _ in 0..<60 {
      try world.send([2], to: kept)
      world.run(for: .seconds(60))
    }
    let renewals = (world.requests(.createPermission) + world.requests(.channelBind)).map(\.message).filter {
      $0[.xorPeerAddress]?.address == Self.peer.address
    }
    #expect(renewals.count <= 5, "two to begin with, and those of the first nine minutes")
    try world.send([3], to: Self.peer)
    world.run(for: .seconds(1))
    #expect(world.peerReceived.last?.bytes == [3] && failures(world).isEmpty)
  }

  @Test func `a peer that is sent to again after minutes of silence misses nothing`() throws {
    let world = TURNWorld { server, client in
      server.nonceLifetime = .seconds(36_000)
      client.unusedPermissionLifetime = .minutes(5)
    }
    try world.allocate()
    try world.send([1], to: Self.peer)
    world.run(for: .seconds(570))
    let before = world.peerReceived.count
    for _ in 0..<1_200 {
      try world.send([2], to: Self.peer)
      world.run(for: .milliseconds(100))
    }
    world.run(for: .seconds(1))
    #expect(world.peerReceived.count == before + 1_200 && failures(world).isEmpty)
  }

  @Test(arguments: [STUNMethod.createPermission, .channelBind], [true, false])
  func `an answer about one peer that lacks what it must have costs that peer alone`(
    method: STUNMethod, isError: Bool
  ) throws {
    let world = TURNWorld()
    try world.allocate()
    world.isLost = { sent in
      guard sent.path.remote == TURNWorld.clientAddress else { return false }
      return (try? STUNMessage(parsing: sent.bytes.span.bytes))?.method == method
    }
    if method == .channelBind { try world.client.createPermission(for: Self.peer.address, at: world.now) }
    world.run(for: .milliseconds(100))
    try world.send([1], to: Self.peer)
    world.run(for: .milliseconds(100))
    let id = try #require(world.requests(method).last?.message.transactionID)
    var answer = STUNMessageBuilder(isError ? .errorResponse : .successResponse, method, id)
    if !isError { answer.append(STUNAttribute<[UInt8]>(0x7777), []) }
    answer.appendIntegrity(key: .longTerm(username: "alice", realm: "callsim", password: "secret"))
    world.client.receive(answer.bytes.span.bytes, on: world.clientPath, at: world.now)
    world.run(for: .milliseconds(1))
    #expect(failures(world).count == 1 && world.client.state == .allocated)
  }

  @Test func `a permission that was asked for in so many words is kept`() throws {
    let world = TURNWorld { server, client in
      server.nonceLifetime = .seconds(36_000)
      client.unusedPermissionLifetime = .minutes(5)
    }
    try world.allocate()
    try world.client.createPermission(for: Self.peer.address, at: world.now)
    world.run(for: .minutes(30))
    try world.peerSends([2], from: Self.peer)
    #expect(world.events.last == .data(from: Self.peer, [2]))
  }

  @Test(arguments: ["127.0.0.1:3478", "0.0.0.0:3478"])
  func `300 leads to no server on this machine`(alternate: String) throws {
    let world = TURNWorld()
    world.server.rejectNext(.allocate, with: .tryAlternate, alternate: Endpoint(alternate)!)
    try world.client.allocate(at: .zero)
    world.run(for: .seconds(1))
    #expect(world.events == [.failed(.rejected(.allocate, .tryAlternate))])
    #expect(world.clientSent.allSatisfy { $0.path.remote == TURNWorld.serverAddress })
  }

  /// What becomes of an allocation when the server redirects with a domain name.
  private func redirected(to domain: String, over transport: Path.Transport) throws -> TURNWorld {
    let world = TURNWorld { _, client in client.transport = transport }
    world.serverIsUp = false
    try world.client.allocate(at: .zero)
    world.run(for: .milliseconds(100))
    let id = try #require(world.requests(.allocate).last?.message.transactionID)
    var redirection = STUNMessageBuilder(.errorResponse, .allocate, id)
    redirection.append(.errorCode, .tryAlternate)
    redirection.append(.alternateServer, Endpoint("203.0.113.99:3478")!)
    redirection.append(.alternateDomain, domain)
    world.client.receive(redirection.bytes.span.bytes, on: world.client.path, at: world.now)
    world.run(for: .milliseconds(100))
    return world
  }

  private static let noNames = ["", ".", "a..b", "-a.example", "a b", "tu\u{0}rn.example", "203.0.113.9", "é.example"]

  @Test(arguments: noNames) func `300 over TLS leads to no server whose domain name is none`(domain: String) throws {
    let world = try redirected(to: domain, over: .tls)
    #expect(world.events == [.failed(.rejected(.allocate, .tryAlternate))])
    #expect(world.client.alternateDomain == nil && world.client.path.remote == TURNWorld.serverAddress)
  }

  @Test(arguments: noNames + ["turn.example.org"], [Path.Transport.udp, .tcp])
  func `without TLS nobody proves a name, and 300 is followed whatever it says`(
    domain: String, transport: Path.Transport
  ) throws {
    let world = try redirected(to: domain, over: transport)
    #expect(world.client.alternateDomain == nil && world.client.path.remote == Endpoint("203.0.113.99:3478")!)
  }

  @Test func `300 leads back to no server that was asked before`() throws {
    let world = TURNWorld { _, client in client.redirectLimit = 100 }
    let other = Endpoint("203.0.113.99:3478")!
    world.server.rejectNext(.allocate, with: .tryAlternate, alternate: other)
    try world.client.allocate(at: .zero)
    world.run(for: .milliseconds(200))
    let id = try #require(world.requests(.allocate).last?.message.transactionID)
    var back = STUNMessageBuilder(.errorResponse, .allocate, id)
    back.append(.errorCode, .tryAlternate)
    back.append(.alternateServer, TURNWorld.serverAddress)
    world.client.receive(back.bytes.span.bytes, on: world.clientPath, at: world.now)
    world.run(for: .seconds(1))
    #expect(world.events == [.failed(.rejected(.allocate, .tryAlternate))])
  }
}
