import CallCore
import ICE
import STUN
import StackWorlds
import TURN
import Testing

@testable import PeerSession

/// TURN servers that refuse, that know nothing of what they gave, and that have other addresses than the client.
@Suite struct RelayRefusalTests {
  private func gathered(_ pair: SessionPair, rounds: Int = 5) throws {
    try pair.negotiate()
    for _ in 0..<rounds {
      pair.run(for: .milliseconds(200), talking: false)
      try pair.exchangeCandidates()
    }
  }

  private func relayedPair() -> SessionPair {
    SessionPair { configuration in
      configuration.iceServers = [SessionPair.turn]
      configuration.iceTransportPolicy = .relay
    }
  }

  private func requests(_ pair: SessionPair, _ method: STUNMethod, fromA: Bool = true) -> Int {
    pair.sent.count { datagram in
      guard datagram.fromA == fromA, let message = try? STUNMessage(parsing: datagram.bytes.span.bytes) else {
        return false
      }
      return message.method == method && message.messageClass == .request
    }
  }

  @Test(arguments: [STUNError.forbidden, .badRequest])
  func `a server that permits no peer is asked once for each, and ICE gives the pairs up`(error: STUNError) throws {
    let pair = relayedPair()
    pair.startServer()
    pair.server?.setRejection(error, of: .createPermission)
    try gathered(pair)
    pair.run(for: .seconds(20), talking: false)
    #expect(requests(pair, .createPermission) == 1)
    let refusals = pair.a.observations.compactMap { event in
      if case .checkFailed(_, _, let reason) = event { "\(reason)" } else { nil }
    }
    #expect(refusals == ["relay-refused"])
    let errors = pair.a.events.contains { if case .iceServerError = $0 { true } else { false } }
    #expect(!errors && pair.a.session.iceConnectionState == .failed)
  }

  @Test func `another port of an address that was refused is not asked for, and its pair given up`() throws {
    let pair = relayedPair()
    pair.startServer()
    pair.server?.setRejection(.forbidden, of: .createPermission)
    try pair.negotiate()
    for _ in 0..<5 {
      pair.run(for: .milliseconds(200), talking: false)
      // More may come.
      pair.b.candidates.removeAll { $0.text == nil }
      try pair.exchangeCandidates()
    }
    #expect(requests(pair, .createPermission) == 1)
    for port in [50_001, 50_002] {
      let candidate = "candidate:1 1 udp 41885439 203.0.113.1 \(port) typ relay raddr 0.0.0.0 rport 9"
      try pair.a.session.addICECandidate(candidate, mid: "0", mLineIndex: 0, at: pair.now)
      pair.drain(pair.a)
      pair.run(for: .seconds(1), talking: false)
    }
    let refusals = pair.a.observations.compactMap { event in
      if case .checkFailed(_, let remote, let reason) = event { "\(reason) \(remote.port)" } else { nil }
    }
    #expect(refusals.suffix(2) == ["relay-refused 50001", "relay-refused 50002"])
    #expect(requests(pair, .createPermission) == 1)
  }

  @Test func `a refused channel gives the pair up, as libwebrtc does`() throws {
    let pair = relayedPair()
    pair.startServer()
    pair.server?.setRejection(.forbidden, of: .channelBind)
    try gathered(pair)
    pair.run(for: .seconds(20), talking: false)
    #expect(pair.a.session.iceConnectionState == .failed && requests(pair, .channelBind) <= 2)
  }

  @Test func `what comes through a relay and nobody asked for is refused aloud`() throws {
    let pair = relayedPair()
    pair.startServer()
    try gathered(pair)
    let path = Path(local: pair.a.interface.socket, remote: SessionPair.turn.endpoint)
    let rtp: [UInt8] = [0x80, 111] + [UInt8](repeating: 0, count: 18)
    // A channel that was never bound, and a peer that was given no permission: 192.0.2.99, with the cookie mixed in.
    let channelData: [UInt8] = [0x4F, 0xFF, 0, 20] + rtp
    let address: [UInt8] = [0, 0x12, 0, 8, 0, 1, 0x21, 0x12, 192 ^ 0x21, 0 ^ 0x12, 2 ^ 0xA4, 99 ^ 0x42]
    let indication: [UInt8] =
      [0, 0x17, 0, 36, 0x21, 0x12, 0xA4, 0x42] + [UInt8](repeating: 1, count: 12) + address + [0, 0x13, 0, 20] + rtp
    for bytes in [channelData, indication] {
      pair.a.observations = []
      pair.a.session.receive(bytes.span.bytes, on: path, at: pair.now)
      pair.drain(pair.a)
      let words = pair.a.observations.compactMap { event in
        if case .packetDiscarded(let what, _) = event { "\(what)" } else { nil }
      }
      #expect(words == ["relayed-to-nobody"])
    }
  }

