import CallCore
import DTLS
import ICE
import STUN
import StackWorlds
import Statistics
import TURN
import Testing

@testable import PeerSession

@Suite struct RelayTests {
  private func relayedPair(over transport: Path.Transport = .udp) -> SessionPair {
    let pair = SessionPair { configuration in
      var server = SessionPair.turn
      server.transport = transport
      configuration.iceServers = [server]
      configuration.iceTransportPolicy = .relay
    }
    pair.startServer()
    return pair
  }

  /// Offer and answer, then candidates as the TURN server yields them.
  private func connect(_ pair: SessionPair) throws {
    try pair.negotiate()
    for _ in 0..<5 {
      pair.run(for: .milliseconds(200))
      try pair.exchangeCandidates()
    }
    pair.run(for: .seconds(2))
  }

  @Test func `with relays only, nothing but the server is ever sent to and no local address is told`() throws {
    let pair = relayedPair()
    try connect(pair)
    #expect(pair.sent.allSatisfy { $0.path.remote == SessionPair.turnServer })
    for side in [pair.a, pair.b] {
      #expect(side.session.connectionState == .connected)
      #expect(side.mediaReceived > 80)
      let candidates = side.events.compactMap { if case .iceCandidate(let text?, _, _) = $0 { text } else { nil } }
      #expect(!candidates.isEmpty)
      #expect(candidates.allSatisfy { $0.contains(" typ relay raddr 0.0.0.0 rport 9") && !$0.contains("192.0.2.") })
    }
    let offer = try pair.a.session.createOffer()
    #expect(!offer.sdp.contains("192.0.2."))
  }

  @Test func `a permission is asked for when a pair is formed, not when its check has its turn`() throws {
    let pair = relayedPair()
    pair.startServer()
    try pair.negotiate()
    pair.run(for: .seconds(1), talking: false)
    for host in 1...4 {
      let candidate = "candidate:\(host) 1 udp 2130706431 198.51.100.\(host) 4000 typ host"
      try pair.a.session.addICECandidate(candidate, mid: "0", mLineIndex: 0, at: pair.now)
    }
    pair.drain(pair.a)
    let requests = pair.sent.count { datagram in
      guard let message = try? STUNMessage(parsing: datagram.bytes.span.bytes) else { return false }
      return datagram.fromA && message.method == .createPermission && message.messageClass == .request
    }
    #expect(requests == 4)
  }

  @Test(arguments: [Path.Transport.udp, .tcp], [true, false])
  func `two servers at one address are asked from two sockets, each with its own credentials`(
    transport: Path.Transport, isWrongFirst: Bool
  ) throws {
    var right = SessionPair.turn
    right.transport = transport
    var wrong = right
    wrong.credential = "of last month"
    let pair = SessionPair { $0.iceServers = isWrongFirst ? [wrong, right] : [right, wrong] }
    pair.startServer()
    try connect(pair)
    #expect(pair.a.session.iceGatheringState == .complete && pair.allocationCount == 2)
    #expect(pair.a.session.ice.localCandidates.count { $0.type == .relay } == 1)
    #expect(errors(pair.a) == [401])
  }

  @Test(arguments: [ICERestartSockets.new, .same])
  func `a relay that got no socket is asked for from one of its own after an ICE restart`(
    sockets: ICERestartSockets
  ) throws {
    var twin = SessionPair.turn
    twin.host = "turn.example.org"
    let pair = SessionPair {
      $0.iceServers = [SessionPair.turn, twin]
      $0.restartSockets = sockets
    }
    pair.startServer()
    pair.a.nextSocket = { _ in nil }
    try connect(pair)
    #expect(errors(pair.a) == [701] && pair.a.session.iceGatheringState == .complete)
    pair.a.nextSocket = { Endpoint($0.address, port: $0.port + 1) }
    try pair.restart(from: pair.a, to: pair.b)
    pair.run(for: .seconds(2))
    #expect(errors(pair.a) == [701] && pair.a.session.iceGatheringState == .complete)
    #expect(pair.a.session.ice.localCandidates.count { $0.type == .relay } == 2)
  }

