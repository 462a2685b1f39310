import CallCore
import PeerSession
import StackWorlds
import Statistics
import Testing

/// Addresses behind names (draft-ietf-mmusic-mdns-ice-candidates): ours, and others'.
@Suite struct AddressObfuscationTests {
  private static let alice = "5df3f44b-8737-4fa0-a707-d72a4532e84b.local"
  private static let bob = "0f2e1c60-98d2-4a3b-8d5e-6c1a6f0f3f11.local"

  private func obfuscatedPair(adjust: (inout SessionConfiguration) -> Void = { _ in }) -> SessionPair {
    let pair = SessionPair(adjust: adjust)
    pair.a.obfuscate(as: Self.alice)
    pair.b.obfuscate(as: Self.bob)
    return pair
  }

  private func asked(_ side: SessionPair.Side) -> [String] { side.namesAsked }

  private func resolve(_ pair: SessionPair) {
    for (side, other) in [(pair.a, pair.b), (pair.b, pair.a)] {
      for name in asked(side) { side.session.nameResolved(name, to: other.interface.socket.address, at: pair.now) }
    }
  }

  @Test func `two peers with obfuscated addresses ask for each other's names, and connect when they know them`() throws
  {
    let pair = obfuscatedPair()
    try pair.negotiate()
    pair.run(for: .seconds(2))
    #expect(asked(pair.a) == [Self.bob] && asked(pair.b) == [Self.alice])
    #expect(pair.sent.isEmpty)
    resolve(pair)
    pair.run(for: .seconds(2))
    #expect(pair.a.session.connectionState == .connected && pair.b.mediaReceived > 50)
    // What is known need not be asked again.
    try pair.negotiate()
    #expect(asked(pair.a) == [Self.bob])
  }

  @Test func `nothing that a session tells has the obfuscated address`() throws {
    let pair = obfuscatedPair()
    try pair.negotiate()
    resolve(pair)
    pair.run(for: .seconds(2))
    let address = "\(pair.a.interface.socket.address)"
    let description = pair.a.session.localDescription
    var told = [try #require(description).sdp, try pair.a.session.createOffer().sdp]
    for entry in pair.a.session.statistics(at: pair.now).entries where entry.type != "remote-candidate" {
      told.append("\(entry)")
    }
    for event in pair.a.events {
      switch event {
      case .iceCandidate, .selectedCandidatePairChange: told.append("\(event)")
      default: break
      }
    }
    #expect(told.count > 8 && told.count { $0.contains(Self.alice) } >= 4)
    #expect(told.filter { $0.contains(address) } == [])
    #expect(told[0].contains("c=IN IP4 0.0.0.0\r\n") && told[0].contains("m=audio 9 "))
  }

  @Test func `a foundation does not tell what it was made from`() throws {
    let obfuscated = obfuscatedPair()
    let open = SessionPair()
    for pair in [obfuscated, open] { try pair.negotiate() }
    let foundations = [obfuscated, open].map { pair in
      pair.a.events.compactMap { event -> Substring? in
        guard case .iceCandidate(let text?, _, _) = event else { return nil }
        return text.split(separator: " ").first
      }
    }
    #expect(foundations[0] == ["candidate:1"] && foundations[1] != foundations[0])
  }

  @Test func `what servers see is told without what it was derived from`() throws {
    let pair = obfuscatedPair { $0.iceServers = [SessionPair.turn] }
    pair.startServer()
    pair.translates = true
    try pair.negotiate()
    pair.run(for: .seconds(1), talking: false)
    let candidates = pair.a.events.compactMap { if case .iceCandidate(let text?, _, _) = $0 { text } else { nil } }
    for type in ["srflx", "relay"] {
      #expect(candidates.count { $0.contains("typ \(type) raddr 0.0.0.0 rport 9") } == 1)
    }
    #expect(candidates.count { $0.contains("raddr") } == 2)
  }

  @Test func `with relays only nobody is asked for a name`() throws {
    let pair = obfuscatedPair { $0.iceTransportPolicy = .relay }
    pair.a.obfuscate(as: Self.alice)
    try pair.negotiate()
    let host = "candidate:1 1 udp 2130706431 \(Self.bob) 5000 typ host"
    try pair.a.session.addICECandidate(host, mid: "0", mLineIndex: 0, at: pair.now)
    pair.run(for: .seconds(1))
    #expect(asked(pair.a).isEmpty)
  }

  @Test func `an answer to a question that was not asked changes nothing`() throws {
    let pair = obfuscatedPair()
    try pair.negotiate()
    pair.a.session.nameResolved(Self.alice, to: pair.b.interface.socket.address, at: pair.now)
    pair.run(for: .seconds(1))
    #expect(pair.sent.isEmpty)
  }

  @Test func `a peer cannot have more than 32 names asked for`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    for number in 0..<100 {
      let text = "candidate:1 1 udp 2130706431 host-\(number).local 5000 typ host"
      try pair.a.session.addICECandidate(text, mid: "0", mLineIndex: 0, at: pair.now)
    }
    pair.drain(pair.a)
    #expect(asked(pair.a).count == 32)
  }
}
