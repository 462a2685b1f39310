import CallCore
import STUN
import StackWorlds
import TURN
import Testing

/// Relays of one family and of both (RFC 8656 sections 7.1 and 7.2).
@Suite struct RelayFamilyTests {
  private static let ipv4 = IPAddress("203.0.113.1")!
  private static let ipv6 = IPAddress("2001:db8::1")!
  private static let peer = Endpoint("192.0.2.9:7000")!
  private static let peerIPv6 = Endpoint("[2001:db8:5::9]:7000")!

  private func world(_ family: TURNClient.RelayFamily, relays: [IPAddress] = [ipv4, ipv6]) -> TURNWorld {
    TURNWorld { server, client in
      server.relays = relays.map { .init($0) }
      client.family = family
    }
  }

  @Test func `a client that asks for both families has one allocation with two relays, and reaches both`() throws {
    let world = world(.both)
    let allocation = try world.allocate()
    #expect(allocation.relayedAddresses.map(\.address) == [Self.ipv4, Self.ipv6])
    #expect(world.server.allocationCount == 1)
    for peer in [Self.peer, Self.peerIPv6] {
      for byte: UInt8 in 1...3 {
        try world.send([byte], to: peer)
        world.run(for: .milliseconds(200))
      }
      let relayed = try #require(allocation.relayed(towards: peer.address))
      #expect(world.peerReceived.suffix(3).map(\.bytes) == [[1], [2], [3]])
      #expect(world.peerReceived.suffix(3).allSatisfy { $0.path.remote == relayed && $0.path.local == peer })
      let path = Path(local: relayed, remote: peer)
      world.server.receive(([9] as [UInt8]).span.bytes, on: path, at: world.now)
      world.run(for: .milliseconds(100))
      #expect(world.events.last == .data(from: peer, [9]))
    }
    world.client.release(at: world.now)
    world.run(for: .seconds(1))
    let closed = world.serverEvents.count { if case .closeRelay = $0 { true } else { false } }
    #expect(closed == 2 && world.server.allocationCount == 0)
  }

  @Test(arguments: [
    (TURNClient.RelayFamily.both, [ipv4], [ipv4]), (.both, [ipv6], [ipv6]), (.ipv6, [ipv4], [ipv4]),
    (.ipv6, [ipv4, ipv6], [ipv6]), (.ipv4, [ipv4, ipv6], [ipv4]),
  ])
  func `what a server has no relay of is done without`(
    family: TURNClient.RelayFamily, relays: [IPAddress], given: [IPAddress]
  ) throws {
    let allocation = try world(family, relays: relays).allocate()
    #expect(allocation.relayedAddresses.map(\.address) == given)
  }

  @Test func `a server that refuses both families is asked for IPv6 alone, once`() throws {
    let world = world(.both)
    world.server.rejectNext(.allocate, with: .addressFamilyNotSupported)
    #expect(try world.allocate().relayedAddresses.map(\.address) == [Self.ipv6])
    let refusing = self.world(.both)
    refusing.server.setRejection(.addressFamilyNotSupported, of: .allocate)
    try refusing.client.allocate(at: refusing.now)
    refusing.run(for: .seconds(10))
    #expect(refusing.events == [.failed(.rejected(.allocate, .addressFamilyNotSupported))])
    #expect(refusing.requests(.allocate).count == 3)
  }

  @Test func `a server without IPv4 says so and gives what it has`() throws {
    let bench = ServerBench { $0.relays.removeFirst() }
    let answer = try bench.allocate { $0.append(.additionalAddressFamily, .ipv6) }
    #expect(answer.all(.xorRelayedAddress)?.map(\.address) == [Self.ipv6])
    #expect(answer[.addressErrorCode] == STUNAddressError(.ipv4, .addressFamilyNotSupported))
  }

  @Test func `a server that has no port left in one family says so and gives the other`() throws {
    let bench = ServerBench { $0.relayPorts = 50_000...50_000 }
    try bench.allocate()
    let answer = try bench.allocate(from: ServerBench.other) { $0.append(.additionalAddressFamily, .ipv6) }
    #expect(answer.all(.xorRelayedAddress)?.map(\.address) == [Self.ipv6])
    #expect(answer[.addressErrorCode] == STUNAddressError(.ipv4, .insufficientCapacity))
  }

  @Test func `what cannot be asked for together with both families gets 400`() throws {
    let bench = ServerBench()
    let additions: [(inout STUNMessageBuilder) -> Void] = [
      { $0.append(.requestedAddressFamily, .ipv6) }, { $0.append(.evenPort, true) },
      { $0.append(.reservationToken, [UInt8](repeating: 1, count: 8)) },
    ]
    for addition in additions {
      let answer = try bench.allocate {
        $0.append(.additionalAddressFamily, .ipv6)
        addition(&$0)
      }
      #expect(answer[.errorCode]?.code == 400)
    }
    #expect(try bench.allocate { $0.append(.additionalAddressFamily, .ipv4) }[.errorCode]?.code == 400)
  }

  @Test(arguments: [STUNAddressFamily.ipv4, .ipv6])
  func `one family of two is given back alone`(family: STUNAddressFamily) throws {
    let bench = ServerBench()
    try bench.allocate { $0.append(.additionalAddressFamily, .ipv6) }
    let code = try bench.code(.refresh) {
      $0.append(.lifetime, 0)
      $0.append(.requestedAddressFamily, family)
    }
    #expect(code == nil && bench.server.allocationCount == 1)
    guard case .closeRelay(let closed, _, .released) = bench.events.last else { throw TURNWorld.Trouble.refused }
    #expect(closed.address.isIPv6 == (family == .ipv6))
    let gone = family == .ipv4 ? Self.peer : Self.peerIPv6
    let kept = family == .ipv4 ? Self.peerIPv6 : Self.peer
    #expect(try bench.code(.createPermission) { $0.append(.xorPeerAddress, gone) } == 443)
    #expect(try bench.code(.createPermission) { $0.append(.xorPeerAddress, kept) } == nil)
  }

  @Test func `when one of two sockets cannot be opened both are tried again at other ports`() throws {
    let bench = ServerBench()
    var refused = 0
    bench.isPortFree = { endpoint in
      guard endpoint.address.isIPv6, refused < 2 else { return true }
      refused += 1
      return false
    }
    let answer = try bench.allocate { $0.append(.additionalAddressFamily, .ipv6) }
    #expect(answer.all(.xorRelayedAddress)?.count == 2 && bench.server.allocationCount == 1)
    let (opened, closed) = bench.events.reduce(into: (0, 0)) { counts, event in
      if case .openRelay = event { counts.0 += 1 } else { counts.1 += 1 }
    }
    #expect(refused == 2 && opened == 6 && closed == 4)
  }
}
