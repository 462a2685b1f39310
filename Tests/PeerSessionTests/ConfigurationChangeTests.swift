import CallCore
import PeerSession
import SDP
import StackWorlds
import Testing

/// Servers and policy that change in a call (webrtc-pc section 4.4.1.6, RFC 9429 section 4.1.18).
@Suite struct ConfigurationChangeTests {
  private func candidates(_ side: SessionPair.Side) -> [String] {
    side.events.compactMap { if case .iceCandidate(let text?, _, _) = $0 { text } else { nil } }
  }

  @Test func `before the first offer other servers are those that are asked`() throws {
    let pair = SessionPair()
    pair.startServer()
    try pair.a.session.setICEConfiguration(ICEConfiguration(servers: [SessionPair.turn], transportPolicy: .relay))
    try pair.negotiate()
    pair.run(for: .seconds(2))
    let told = candidates(pair.a)
    #expect(told.count == 1 && told.allSatisfy { $0.contains("typ relay") })
  }

  @Test func `in a call they are asked at the next offer, which restarts ICE and which nobody is told to make`() throws
  {
    let pair = SessionPair()
    pair.startServer()
    try pair.negotiate()
    pair.run(for: .seconds(2))
    #expect(!candidates(pair.a).contains { $0.contains("typ relay") })
    let needed = pair.a.negotiationsNeeded
    try pair.a.session.setICEConfiguration(ICEConfiguration(servers: [SessionPair.turn]))
    pair.drain(pair.a)
    pair.run(for: .seconds(2))
    #expect(pair.allocationCount == 0 && pair.a.negotiationsNeeded == needed)
    try pair.negotiate()
    pair.run(for: .seconds(2))
    #expect(candidates(pair.a).contains { $0.contains("typ relay") })
    #expect(pair.a.observations.contains { if case .iceRestart(byPeer: false) = $0 { true } else { false } })
    #expect(pair.a.session.connectionState == .connected && pair.b.session.connectionState == .connected)
    // It is done once.
    let restarts = pair.a.observations.count { if case .iceRestart = $0 { true } else { false } }
    try pair.negotiate()
    #expect(pair.a.observations.count { if case .iceRestart = $0 { true } else { false } } == restarts)
  }

  @Test func `the same again changes nothing, and a closed session takes none`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(1))
    let same = pair.a.session.iceConfiguration
    try pair.a.session.setICEConfiguration(same)
    try pair.negotiate()
    #expect(!pair.a.observations.contains { if case .iceRestart = $0 { true } else { false } })
    pair.a.session.close(at: pair.now)
    #expect(throws: SessionError.invalidState("closed")) { try pair.a.session.setICEConfiguration(same) }
  }
}