  @Test(arguments: [Path.Transport.udp, .tcp])
  func `a server that sends us on to where another relay is asked for refuses, and leaves that one alone`(
    transport: Path.Transport
  ) throws {
    var (here, other) = (SessionPair.turn, SessionPair.turn)
    here.transport = transport
    other.transport = transport
    other.endpoint = SessionPair.otherTurnServer
    let pair = SessionPair { $0.iceServers = [other, here] }
    pair.startServer()
    pair.server?.rejectNext(.allocate, with: STUNError(300, "Try Alternate"), alternate: here.endpoint)
    try connect(pair)
    pair.run(for: .seconds(60))
    #expect(pair.a.session.iceGatheringState == .complete && pair.a.session.connectionState == .connected)
    // It asks again from another port, and is not sent on any more.
    #expect(pair.a.session.ice.localCandidates.count { $0.type == .relay } == 2)
    #expect(errors(pair.a).isEmpty)
  }

  @Test func `one server that is named twice is asked once`() throws {
    let stun = ICEServer(kind: .stun, endpoint: SessionPair.turnServer)
    var alias = stun
    alias.host = "stun.example.org"
    let pair = SessionPair { $0.iceServers = [stun, alias, SessionPair.turn, SessionPair.turn] }
    pair.startServer()
    pair.translates = true
    try connect(pair)
    #expect(pair.allocationCount == 2)
    let priorities = pair.a.session.ice.localCandidates.map(\.priority)
    #expect(Set(priorities).count == priorities.count)
  }

  @Test(arguments: [("ethernet", 300), ("cellular", 130)])
  func `a mapping is kept alive for as long as the network allows`(type: String, seconds: Int64) throws {
    let pair = SessionPair { $0.iceServers = [ICEServer(kind: .stun, endpoint: SessionPair.turnServer)] }
    pair.startServer()
    pair.translates = true
    pair.a.move(to: "192.0.2.77", networkType: type, at: .zero)
    try connect(pair)
    pair.run(for: .seconds(300))
    let asked = pair.sent.filter { $0.fromA && $0.path.remote == SessionPair.turnServer }.map(\.time)
    let last = try #require(asked.last)
    #expect(last > .zero + .seconds(seconds - 12) && last <= .zero + .seconds(seconds + 3))
    #expect(zip(asked.dropFirst(), asked).allSatisfy { $0 - $1 < .seconds(11) })
  }

  @Test func `one address can be a STUN and a TURN server`() throws {
    let pair = SessionPair { configuration in
      configuration.iceServers = [ICEServer(kind: .stun, endpoint: SessionPair.turnServer), SessionPair.turn]
    }
    pair.startServer()
    pair.translates = true
    try pair.negotiate()
    pair.run(for: .seconds(1))
    for side in [pair.a, pair.b] {
      #expect(side.session.iceGatheringState == .complete)
      let problems = side.events.contains { if case .iceServerError = $0 { true } else { false } }
      #expect(!problems)
    }
  }

  /// Type preference 1 of libwebrtc's 0 (TLS), 1 (TCP), 2 (UDP); the candidate itself is a UDP address.
  @Test(arguments: [
    (Path.Transport.tcp, "udp 33554431", "turn:", "tcp"), (.tls, "udp 16777215", "turns:", "tls"),
  ])
  func `relays on connections carry a call, rank below relays over UDP and say how they are reached`(
    transport: Path.Transport, rank: String, scheme: String, name: String
  ) throws {
    let pair = relayedPair(over: transport)
    try connect(pair)
    #expect(pair.sent.allSatisfy { $0.path.remote == SessionPair.turnServer && $0.path.transport == transport })
    for side in [pair.a, pair.b] {
      #expect(side.session.connectionState == .connected && side.mediaReceived > 80)
      let candidates = side.events.compactMap { if case .iceCandidate(let text?, _, _) = $0 { text } else { nil } }
      #expect(candidates.count == 1 && candidates.allSatisfy { $0.contains(" \(rank) ") })
      let selected = side.events.compactMap { event in
        if case .selectedCandidatePairChange(let local, _) = event { local } else { nil }
      }
      #expect(selected.last?.relayProtocol == name && selected.last?.candidateType == "relay")
      let statistics = side.session.statistics(at: pair.now)
      let relay = statistics.entries.first { $0["relayProtocol"] == .text(name) }
      #expect(relay?["url"] == .text("\(scheme)\(SessionPair.turnServer)?transport=tcp"))
    }
  }

