import CallCore
import STUN
import StackWorlds
import TURN
import Testing

/// What keeps an allocation alive, and the ways in which implementations are known to lose it.
@Suite struct RenewalTests {
  static let peer = Endpoint("192.0.2.9:7000")!

  private func connected(
    _ configure: (inout TURNServer.Configuration, inout TURNClient.Configuration) -> Void = { _, _ in }
  ) throws -> TURNWorld {
    let world = TURNWorld(configure)
    try world.allocate()
    try world.client.bindChannel(to: Self.peer, at: world.now)
    try world.client.createPermission(for: Self.peer.address, at: world.now)
    world.run(for: .seconds(1))
    return world
  }

  private func failures(_ world: TURNWorld) -> [TURNClient.Event] {
    world.events.filter { if case .failed = $0 { true } else { false } }
  }

  @Test func `an allocation is refreshed one minute before it expires`() throws {
    let world = TURNWorld { server, _ in server.nonceLifetime = .seconds(3_600) }
    try world.allocate()
    world.run(for: .seconds(1_200))
    let times = world.requests(.refresh).map { $0.time.seconds.rounded() }
    #expect(times == [540, 1_080] && world.client.state == .allocated)
  }

  @Test func `a short lifetime is refreshed at its half`() throws {
    let world = TURNWorld { server, _ in server.defaultLifetime = .seconds(60) }
    try world.allocate()
    world.run(for: .seconds(100))
    #expect(world.requests(.refresh).map { $0.time.seconds.rounded() } == [30, 60, 90])
  }

  @Test func `an allocation that is promised for longer than an hour is refreshed after 59 minutes`() throws {
    let world = TURNWorld { server, _ in
      server.nonceLifetime = .seconds(36_000)
      server.defaultLifetime = .seconds(7_200)
      server.maximumLifetime = .seconds(7_200)
    }
    try world.allocate()
    world.run(for: .seconds(7_000))
    #expect(world.requests(.refresh).map { $0.time.seconds.rounded() } == [3_540])
  }

  @Test func `the wanted lifetime is asked for and clamped by the server`() throws {
    let world = TURNWorld { _, client in client.lifetime = .seconds(100_000) }
    let allocation = try world.allocate()
    #expect(world.requests(.allocate).last?.message[.lifetime] == 100_000 && allocation.lifetime == .seconds(3_600))
  }

  @Test func `an idle relay still works both ways after an hour - permission, channel and nonce renewed`() throws {
    let world = try connected()
    world.run(for: .seconds(3_600))
    try world.send([1], to: Self.peer)
    world.run(for: .milliseconds(100))
    try world.peerSends([2], from: Self.peer)
    #expect(world.peerReceived.map(\.bytes) == [[1]] && world.events.last == .data(from: Self.peer, [2]))
    #expect(failures(world).isEmpty && world.client.counters.channelDataSent == 1)
  }

  @Test func `renewing asks for allocation, permission and channel again at once`() throws {
    let world = try connected { server, _ in server.nonceLifetime = .seconds(3_600) }
    let before = world.now
    world.client.renew(at: before)
    world.run(for: .seconds(1))
    for method in [STUNMethod.refresh, .createPermission, .channelBind] {
      #expect(world.requests(method).last?.time == before)
    }
    #expect(failures(world).isEmpty && world.client.state == .allocated)
  }

  @Test func `permissions are renewed every four minutes and channels every nine`() throws {
    let world = try connected { server, _ in server.nonceLifetime = .seconds(36_000) }
    world.run(for: .seconds(1_199))
    #expect(world.requests(.createPermission).map { $0.time.seconds.rounded() } == [1, 241, 481, 721, 961])
    #expect(world.requests(.channelBind).map { $0.time.seconds.rounded() } == [1, 541, 1_081])
  }

  @Test func `without renewal a permission lapses after five minutes`() throws {
    let world = try connected { _, client in client.permissionRefresh = .seconds(100_000) }
    world.run(for: .seconds(298))
    try world.peerSends([1], from: Self.peer)
    #expect(world.events.last == .data(from: Self.peer, [1]))
    world.run(for: .seconds(3))
    let before = world.events.count
    try world.peerSends([2], from: Self.peer)
    #expect(world.events.count == before && world.server.counters.droppedWithoutPermission == 1)
  }

  @Test func `without renewal a channel lapses after ten minutes and data goes on in indications`() throws {
    let world = try connected { _, client in
      client.channelRefresh = .seconds(100_000)
      client.indicationsBeforeChannel = nil
    }
    world.run(for: .seconds(601))
    try world.send([1], to: Self.peer)
    world.run(for: .milliseconds(100))
    try world.peerSends([2], from: Self.peer)
    #expect(world.peerReceived.map(\.bytes) == [[1]] && world.events.last == .data(from: Self.peer, [2]))
    let counters = world.client.counters
    #expect(counters.indicationsSent == 1 && counters.indicationsReceived == 1)
  }

  @Test(arguments: [STUNMethod.allocate, .refresh, .createPermission, .channelBind], [1, 3, 5])
  func `438 on any request is answered with the new nonce, several times in a row`(
    method: STUNMethod, count: Int
  ) throws {
    let world = TURNWorld { _, client in client.indicationsBeforeChannel = nil }
    world.server.rejectNext(method, with: .staleNonce, count: count)
    try world.allocate()
    try world.client.createPermission(for: Self.peer.address, at: world.now)
    try world.client.bindChannel(to: Self.peer, at: world.now)
    world.run(for: .seconds(590))
    #expect(failures(world).isEmpty && world.client.state == .allocated)
    #expect(world.client.counters.staleNonces >= UInt64(count))
    try world.send([1], to: Self.peer)
    world.run(for: .seconds(1))
    #expect(world.peerReceived.map(\.bytes) == [[1]] && world.client.counters.channelDataSent == 1)
  }

