import CallCore
import ICE
import StackWorlds
import Testing

@testable import PeerSession

/// Interfaces that come up and go while a call is up (libwebrtc's continual gathering).
@Suite struct ContinualGatheringTests {
  private func call(_ gathering: ICEGatheringPolicy) throws -> SessionPair {
    let pair = SessionPair { configuration in
      configuration.gathering = gathering
      configuration.iceServers = [SessionPair.turn]
    }
    pair.startServer()
    try pair.negotiate()
    pair.run(for: .seconds(2))
    try pair.exchangeCandidates()
    pair.run(for: .seconds(1))
    return pair
  }

  private func removed(_ side: SessionPair.Side) -> [String] {
    side.events.flatMap { event -> [String] in
      if case .iceCandidatesRemoved(let candidates) = event { candidates } else { [] }
    }
  }

  @Test(arguments: ICEGatheringPolicy.allCases)
  func `an interface that comes up is told at once, or waits for a restart`(gathering: ICEGatheringPolicy) throws {
    let pair = try call(gathering)
    pair.a.bringUp("198.51.100.44", at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(1))
    let told = pair.a.candidates.compactMap(\.text).compactMap { ICECandidate($0) }
    let isContinual = gathering == .continually
    #expect(told.contains { $0.type == .host && $0.endpoint?.address == IPAddress("198.51.100.44")! } == isContinual)
    #expect(told.contains { $0.type == .relay } == isContinual)
    #expect((pair.a.session.iceGatheringState == .complete) == !isContinual)
    #expect(pair.a.session.localDescription?.sdp.contains("198.51.100.44") == isContinual)
  }

  @Test(arguments: ICEGatheringPolicy.allCases)
  func `a call moves to an interface that came up without a restart, when it was told`(
    gathering: ICEGatheringPolicy
  ) throws {
    let pair = try call(gathering)
    pair.a.bringUp("198.51.100.44", at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .seconds(2))
    try pair.exchangeCandidates()
    pair.run(for: .seconds(2))
    pair.a.loseFirstInterface(at: pair.now)
    pair.drain(pair.a)
    let before = (pair.a.mediaReceived, pair.b.mediaReceived)
    pair.run(for: .seconds(10))
    let received = (pair.a.mediaReceived - before.0, pair.b.mediaReceived - before.1)
    // Of ten seconds all but the four until the loss is noticed on both sides.
    let expected = gathering == .continually ? 295...330 : 0...1
    #expect(expected.contains(received.0) && expected.contains(received.1), "\(received)")
    let restarts = pair.a.observations.contains { if case .iceRestart = $0 { true } else { false } }
    #expect(!restarts)
  }

  @Test(arguments: ICEGatheringPolicy.allCases)
  func `candidates of an interface that is gone are reported`(gathering: ICEGatheringPolicy) throws {
    let pair = try call(gathering)
    let first = pair.a.interface.socket
    pair.a.bringUp("198.51.100.44", at: pair.now)
    pair.a.loseFirstInterface(at: pair.now)
    pair.drain(pair.a)
    pair.run(for: .milliseconds(100))
    let lost = removed(pair.a).compactMap { ICECandidate($0) }
    guard gathering == .continually else {
      #expect(lost.isEmpty)
      return
    }
    #expect(lost.contains { $0.endpoint == first } && lost.contains { $0.type == .relay })
  }

  @Test func `a candidate that the peer has lost forms no new pair, and pairs that work stay`() throws {
    let pair = try call(.continually)
    let known = pair.a.session.ice.remoteCandidates.filter { $0.type == .host }
    let pairs = pair.a.session.ice.pairs.count
    try pair.a.session.removeICECandidates(known.map(\.description), at: pair.now)
    #expect(!known.isEmpty && pair.a.session.ice.pairs.count == pairs)
    pair.a.bringUp("198.51.100.44", at: pair.now)
    let bases = pair.a.session.ice.pairs.filter { $0.base.address == IPAddress("198.51.100.44")! }
    #expect(!bases.isEmpty && bases.allSatisfy { $0.remote.type != .host })
    #expect(throws: SessionError.invalidCandidate("'x' is no candidate")) {
      try pair.a.session.removeICECandidates(["x"], at: pair.now)
    }
  }
}