  @Test func `a TURN server behind a connection tells no server-reflexive candidate`() throws {
    let pair = SessionPair { configuration in
      var server = SessionPair.turn
      server.transport = .tcp
      configuration.iceServers = [server]
    }
    pair.startServer()
    pair.translates = true
    try connect(pair)
    let candidates = pair.a.events.compactMap { if case .iceCandidate(let text?, _, _) = $0 { text } else { nil } }
    #expect(candidates.count { $0.contains("typ relay") } == 1 && !candidates.contains { $0.contains("srflx") })
  }

  @Test func `a server listed for UDP and TCP gives two relays, and the better one carries the call`() throws {
    let pair = SessionPair { configuration in
      var server = SessionPair.turn
      server.transport = .tcp
      configuration.iceServers = [SessionPair.turn, server]
      configuration.iceTransportPolicy = .relay
    }
    pair.startServer()
    try connect(pair)
    #expect(pair.allocationCount == 4)
    for side in [pair.a, pair.b] {
      let selected = side.events.compactMap { event in
        if case .selectedCandidatePairChange(let local, _) = event { local.relayProtocol } else { nil }
      }
      #expect(selected.last == "udp")
    }
  }

  @Test func `a connection that is reset loses its candidates at once, and the call moves to another path`() throws {
    let pair = SessionPair { configuration in
      var server = SessionPair.turn
      server.transport = .tcp
      configuration.iceServers = [server]
    }
    pair.startServer()
    // The direct way is closed, then opens when the relay is gone.
    var isDirectOpen = false
    pair.drops = { $0.path.transport == .udp && !isDirectOpen }
    try connect(pair)
    #expect(pair.a.session.connectionState == .connected)
    isDirectOpen = true
    pair.run(for: .seconds(20))
    #expect(pair.a.session.ice.localCandidates.contains { $0.type == .relay })
    pair.resetStreams()
    #expect(!pair.a.session.ice.localCandidates.contains { $0.type == .relay })
    #expect(errors(pair.a) == [701])
    pair.run(for: .seconds(10))
    #expect(pair.a.session.connectionState == .connected && pair.b.session.connectionState == .connected)
    let selected = pair.a.events.compactMap { event in
      if case .selectedCandidatePairChange(let local, _) = event { local.candidateType } else { nil }
    }
    #expect(selected.last == "host")
  }

  @Test(arguments: [ICERestartSockets.new, .same])
  func `a relay that cannot be had over TCP lets its connection go, and an ICE restart asks again`(
    sockets: ICERestartSockets
  ) throws {
    let pair = SessionPair { configuration in
      configuration.restartSockets = sockets
      var server = SessionPair.turn
      server.transport = .tcp
      server.credential = "wrong"
      configuration.iceServers = [server]
    }
    pair.startServer()
    try pair.negotiate()
    pair.run(for: .seconds(1), talking: false)
    #expect(pair.a.streamsClosed.map(\.transport) == [.tcp])
    pair.a.session.restartICE()
    try pair.negotiate()
    pair.run(for: .seconds(1), talking: false)
    #expect(errors(pair.a) == [401, 401])
  }