  @Test(arguments: [STUNMethod.createPermission, .channelBind, .refresh])
  func `a server that knows nothing of what it gave is asked for four allocations, not without end`(
    method: STUNMethod
  ) throws {
    let pair = relayedPair()
    pair.startServer { $0.defaultLifetime = .seconds(20) }
    pair.server?.setRejection(.allocationMismatch, of: method)
    try gathered(pair)
    pair.run(for: .minutes(2), talking: false)
    let allocations = pair.a.observations.count { if case .turnAllocated = $0 { true } else { false } }
    // A channel is bound once a pair is agreed on, and after the loss of its relay none may be again.
    #expect(method == .channelBind ? (2...4).contains(allocations) : allocations == 4)
    #expect(pair.a.session.iceConnectionState == .failed)
  }

  @Test func `a server that restarts every two minutes is asked anew each time`() throws {
    let pair = relayedPair()
    pair.startServer()
    try gathered(pair)
    pair.run(for: .seconds(2))
    for _ in 0..<6 {
      pair.run(for: .minutes(2))
      pair.server?.restart(at: pair.now)
    }
    pair.run(for: .minutes(6))
    let allocations = pair.a.observations.count { if case .turnAllocated = $0 { true } else { false } }
    #expect(allocations >= 3)
  }

  @Test(arguments: [false, true])
  func `a phone that has IPv6 alone reaches one that has IPv4 alone`(hasIPv6Relays: Bool) throws {
    let pair = SessionPair { $0.iceServers = [SessionPair.turn, SessionPair.turnIPv6] }
    pair.startServer { if hasIPv6Relays { $0.relays.append(.init(IPAddress("2001:db8:53::1")!)) } }
    pair.a.move(to: "2001:db8::a", at: .zero)
    try gathered(pair)
    pair.run(for: .seconds(2))
    for side in [pair.a, pair.b] {
      #expect(side.session.connectionState == .connected && side.mediaReceived > 50)
    }
    let relayed = pair.a.observations.compactMap { event in
      if case .turnAllocated(_, let relayed, _) = event { relayed.address.isIPv6 } else { nil }
    }
    #expect(relayed == (hasIPv6Relays ? [false, true] : [false]))
  }

  @Test func `a server without IPv4 relays gives a phone that has IPv6 alone an IPv6 relay`() throws {
    let pair = SessionPair(ipv6: true) { configuration in
      configuration.iceServers = [SessionPair.turnIPv6]
      configuration.iceTransportPolicy = .relay
    }
    pair.startServer { $0.relays = [.init(IPAddress("2001:db8:53::1")!)] }
    try gathered(pair)
    pair.run(for: .seconds(2))
    #expect(pair.a.session.connectionState == .connected && pair.b.mediaReceived > 50)
  }

  @Test func `checks bind no channel, and what they alone use is bound to none`() throws {
    let pair = SessionPair { configuration in
      configuration.iceServers = [SessionPair.turn]
      // The relay's pairs are checked although the direct one works.
      configuration.ice.prunesPairs = false
    }
    pair.startServer()
    try gathered(pair)
    pair.run(for: .seconds(30))
    #expect(pair.a.session.connectionState == .connected)
    #expect(requests(pair, .createPermission) > 0 && requests(pair, .channelBind) == 0)
  }

  @Test func `what an earlier gathering found takes the rank of its interface in the next one`() throws {
    let pair = SessionPair {
      $0.iceServers = [SessionPair.turn]
      $0.restartSockets = .same
    }
    pair.startServer()
    pair.translates = true
    try gathered(pair)
    let first = pair.a.interface
    let second = LocalInterface(
      socket: Endpoint(IPAddress("192.0.2.77")!, port: 5_000), name: "wlan0", networkType: "wifi")
    // The new interface comes first and takes the higher rank.
    pair.a.session.setInterfaces([second, first], at: pair.now)
    pair.a.events.removeAll()
    pair.a.session.restartICE()
    try pair.a.session.setLocalDescription(try pair.a.session.createOffer(), at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(1), talking: false)
    let candidates = pair.a.events.compactMap { event in
      if case .iceCandidate(let text?, _, _) = event { ICECandidate(text) } else { nil }
    }
    let local = { (candidate: ICECandidate) in candidate.priority >> 8 & 0xFFFF }
    let host = try #require(candidates.first { $0.type == .host && $0.endpoint == first.socket })
    let reflexive = try #require(candidates.first { $0.type == .serverReflexive })
    #expect(local(reflexive) == local(host))
    // A relay has two addresses at most, each with a preference of its own.
    let relay = try #require(candidates.first { $0.type == .relay })
    #expect(0xFFFF - local(relay) == 2 * (0xFFFF - local(host)))
  }
}