  @Test(arguments: [STUNMethod.allocate, .refresh])
  func `438 for ever ends in failure`(method: STUNMethod) throws {
    let world = TURNWorld()
    world.server.rejectNext(method, with: .staleNonce, count: 1_000)
    try world.client.allocate(at: .zero)
    world.run(for: .seconds(600))
    #expect(world.events.last == .failed(.rejected(method, .staleNonce)))
    #expect(world.client.counters.staleNonces == 5)
  }

  @Test func `when all nonces go stale at once, every renewal recovers`() throws {
    let world = try connected()
    for _ in 0..<5 {
      world.server.expireNonces()
      world.run(for: .seconds(300))
    }
    #expect(failures(world).isEmpty && world.client.counters.staleNonces >= 4)
  }

  @Test func `a peer that comes back inside the cool-down gets its old channel, so the server has no cause for 400`()
    throws
  {
    let world = try connected()
    world.client.removePermission(for: Self.peer.address)
    let other = Endpoint("192.0.2.9:7001")!
    world.run(for: .seconds(660))
    try world.client.bindChannel(to: other, at: world.now)
    try world.client.bindChannel(to: Self.peer, at: world.now)
    world.run(for: .seconds(1))
    let bound = world.events.filter { if case .channelBound = $0 { true } else { false } }
    #expect(
      bound == [
        .channelBound(Self.peer, number: 0x4000), .channelBound(other, number: 0x4001),
        .channelBound(Self.peer, number: 0x4000),
      ])
    #expect(world.server.counters.errors == 0)
  }

  @Test func `a refused channel leaves indications working and is tried again after five minutes`() throws {
    let world = TURNWorld()
    try world.allocate()
    world.server.rejectNext(.channelBind, with: .badRequest)
    for _ in 0..<5 {
      try world.send([1], to: Self.peer)
      world.run(for: .seconds(1))
    }
    #expect(world.peerReceived.count == 5 && world.requests(.channelBind).count == 1)
    world.run(for: .seconds(300))
    #expect(world.requests(.channelBind).count == 2)
    #expect(world.events.contains(.channelBound(Self.peer, number: 0x4000)))
  }

  @Test func `an address in use by an older allocation gives 437 until that one expires`() throws {
    let world = TURNWorld()
    try world.allocate()
    var second = TURNClient(
      configuration: world.client.configuration, local: TURNWorld.clientAddress, random: RandomStream(seed: 99))
    swap(&second, &world.client)
    try world.client.allocate(at: world.now)
    world.run(for: .seconds(1))
    #expect(world.events.last == .newLocalAddressNeeded)
    world.run(for: .seconds(600))
    try world.allocate()
    #expect(world.client.state == .allocated)
  }

  @Test func `a retransmitted Allocate whose answer was lost is answered with the same success`() throws {
    let world = TURNWorld()
    var lost = 0
    world.isLost = { sent in
      guard sent.path.local == TURNWorld.serverAddress, lost < 2,
        let message = try? STUNMessage(parsing: sent.bytes.span.bytes), message.messageClass == .successResponse
      else { return false }
      lost += 1
      return true
    }
    try world.client.allocate(at: .zero)
    world.run(for: .seconds(5))
    let given = world.client.allocation
    let allocation = try #require(given)
    #expect(world.events == [.allocated(allocation)] && lost == 2)
    #expect(world.server.counters.replays == 2 && world.server.allocationCount == 1)
  }

  @Test func `after a server restart the next renewal fails with 437 and a new allocation succeeds`() throws {
    let world = try connected()
    world.server.restart(at: world.now)
    world.run(for: .seconds(245))
    #expect(world.events.last == .failed(.rejected(.createPermission, .allocationMismatch)))
    #expect(world.client.wake == .never)
    try world.allocate()
    #expect(world.client.state == .allocated)
  }

  @Test func `a server that dies is noticed when a renewal gets no answer`() throws {
    let world = try connected()
    world.serverIsUp = false
    world.run(for: .seconds(241 + 40))
    #expect(failures(world).isEmpty)
    #expect(world.events.last == .permissionFailed(Self.peer.address, .timedOut(.createPermission)))
    world.run(for: .seconds(300))
    #expect(failures(world) == [.failed(.timedOut(.refresh))])
  }

  @Test func `time-limited credentials outlive their expiry until the nonce goes stale`() throws {
    let expiry = WallClock().unixSeconds(at: .zero) + 100
    let world = TURNWorld { server, client in
      server.credentials = TURNCredentialStore(sharedSecret: "callsim-secret")
      server.nonceLifetime = .seconds(3_600)
      client.credentials = .timeLimited(secret: "callsim-secret", user: "alice", expiry: expiry)
    }
    try world.allocate()
    world.run(for: .seconds(1_000))
    #expect(world.client.state == .allocated && world.requests(.refresh).count == 1)
    world.server.expireNonces()
    world.run(for: .seconds(200))
    #expect(world.events.last == .failed(.rejected(.refresh, .unauthenticated)))
  }

  @Test func `expired time-limited credentials are refused`() throws {
    let world = TURNWorld { server, client in
      server.credentials = TURNCredentialStore(sharedSecret: "s", wallClock: WallClock(skew: .seconds(5)))
      client.credentials = .timeLimited(secret: "s", expiry: WallClock().unixSeconds(at: .zero) + 3)
    }
    try world.client.allocate(at: .zero)
    world.run(for: .seconds(1))
    #expect(world.events == [.failed(.rejected(.allocate, .unauthenticated))])
  }
}