  @Test func `a farewell that meets a stale nonce is said again with the new one`() throws {
    let pair = relayedPair()
    try connect(pair)
    pair.server?.expireNonces()
    pair.a.session.close(at: pair.now)
    pair.drain(pair.a)
    let wake = pair.a.session.wake
    #expect(wake != .never)
    pair.run(for: .milliseconds(200), talking: false)
    #expect(pair.allocationCount == 1 && pair.a.session.wake == .never)
  }

  @Test func `a farewell that is lost is said again a quarter of a second later`() throws {
    let pair = relayedPair()
    try connect(pair)
    let closing = pair.now
    pair.drops = { $0.fromA && $0.time < closing + .milliseconds(200) }
    pair.a.session.close(at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .milliseconds(350), talking: false)
    #expect(pair.allocationCount == 1 && pair.a.session.wake == .never)
  }

  @Test func `a closed session gives up on a silent server after a second, and says nothing more`() throws {
    let pair = relayedPair()
    try connect(pair)
    let closing = pair.now
    pair.drops = { _ in true }
    let events = pair.a.events.count
    pair.a.session.close(at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .milliseconds(999), talking: false)
    #expect(pair.a.session.wake != .never)
    pair.run(for: .milliseconds(2), talking: false)
    #expect(pair.a.session.wake == .never && pair.a.events.count == events)
    #expect(pair.sent.last { $0.fromA }.map { $0.time - closing < .seconds(1) } == true)
  }

  @Test func `closing says BYE through the relay and gives the allocation back`() throws {
    let pair = relayedPair()
    try connect(pair)
    #expect(pair.allocationCount == 2)
    pair.a.session.close(at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(1), talking: false)
    #expect(pair.b.observations.contains { if case .remoteBye = $0 { true } else { false } })
    #expect(pair.allocationCount == 1)
  }

  @Test(arguments: [ICERestartSockets.new, .same])
  func `a server that was down is asked again by an ICE restart`(sockets: ICERestartSockets) throws {
    let pair = SessionPair {
      $0.iceServers = [SessionPair.turn]
      $0.restartSockets = sockets
    }
    try pair.negotiate()
    pair.run(for: .seconds(45), talking: false)
    #expect(errors(pair.a) == [701])
    pair.startServer()
    pair.a.session.restartICE()
    try pair.negotiate()
    pair.run(for: .seconds(1), talking: false)
    #expect(pair.a.observations.contains { if case .turnAllocated = $0 { true } else { false } })
  }

  @Test func `relay candidates of an interface that is gone leave the description`() throws {
    let pair = SessionPair { $0.iceServers = [SessionPair.turn] }
    pair.startServer()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    let before = try pair.a.session.createOffer()
    #expect(before.sdp.contains("typ relay"))
    pair.a.move(to: "198.51.100.9", at: pair.now)
    let after = try pair.a.session.createOffer()
    #expect(!after.sdp.contains("a=candidate"))
  }

  @Test(arguments: [false, true])
  func `permissions and channels that a server forgets early are renewed in time, when told to`(renews: Bool) throws {
    let pair = SessionPair { configuration in
      configuration.iceServers = [SessionPair.turn]
      configuration.iceTransportPolicy = .relay
      if renews {
        configuration.relayRefresh.permission = .seconds(3)
        configuration.relayRefresh.channel = .seconds(4)
      }
    }
    pair.startServer {
      $0.permissionLifetime = .seconds(6)
      $0.channelLifetime = .seconds(8)
    }
    try connect(pair)
    pair.run(for: .seconds(12))
    let before = pair.b.mediaReceived
    pair.run(for: .seconds(4))
    #expect((pair.b.mediaReceived - before > 180) == renews)
  }

