import CallCore
import STUN
import StackWorlds
import TURN
import Testing

/// The server alone, spoken to with hand-made requests.
@Suite struct ServerTests {
  // MARK: Authentication

  @Test func `a request without integrity gets 401 with realm and nonce`() throws {
    let bench = ServerBench()
    bench.receive(bench.request(.allocate))
    let answer = try bench.answer()
    #expect(answer[.errorCode]?.code == 401 && answer[.realm] == "callsim" && answer[.nonce]?.isEmpty == false)
    #expect(!answer.hasIntegrity && answer[.software] == "callsim")
  }

  @Test func `unknown users and wrong passwords get 401, and so does everybody while credentials are denied`() throws {
    let bench = ServerBench()
    try bench.challenge()
    #expect(try bench.code(.allocate, user: "mallory") { $0.append(.requestedTransport, 17) } == 401)
    #expect(try bench.code(.allocate, password: "guess") { $0.append(.requestedTransport, 17) } == 401)
    bench.server.deniesCredentials = true
    #expect(try bench.code(.allocate) { $0.append(.requestedTransport, 17) } == 401)
    bench.server.deniesCredentials = false
    #expect(try bench.code(.allocate) { $0.append(.requestedTransport, 17) } == nil)
  }

  @Test func `integrity without user, realm or nonce is 400`() throws {
    let bench = ServerBench()
    var builder = STUNMessageBuilder(.request, .allocate, STUNTransactionID(high: 1, low: 1))
    builder.append(.username, "alice")
    builder.appendIntegrity(key: .longTerm(username: "alice", realm: "callsim", password: "secret"))
    bench.receive(builder.bytes)
    #expect(try bench.answer()[.errorCode]?.code == 400)
  }

  @Test(arguments: [STUNMethod.allocate, .refresh, .createPermission, .channelBind])
  func `an old, invented or foreign nonce gets 438 with a new one`(method: STUNMethod) throws {
    let bench = ServerBench()
    try bench.challenge()
    bench.now = .zero + .seconds(600)
    #expect(try bench.code(method) == 438)
    let fresh = try #require(try bench.answer()[.nonce])
    for nonce in ["invented", String(repeating: "0", count: 32), fresh + "0"] {
      bench.nonce = nonce
      #expect(try bench.code(method) == 438)
    }
    bench.nonce = fresh
    bench.receive(bench.request(method), from: ServerBench.other)
    #expect(try bench.answer()[.errorCode]?.code == 438)
    #expect(bench.server.counters.withdrawnNonces == 0)
    bench.server.expireNonces()
    #expect(try bench.code(method) == 438)
    #expect(bench.server.counters.withdrawnNonces == 1, "of all those this one was ended before its time")
  }

  @Test func `answers to authenticated requests are protected and mirror the fingerprint`() throws {
    let bench = ServerBench()
    let answer = try bench.allocate()
    let key = STUNKey.longTerm(username: "alice", realm: "callsim", password: "secret")
    #expect(answer.integrity(key: key) == .valid && !answer.hasFingerprint)
    #expect(try bench.code(.refresh) { $0.append(STUNAttribute<[UInt8]>(0x7777), []) } == 420)
    let error = try bench.answer()
    #expect(error[.unknownAttributes]?.types == [0x7777] && error.integrity(key: key) == .valid)
  }

  // MARK: Allocate

