import CallCore
import STUN
import StackWorlds
import TURN
import Testing

/// What one client can make a server hold, and where it cannot make it send.
@Suite struct ServerLimitTests {
  private static func addresses(_ range: Range<UInt32>) -> [Endpoint] {
    range.map { Endpoint(IPAddress(v4: 0x0B00_0000 + $0), port: 1) }
  }

  private func permit(_ peers: [Endpoint], on bench: ServerBench) throws -> UInt16? {
    try bench.code(.createPermission) { for peer in peers { $0.append(.xorPeerAddress, peer) } }
  }

  @Test func `permissions beyond the limit get 508, and then none of the request is granted`() throws {
    let bench = ServerBench { $0.permissionLimit = 100 }
    try bench.allocate()
    #expect(try permit(Self.addresses(0..<90), on: bench) == nil)
    #expect(try permit(Self.addresses(80..<101), on: bench) == 508)
    let relay = try #require(bench.relay)
    bench.receive([1], from: Self.addresses(95..<96)[0], at: relay)
    #expect(bench.sent.isEmpty)
    bench.receive([1], from: Self.addresses(89..<90)[0], at: relay)
    #expect(bench.sent.count == 1)
    #expect(try permit(Self.addresses(80..<100), on: bench) == nil)
  }

  @Test func `permissions that lapsed make room for others`() throws {
    let bench = ServerBench { $0.permissionLimit = 10 }
    try bench.allocate()
    #expect(try permit(Self.addresses(0..<10), on: bench) == nil)
    bench.now = .zero + .seconds(299)
    #expect(try permit(Self.addresses(10..<20), on: bench) == 508)
    bench.now = .zero + .seconds(300)
    #expect(try permit(Self.addresses(10..<20), on: bench) == nil)
  }

  @Test func `the default limit stops what one message over a connection can carry`() throws {
    let bench = ServerBench()
    bench.transport = .tcp
    try bench.allocate()
    #expect(try permit(Self.addresses(0..<5_000), on: bench) == 508)
  }

  @Test func `channels beyond the limit get 508`() throws {
    let bench = ServerBench { $0.permissionLimit = 3 }
    try bench.allocate()
    for number in 0..<4 as Range<UInt16> {
      let code = try bench.code(.channelBind) {
        $0.append(.channelNumber, 0x4000 + number)
        $0.append(.xorPeerAddress, Endpoint(ServerBench.peer.address, port: 7_000 + number))
      }
      #expect(code == (number < 3 ? nil : 508))
    }
  }

  @Test func `a channel to an address beyond the limit of permissions is not bound`() throws {
    let bench = ServerBench { $0.permissionLimit = 3 }
    try bench.allocate()
    #expect(try permit(Self.addresses(0..<3), on: bench) == nil)
    let (refused, known) = (Self.addresses(3..<4)[0], Self.addresses(0..<1)[0])
    for (peer, code) in [(refused, 508), (known, nil)] as [(Endpoint, UInt16?)] {
      let answered = try bench.code(.channelBind) {
        $0.append(.channelNumber, 0x4000)
        $0.append(.xorPeerAddress, peer)
      }
      #expect(answered == code, "\(peer)")
    }
  }

  @Test func `a payload that fits no datagram is dropped and counted`() throws {
    let bench = ServerBench()
    bench.transport = .tcp
    try bench.allocate()
    let code = try bench.code(.channelBind) {
      $0.append(.channelNumber, 0x4000)
      $0.append(.xorPeerAddress, ServerBench.peer)
    }
    #expect(code == nil)
    for (count, isRelayed) in [(1_500, true), (1_504, false)] {
      bench.receive([0x40, 0, UInt8(count >> 8), UInt8(count & 0xFF)] + [UInt8](repeating: 7, count: count))
      #expect(bench.sent.count == (isRelayed ? 1 : 0))
    }
    #expect(bench.server.counters.droppedTooLarge == 1 && bench.server.counters.relayedToPeers == 1)
  }

  @Test func `a token's port counts once, before it is asked for and after`() throws {
    let bench = ServerBench { $0.userQuota = 2 }
    let token = try #require(try bench.allocate { $0.append(.evenPort, true) }[.reservationToken])
    let second = try bench.allocate(from: ServerBench.other) { $0.append(.reservationToken, token) }
    #expect(second.messageClass == .successResponse)
    #expect(try bench.allocate(from: Endpoint("198.51.100.9:1")!)[.errorCode]?.code == 486)
  }