  @Test func `nobody is told of another mapped address after the end of candidates`() throws {
    let pair = SessionPair {
      $0.iceServers = [ICEServer(kind: .stun, endpoint: SessionPair.turnServer)]
      $0.restartSockets = .same
    }
    pair.startServer()
    try connect(pair)
    #expect(pair.a.candidates.isEmpty)
    pair.translates = true
    pair.run(for: .minutes(1))
    let offer = try pair.a.session.createOffer()
    #expect(pair.a.candidates.isEmpty && !offer.sdp.contains("typ srflx"))
    pair.a.session.restartICE()
    try pair.a.session.setLocalDescription(try pair.a.session.createOffer(), at: pair.now)
    pair.drain(pair.a)
    #expect(pair.a.candidates.contains { $0.text?.contains("typ srflx") == true })
  }

  // MARK: 437 (RFC 8656 section 7.4)

  /// A device at an address whose last user left an allocation behind, gathering.
  private func successor(
    policy: ICETransportPolicy = .relay, nextSocket: ((Endpoint) -> Endpoint?)? = nil
  ) throws -> SessionPair {
    let pair = relayedPair()
    try connect(pair)
    pair.replaceB { configuration in
      configuration.iceServers = [SessionPair.turn]
      configuration.iceTransportPolicy = policy
    }
    if let nextSocket { pair.b.nextSocket = nextSocket }
    try pair.b.session.setLocalDescription(try pair.b.session.createOffer(), at: pair.now)
    pair.drain(pair.b)
    pair.run(for: .seconds(1), talking: false)
    return pair
  }

  private func errors(_ side: SessionPair.Side) -> [Int] {
    side.events.compactMap { if case .iceServerError(_, _, let code, _) = $0 { code } else { nil } }
  }

  @Test func `an allocation that someone left behind at this port is no obstacle: another port is taken`() throws {
    let pair = try successor()
    #expect(pair.b.observations.contains { if case .turnAllocated = $0 { true } else { false } })
    #expect(pair.allocationCount == 3 && errors(pair.b).isEmpty && pair.b.session.iceGatheringState == .complete)
    #expect(pair.sent.last { !$0.fromA }?.path.local == Endpoint(pair.b.interface.socket.address, port: 5_001))
  }

  @Test func `a port taken for the relay alone yields no server-reflexive candidate`() throws {
    let pair = try successor(policy: .all)
    let candidates = pair.b.candidates.compactMap(\.text)
    #expect(candidates.contains { $0.contains(" typ relay ") })
    #expect(!candidates.contains { $0.contains(" typ srflx ") }, "\(candidates)")
  }

  @Test func `without another port gathering ends, and says why`() throws {
    let pair = try successor { _ in nil }
    #expect(errors(pair.b) == [437] && pair.b.session.iceGatheringState == .complete)
  }

  @Test func `a server that calls every port taken is asked four times`() throws {
    let pair = try successor { _ in Endpoint("192.0.2.2:5000")! }
    #expect(errors(pair.b) == [437] && pair.b.session.iceGatheringState == .complete)
    #expect(pair.b.socketsAsked == 3)
  }

  @Test func `a handshake goes on when the far side answers over another pair than ours`() throws {
    let pair = SessionPair { $0.iceServers = [SessionPair.turn] }
    pair.startServer()
    var answers: [[UInt8]] = []
    pair.drops = { datagram in
      guard !datagram.fromA, datagram.isDTLS else { return false }
      answers.append(datagram.bytes)
      return true
    }
    try connect(pair)
    for _ in 0..<50 {
      let relayed = try #require(pair.a.session.ice.pairs.first { $0.remote.type == .relay && $0.local.type == .host })
      let arrived = answers
      answers = []
      for bytes in arrived {
        let path = Path(local: relayed.base, remote: relayed.remoteEndpoint)
        pair.a.session.receive(bytes.span.bytes, on: path, at: pair.now)
        pair.drain(pair.a)
      }
      pair.run(for: .milliseconds(100))
    }
    #expect(pair.a.session.ice.selectedPair?.remote.type == .host)
    for side in [pair.a, pair.b] { #expect(side.session.dtlsState == .connected) }
  }
}
