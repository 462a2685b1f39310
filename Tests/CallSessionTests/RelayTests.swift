import CallCore
import CallSession
import Testing

@Suite struct RelayTests {
  private func relayedPair() -> SessionPair {
    let pair = SessionPair { configuration in
      configuration.iceServers = [SessionPair.turn]
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

  @Test func `closing says BYE through the relay and gives the allocation back`() throws {
    let pair = relayedPair()
    try connect(pair)
    #expect(pair.allocationCount == 2)
    pair.a.session.close(at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(1), talking: false)
    #expect(pair.b.events.contains { if case .remoteBye = $0 { true } else { false } })
    #expect(pair.allocationCount == 1)
  }

  @Test func `a server that was down is asked again by an ICE restart`() throws {
    let pair = SessionPair { $0.iceServers = [SessionPair.turn] }
    try pair.negotiate()
    pair.run(for: .seconds(45), talking: false)
    let silence = pair.a.events.contains { if case .iceServerError(_, 701, _) = $0 { true } else { false } }
    #expect(silence)
    pair.startServer()
    pair.a.session.restartICE()
    try pair.negotiate()
    pair.run(for: .seconds(1), talking: false)
    #expect(pair.a.events.contains { if case .turnAllocated = $0 { true } else { false } })
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
}