  @Test func `Allocate checks its transport, family and options`() throws {
    let bench = ServerBench { $0.relays.removeLast() }
    try bench.challenge()
    #expect(try bench.code(.allocate) == 400)
    #expect(try bench.code(.allocate) { $0.append(.requestedTransport, 6) } == 442)
    #expect(
      try bench.code(.allocate) {
        $0.append(.requestedTransport, 17)
        $0.append(.requestedAddressFamily, .ipv6)
      } == 440)
    #expect(
      try bench.code(.allocate) {
        $0.append(.requestedTransport, 17)
        $0.append(STUNAttribute<UInt8>(0x0017), 9)
      } == 440)
    #expect(
      try bench.code(.allocate) {
        $0.append(.requestedTransport, 17)
        $0.append(.evenPort, false)
        $0.append(.reservationToken, [UInt8](repeating: 1, count: 8))
      } == 400)
    #expect(
      try bench.code(.allocate) {
        $0.append(.requestedTransport, 17)
        $0.append(.reservationToken, [UInt8](repeating: 1, count: 8))
      } == 508)
    #expect(
      try bench.code(.allocate) {
        $0.append(.requestedTransport, 17)
        $0.append(.dontFragment)
      } == nil)
  }

  @Test func `a second Allocate on the same addresses gets 437, a repeated one the same answer`() throws {
    let bench = ServerBench()
    try bench.challenge()
    let request = bench.request(.allocate) { $0.append(.requestedTransport, 17) }
    bench.receive(request)
    let first = bench.sent[0].bytes
    bench.receive(request)
    #expect(bench.sent[0].bytes == first && bench.server.allocationCount == 1)
    #expect(try bench.code(.allocate) { $0.append(.requestedTransport, 17) } == 437)
  }

  @Test func `quotas per user and in total give 486, ports run out with 508`() throws {
    let perUser = ServerBench { $0.userQuota = 1 }
    try perUser.allocate()
    #expect(try perUser.allocate(from: ServerBench.other)[.errorCode]?.code == 486)
    #expect(try perUser.allocate(from: ServerBench.other, user: "bob").messageClass == .successResponse)

    let total = ServerBench { $0.totalQuota = 1 }
    try total.allocate()
    #expect(try total.allocate(from: ServerBench.other, user: "bob")[.errorCode]?.code == 486)

    let ports = ServerBench { $0.relayPorts = 50_000...50_000 }
    try ports.allocate()
    #expect(try ports.allocate(from: ServerBench.other)[.errorCode]?.code == 508)
  }

  @Test func `a released allocation frees its quota and its port`() throws {
    let bench = ServerBench {
      $0.userQuota = 1
      $0.relayPorts = 50_000...50_000
    }
    try bench.allocate()
    #expect(try bench.code(.refresh) { $0.append(.lifetime, 0) } == nil)
    #expect(try bench.allocate(from: ServerBench.other).messageClass == .successResponse)
  }

  @Test func `the quota counts a user with rotated time-limited names once`() throws {
    let bench = ServerBench {
      $0.userQuota = 1
      $0.credentials = TURNCredentialStore(sharedSecret: "s")
    }
    let expiry = WallClock().unixSeconds(at: .zero) + 60
    for (client, expiry, code) in [(ServerBench.client, expiry, nil), (ServerBench.other, expiry + 1, UInt16(486))] {
      let credentials = TURNCredentials.timeLimited(secret: "s", user: "alice", expiry: expiry)
      try bench.challenge(client)
      bench.receive(
        bench.request(.allocate, user: credentials.username, password: credentials.password) {
          $0.append(.requestedTransport, 17)
        }, from: client)
      #expect(try bench.answer()[.errorCode]?.code == code)
    }
  }

  @Test func `EVEN-PORT gives an even port and keeps the next one for the token's holder`() throws {
    let bench = ServerBench { $0.relayPorts = 50_000...50_003 }
    let first = try bench.allocate { $0.append(.evenPort, true) }
    let port = try #require(first[.xorRelayedAddress]?.port)
    let token = try #require(first[.reservationToken])
    #expect(port % 2 == 0)
    let second = try bench.allocate(from: ServerBench.other) { $0.append(.reservationToken, token) }
    #expect(second[.xorRelayedAddress]?.port == port + 1)
    let third = try bench.allocate(from: Endpoint("198.51.100.9:1")!) { $0.append(.reservationToken, token) }
    #expect(third[.errorCode]?.code == 508)
  }

  @Test func `a reservation lapses after 30 s`() throws {
    let bench = ServerBench { $0.relayPorts = 50_000...50_001 }
    let token = try #require(try bench.allocate { $0.append(.evenPort, true) }[.reservationToken])
    bench.now = .zero + .seconds(29)
    #expect(try bench.allocate(from: ServerBench.other)[.errorCode]?.code == 508)
    bench.now = .zero + .seconds(30)
    #expect(
      try bench.allocate(from: ServerBench.other) { $0.append(.reservationToken, token) }[.errorCode]?.code == 508)
    #expect(try bench.allocate(from: ServerBench.other)[.xorRelayedAddress]?.port == 50_001)
  }

  @Test func `behind a NAT the advertised address is told, and the socket is opened on the real one`() throws {
    let inside = IPAddress("10.0.0.1")!
    let bench = ServerBench { $0.relays = [.init(inside, advertised: IPAddress("203.0.113.77")!)] }
    let answer = try bench.allocate()
    #expect(answer[.xorRelayedAddress]?.address == IPAddress("203.0.113.77")!)
    let port = try #require(answer[.xorRelayedAddress]?.port)
    #expect(
      bench.events == [.openRelay(Endpoint(inside, port: port), client: ServerBench.client, username: "alice")])
  }

  @Test(arguments: [(nil, 600), (30, 600), (900, 900), (1_000_000, 3_600)] as [(UInt32?, UInt32)])
  func `a lifetime is no less than the default and no more than the maximum`(wanted: UInt32?, given: UInt32) throws {
    let bench = ServerBench()
    let answer = try bench.allocate { if let wanted { $0.append(.lifetime, wanted) } }
    #expect(answer[.lifetime] == given)
    #expect(bench.server.wake == .at(.zero + .seconds(Int64(given)), reason: 1))
  }

  @Test func `an allocation that is not refreshed expires and closes its relay`() throws {
    let bench = ServerBench()
    let relayed = try #require(try bench.allocate()[.xorRelayedAddress])
    bench.server.advance(to: .zero + .milliseconds(599_999))
    #expect(bench.server.allocationCount == 1)
    bench.server.advance(to: .zero + .seconds(600))
    let event = bench.server.nextEvent()
    #expect(event == .closeRelay(relayed, client: ServerBench.client, reason: .expired))
    #expect(bench.server.allocationCount == 0 && bench.server.wake == .never)
  }

  @Test func `a relay that cannot be opened takes its allocation along`() throws {
    let bench = ServerBench()
    let relayed = try #require(try bench.allocate()[.xorRelayedAddress])
    bench.server.relayUnavailable(relayed, at: bench.now)
    #expect(try bench.code(.refresh) == 437)
  }

  @Test func `a port that is taken on the host is passed over before the client hears of it`() throws {
    let bench = ServerBench()
    var refused: [Endpoint] = []
    bench.isPortFree = { relay in
      guard refused.count < 3 else { return true }
      refused.append(relay)
      return false
    }
    let relayed = try #require(try bench.allocate()[.xorRelayedAddress])
    #expect(refused.count == 3 && !refused.contains(relayed) && bench.sent.count == 1)
    let (count, successes) = (bench.server.allocationCount, bench.server.counters.successes)
    #expect(count == 1 && successes == 1)
  }

  @Test func `a port that clients come to is never a relay's`() throws {
    let bench = ServerBench { $0.relayPorts = 50_000...50_003 }
    for port in [50_000, 50_001, 50_003] as [UInt16] {
      bench.server.withhold(Endpoint(try #require(IPAddress("203.0.113.1")), port: port))
    }
    bench.server.restart(at: bench.now)
    #expect(try bench.allocate()[.xorRelayedAddress] == Endpoint("203.0.113.1:50002"))
    #expect(try bench.allocate(from: ServerBench.other)[.errorCode]?.code == 508)
  }

  @Test func `when no port can be opened the client gets 508 and nothing is left`() throws {
    let bench = ServerBench()
    bench.isPortFree = { _ in false }
    let answer = try bench.allocate()
    #expect(answer[.errorCode]?.code == 508 && answer.hasIntegrity && bench.sent.count == 1)
    let (count, wake) = (bench.server.allocationCount, bench.server.wake)
    #expect(count == 0 && wake == .never)
  }

  @Test func `a repeated Allocate is not answered before its relay is open`() throws {
    let bench = ServerBench()
    try bench.challenge()
    let request = bench.request(.allocate) { $0.append(.requestedTransport, 17) }
    var repeats = 0
    bench.isPortFree = { [unowned bench] _ in
      // The request again, while the first one waits.
      let path = Path(local: ServerBench.server, remote: ServerBench.client)
      bench.server.receive(request.span.bytes, on: path, at: bench.now)
      repeats += 1
      return true
    }
    bench.receive(request)
    let replays = bench.server.counters.replays
    #expect(repeats == 1 && replays == 1 && bench.sent.count == 1)
  }

  // MARK: Refresh, CreatePermission, ChannelBind

  @Test(arguments: [STUNMethod.refresh, .createPermission, .channelBind])
  func `without an allocation there is 437, with somebody else's 441`(method: STUNMethod) throws {
    let bench = ServerBench()
    try bench.challenge()
    #expect(try bench.code(method) == 437)
    try bench.allocate()
    #expect(try bench.code(method, user: "bob") == 441)
  }

  @Test func `Refresh checks the family, extends the lifetime, and with zero ends the allocation`() throws {
    let bench = ServerBench()
    let relayed = try #require(try bench.allocate()[.xorRelayedAddress])
    #expect(try bench.code(.refresh) { $0.append(.requestedAddressFamily, .ipv6) } == 443)
    #expect(try bench.code(.refresh) { $0.append(.lifetime, 1_200) } == nil)
    #expect(try bench.answer()[.lifetime] == 1_200)
    #expect(try bench.code(.refresh) { $0.append(.lifetime, 0) } == nil)
    #expect(try bench.answer()[.lifetime] == 0)
    #expect(bench.events.last == .closeRelay(relayed, client: ServerBench.client, reason: .released))
    #expect(try bench.code(.refresh) { $0.append(.lifetime, 0) } == 437)
  }

  @Test func `CreatePermission checks its peers - all or none`() throws {
    let bench = ServerBench { $0.deniedPeers = [IPPrefix("10.0.0.0/8")!] }
    let relayed = try #require(try bench.allocate()[.xorRelayedAddress])
    #expect(try bench.code(.createPermission) == 400)
    #expect(try bench.code(.createPermission) { $0.append(.xorPeerAddress, Endpoint("[2001:db8::9]:1")!) } == 443)
    #expect(
      try bench.code(.createPermission) {
        $0.append(.xorPeerAddress, ServerBench.peer)
        $0.append(.xorPeerAddress, Endpoint("10.1.2.3:1")!)
      } == 403)
    bench.receive([1], from: ServerBench.peer, at: relayed)
    #expect(bench.sent.isEmpty && bench.server.counters.droppedWithoutPermission == 1)
    #expect(try bench.code(.createPermission) { $0.append(.xorPeerAddress, ServerBench.peer) } == nil)
    bench.receive([1], from: ServerBench.peer, at: relayed)
    #expect(try bench.answer()[.xorPeerAddress] == ServerBench.peer)
  }

  @Test func `loopback and multicast are denied unless allowed`() throws {
    let bench = ServerBench()
    try bench.allocate()
    for denied in ["127.0.0.1:1", "224.0.0.1:1", "0.0.0.0:1"] {
      #expect(try bench.code(.createPermission) { $0.append(.xorPeerAddress, Endpoint(denied)!) } == 403)
    }
    let open = ServerBench { $0.allowedPeers = [IPPrefix("127.0.0.0/8")!] }
    try open.allocate()
    #expect(try open.code(.createPermission) { $0.append(.xorPeerAddress, Endpoint("127.0.0.1:1")!) } == nil)
  }

  private func bind(_ bench: ServerBench, _ number: UInt16, _ peer: Endpoint) throws -> UInt16? {
    try bench.code(.channelBind) {
      $0.append(.channelNumber, number)
      $0.append(.xorPeerAddress, peer)
    }
  }

  @Test func `ChannelBind checks number, peer and family`() throws {
    let bench = ServerBench()
    try bench.allocate()
    #expect(try bench.code(.channelBind) { $0.append(.channelNumber, 0x4000) } == 400)
    #expect(try bench.code(.channelBind) { $0.append(.xorPeerAddress, ServerBench.peer) } == 400)
    #expect(try bind(bench, 0x3FFF, ServerBench.peer) == 400)
    #expect(try bind(bench, 0x5000, ServerBench.peer) == 400)
    #expect(try bind(bench, 0x4000, Endpoint("[2001:db8::9]:1")!) == 443)
    #expect(try bind(bench, 0x4000, Endpoint("127.0.0.1:1")!) == 403)
    #expect(try bind(bench, 0x4000, ServerBench.peer) == nil)
    #expect(try bind(bench, 0x4FFF, Endpoint("192.0.2.9:7001")!) == nil)
  }

  @Test func `a channel or its peer rebound is 400 until five minutes after it lapsed; the same pair is always fine`()
    throws
  {
    let bench = ServerBench {
      $0.defaultLifetime = .seconds(3_600)
      $0.nonceLifetime = .seconds(3_600)
    }
    try bench.allocate()
    let stranger = Endpoint("192.0.2.10:1")!
    #expect(try bind(bench, 0x4000, ServerBench.peer) == nil)
    for seconds: Int64 in [1, 601, 899] {
      bench.now = .zero + .seconds(seconds)
      #expect(try bind(bench, 0x4001, ServerBench.peer) == 400)
      #expect(try bind(bench, 0x4000, stranger) == 400)
    }
    bench.now = .zero + .seconds(900)
    #expect(try bind(bench, 0x4000, stranger) == nil)
    bench.now = .zero + .seconds(1_700)
    #expect(try bind(bench, 0x4000, stranger) == nil)
  }

  // MARK: Relaying

  @Test func `channels of RFC 5766 are bound and carry data where older clients are allowed`() throws {
    let cases: [(ClosedRange<UInt16>, UInt16?)] = [(ChannelData.numbers, 400), (ChannelData.formerNumbers, nil)]
    for (numbers, refusal) in cases {
      let bench = ServerBench { $0.channelNumbers = numbers }
      try bench.allocate()
      let code = try bench.code(.channelBind) {
        $0.append(.channelNumber, 0x7FFF)
        $0.append(.xorPeerAddress, ServerBench.peer)
      }
      #expect(code == refusal)
      bench.receive([0x7F, 0xFF, 0, 2, 7, 8])
      #expect(bench.sent.map(\.bytes) == (refusal == nil ? [[7, 8]] : []))
    }
  }

  @Test func `ChannelData goes both ways, padded or not`() throws {
    let bench = ServerBench()
    let relayed = try #require(try bench.allocate()[.xorRelayedAddress])
    #expect(try bind(bench, 0x4000, ServerBench.peer) == nil)
    for padding in [[], [0, 0, 0]] as [[UInt8]] {
      bench.receive([0x40, 0, 0, 1, 9] + padding)
      #expect(bench.sent.map(\.bytes) == [[9]] && bench.sent[0].path == Path(local: relayed, remote: ServerBench.peer))
    }
    bench.receive([7, 8], from: ServerBench.peer, at: relayed)
    #expect(bench.sent.map(\.bytes) == [[0x40, 0, 0, 2, 7, 8]])
    #expect(bench.sent[0].path == Path(local: ServerBench.server, remote: ServerBench.client))
  }

  @Test func `a channel whose permission lapsed carries nothing either way`() throws {
    let bench = ServerBench()
    let relayed = try #require(try bench.allocate()[.xorRelayedAddress])
    #expect(try bind(bench, 0x4000, ServerBench.peer) == nil)
    bench.now = .zero + .seconds(300)
    bench.receive([0x40, 0, 0, 1, 9])
    #expect(bench.sent.isEmpty)
    bench.receive([7], from: ServerBench.peer, at: relayed)
    #expect(bench.sent.isEmpty && bench.server.counters.droppedWithoutPermission == 2)
    #expect(try bind(bench, 0x4000, ServerBench.peer) == nil)
    bench.receive([0x40, 0, 0, 1, 9])
    #expect(bench.sent.map(\.bytes) == [[9]])
  }

  @Test func `Send with an unknown attribute that must be understood goes nowhere`() throws {
    let bench = ServerBench()
    try bench.allocate()
    #expect(try bench.code(.createPermission) { $0.append(.xorPeerAddress, ServerBench.peer) } == nil)
    for (type, isRelayed) in [(0x7FFF, false), (0xFFFF, true), (STUNAttribute.dontFragment.type, true)]
      as [(UInt16, Bool)]
    {
      var send = STUNMessageBuilder(.indication, .send, STUNTransactionID(high: 1, low: 1))
      send.append(STUNAttribute<[UInt8]>(type), [])
      send.append(.xorPeerAddress, ServerBench.peer)
      send.append(.data, [1, 2])
      bench.receive(send.bytes)
      #expect(bench.sent.map(\.bytes) == (isRelayed ? [[1, 2]] : []))
    }
  }

  @Test(arguments: [[0x40, 1, 0, 1, 9], [0x40, 0, 0, 2, 9], [0x40, 0, 0], [0x40], []] as [[UInt8]])
  func `ChannelData of an unknown channel, or cut short, goes nowhere`(bytes: [UInt8]) throws {
    let bench = ServerBench()
    try bench.allocate()
    #expect(try bind(bench, 0x4000, ServerBench.peer) == nil)
    bench.receive(bytes)
    let counters = bench.server.counters
    #expect(bench.sent.isEmpty && counters.droppedWithoutChannel + counters.malformed == 1)
  }

  @Test func `Send without allocation, permission, peer or data goes nowhere`() throws {
    let bench = ServerBench()
    var send = STUNMessageBuilder(.indication, .send, STUNTransactionID(high: 1, low: 1))
    send.append(.xorPeerAddress, ServerBench.peer)
    bench.receive(send.bytes)
    send.append(.data, [1])
    bench.receive(send.bytes)
    try bench.allocate()
    bench.receive(send.bytes)
    let counters = bench.server.counters
    #expect(bench.sent.isEmpty && counters.malformed == 1)
    #expect(counters.droppedWithoutAllocation == 1 && counters.droppedWithoutPermission == 1)
  }

  @Test func `a peer's datagram that does not fit once wrapped is dropped`() throws {
    let bench = ServerBench()
    let relayed = try #require(try bench.allocate()[.xorRelayedAddress])
    #expect(try bench.code(.createPermission) { $0.append(.xorPeerAddress, ServerBench.peer) } == nil)
    bench.receive([UInt8](repeating: 1, count: 1_480), from: ServerBench.peer, at: relayed)
    #expect(bench.sent.isEmpty && bench.server.counters.droppedTooLarge == 1)
    #expect(try bind(bench, 0x4000, ServerBench.peer) == nil)
    bench.receive([UInt8](repeating: 1, count: 1_480), from: ServerBench.peer, at: relayed)
    #expect(bench.sent.count == 1)
  }

  @Test func `Binding requests are answered too`() throws {
    let bench = ServerBench()
    bench.receive(STUNMessageBuilder(.request, .binding, STUNTransactionID(high: 1, low: 1)).bytes)
    #expect(try bench.answer()[.xorMappedAddress] == ServerBench.client)
  }

  @Test func `no mutated or random datagram traps the server or the client`() throws {
    let bench = ServerBench()
    try bench.allocate()
    let good = bench.request(.channelBind) {
      $0.append(.channelNumber, 0x4000)
      $0.append(.xorPeerAddress, ServerBench.peer)
    }
    var send = STUNMessageBuilder(.indication, .send, STUNTransactionID(high: 1, low: 1))
    send.append(.xorPeerAddress, ServerBench.peer)
    send.append(.data, [1, 2, 3])
    let world = TURNWorld()
    try world.allocate()
    let path = Path(local: TURNWorld.clientAddress, remote: TURNWorld.serverAddress)
    for original in [good, send.bytes, [0x40, 0, 0, 3, 1, 2, 3]] {
      for index in original.indices {
        for value: UInt8 in [0, 1, 0x40, 0x7F, 0xFF] {
          var mutated = original
          mutated[index] = value
          bench.receive(mutated)
          bench.receive(Array(original.prefix(index)))
          mutated[1] |= 1
          world.client.receive(mutated.span.bytes, on: path, at: world.now)
        }
      }
    }
    for _ in 0..<2_000 {
      let bytes = bench.random.bytes(Int(bench.random.uniform(below: 60)))
      bench.receive(bytes)
      world.client.receive(bytes.span.bytes, on: path, at: world.now)
    }
    #expect(bench.server.allocationCount == 1 && world.client.state == .allocated)
  }
}
