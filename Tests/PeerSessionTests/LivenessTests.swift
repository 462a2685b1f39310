import CallCore
import ICE
import StackWorlds
import Testing

@testable import PeerSession

@Suite struct LivenessTests {
  /// States of `a` with the seconds after the blackhole began.
  private func trail(blackhole: Interval) throws -> (states: [ConnectionState], pair: SessionPair) {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(5))
    pair.drops = { _ in true }
    pair.run(for: blackhole, talking: false)
    pair.drops = { _ in false }
    pair.run(for: .seconds(5))
    return (pair.a.connectionStates, pair)
  }

  @Test func `a blackhole of 3 s changes no state`() throws {
    let (states, pair) = try trail(blackhole: .seconds(3))
    #expect(states == [.connecting, .connected])
    #expect(pair.hotWakes == 0)
  }

  @Test func `a blackhole of 8 s disconnects and comes back by itself`() throws {
    let (states, _) = try trail(blackhole: .seconds(8))
    #expect(states == [.connecting, .connected, .disconnected, .connected])
  }

  @Test func `a blackhole of 40 s disconnects after 5 to 7.7 s and fails after 15 to 17.7 s`() throws {
    let pair = SessionPair()
    try pair.negotiate()
    pair.run(for: .seconds(5))
    pair.drops = { _ in true }
    var reached: [ConnectionState: Double] = [:]
    for tick in 0..<400 {
      pair.run(for: .milliseconds(100), talking: false)
      let state = pair.a.session.connectionState
      if reached[state] == nil { reached[state] = Double(tick + 1) / 10 }
    }
    let disconnected = try #require(reached[.disconnected])
    let failed = try #require(reached[.failed])
    #expect((5.0...7.8).contains(disconnected))
    #expect((15.0...17.8).contains(failed))
    #expect(pair.hotWakes == 0)
    let remote = pair.b.interface.socket
    let expired = pair.a.observations.contains { if case .consentExpired(remote) = $0 { true } else { false } }
    let failures = pair.a.observations.compactMap { event -> String? in
      if case .checkFailed(_, remote, let reason) = event { "\(reason)" } else { nil }
    }
    #expect(expired && failures.contains("consent-expired"))
  }

  @Test(arguments: 0..<7) func `no session is hot, whatever is lost and whenever it closes`(seed: UInt64) throws {
    var random = RandomStream(seed: seed)
    let pair = SessionPair(seed: seed) { configuration in
      configuration.audio.nack = seed % 2 == 0
      configuration.iceServers = seed % 3 == 0 ? [SessionPair.turn] : []
    }
    if seed % 6 == 0 { pair.startServer() }
    var losses = RandomStream(seed: seed + 100)
    try pair.negotiate()
    for _ in 0..<8 {
      let percent = [0, 10, 50, 100][Int(random.uniform(below: 4))]
      pair.drops = { _ in losses.uniform(below: 100) < UInt64(percent) }
      pair.run(for: .milliseconds(Int64(random.uniform(below: 2_500))))
    }
    pair.a.session.close(at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(2))
    #expect(pair.hotWakes == 0)
    #expect(pair.a.session.wake == .never)
  }

  @Test(arguments: [true, false], 0..<5) func `any one DTLS datagram may be lost`(fromA: Bool, index: Int) throws {
    let pair = SessionPair()
    var seen = 0
    pair.drops = { datagram in
      guard datagram.isDTLS, datagram.fromA == fromA else { return false }
      seen += 1
      return seen == index + 1
    }
    try pair.negotiate()
    pair.run(for: .seconds(4), talking: false)
    #expect(pair.a.session.connectionState == .connected)
    #expect(pair.b.session.connectionState == .connected)
  }
}