  @Test func `ports that another program has leave no reservations behind`() throws {
    let bench = ServerBench { $0.userQuota = 2 }
    var tries = 0
    bench.isPortFree = { _ in
      tries += 1
      return tries > 5
    }
    let token = try #require(try bench.allocate { $0.append(.evenPort, true) }[.reservationToken])
    let second = try bench.allocate(from: ServerBench.other) { $0.append(.reservationToken, token) }
    #expect(tries == 7 && second.messageClass == .successResponse)
  }

  @Test func `a port that is kept for a token counts towards the quota until its time is over`() throws {
    let bench = ServerBench { $0.userQuota = 2 }
    let allocated = try bench.allocate { $0.append(.evenPort, true) }
    #expect(allocated.messageClass == .successResponse)
    #expect(try bench.code(.refresh) { $0.append(.lifetime, 0) } == nil)
    #expect(try bench.allocate(from: ServerBench.other) { $0.append(.evenPort, true) }[.errorCode]?.code == 486)
    #expect(try bench.allocate(from: ServerBench.other).messageClass == .successResponse)
    #expect(try bench.allocate(from: Endpoint("198.51.100.9:1")!)[.errorCode]?.code == 486)
    bench.now = .zero + .seconds(30)
    #expect(try bench.allocate(from: Endpoint("198.51.100.9:1")!).messageClass == .successResponse)
  }

  @Test func `nothing is relayed to where clients come`() throws {
    let bench = ServerBench()
    bench.server.withhold(ServerBench.server)
    try bench.allocate()
    // The address alone is permitted: other clients' relays are there.
    #expect(try permit([Endpoint(ServerBench.server.address, port: 0)], on: bench) == nil)
    let code = try bench.code(.channelBind) {
      $0.append(.channelNumber, 0x4000)
      $0.append(.xorPeerAddress, ServerBench.server)
    }
    #expect(code == 403)
    var indication = STUNMessageBuilder(.indication, .send, STUNTransactionID(high: 1, low: 1))
    indication.append(.xorPeerAddress, ServerBench.server)
    indication.append(.data, [1])
    bench.receive(indication.bytes)
    #expect(bench.sent.isEmpty && bench.server.counters.droppedWithoutPermission == 1)
  }

  @Test(arguments: [
    "127.0.0.1", "0.1.2.3", "169.254.169.254", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::1", "::", "fe80::1",
    "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:a00:1::1",
  ])
  func `peers that stand for the server's own host and network are refused unless they are allowed`(
    peer: String
  ) throws {
    let address = try #require(IPAddress(peer))
    for isAllowed in [false, true] {
      let bench = ServerBench { configuration in
        if address.isIPv6 { configuration.relays.removeFirst() }
        if isAllowed { configuration.allowedPeers = [IPPrefix(address, length: address.isIPv6 ? 128 : 32)] }
      }
      try bench.allocate { if address.isIPv6 { $0.append(.requestedAddressFamily, .ipv6) } }
      #expect(try permit([Endpoint(address, port: 0)], on: bench) == (isAllowed ? nil : 403))
    }
  }

  @Test func `a request that SHA-256 protects is answered under SHA-256`() throws {
    let bench = ServerBench()
    try bench.challenge()
    var request = STUNMessageBuilder(.request, .allocate, STUNTransactionID(high: 5, low: 6))
    request.append(.requestedTransport, 17)
    request.append(.username, "alice")
    request.append(.realm, "callsim")
    request.append(.nonce, try #require(bench.nonce))
    let key = STUNKey.longTerm(username: "alice", realm: "callsim", password: "secret")
    request.appendIntegritySHA256(key: key)
    bench.receive(request.bytes)
    let answer = try bench.answer()
    #expect(answer.messageClass == .successResponse && answer.integrity(key: key) == .valid)
    #expect(answer.contains(.messageIntegritySHA256) && !answer.contains(.messageIntegrity))
  }
}

extension ServerBench {
  /// The relay that was opened last.
  var relay: Endpoint? {
    events.reversed().compactMap { if case .openRelay(let relay, _, _) = $0 { relay } else { nil } }.first
  }
}
