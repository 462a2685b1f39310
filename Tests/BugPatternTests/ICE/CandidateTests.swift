import CallCore
import PeerSession
import StackWorlds
import Testing

@testable import ICE

/// Patterns 5, 9, 10, 11, 20 and 21: candidates that come late, twice, for somebody else, by name, or in crowds.
@Suite struct CandidateTests {
  @Test func `05 - a candidate that was withdrawn pairs up again when it is back`() throws {
    try proves(.withdrawnCandidateNotReadded) { claims in
      let (network, wifi, cellular) = try TestNetwork.connected()
      network.alice.agent.withdrawLocalCandidates(base: wifi, at: network.now)
      network.drain(network.alice)
      network.isBlocked = { from, to in from == wifi || to == wifi }
      // For so long that its pair is forgotten.
      network.run(for: .minutes(1))
      claims("the call is on the other network", network.alice.selected?.base == cellular)
      network.isBlocked = { _, _ in false }
      try network.alice.agent.addLocalCandidate(.host(wifi, localPreference: 65_535), at: network.now)
      network.drain(network.alice)
      network.run(for: .seconds(5))
      claims("the call is back on the first", network.alice.selected?.base == wifi)
    }
  }

  @Test func `09 - an agent whose own checks all fail waits for the peer's`() throws {
    try proves(.failedByOwnChecks) { claims in
      let network = TestNetwork()
      try network.addHost(network.alice, "192.0.2.1:5000")
      // Bob's NAT gives each destination another port, so the answer to Alice's check comes from an address that she
      // did not send to, and her check has failed (RFC 8445 section 7.2.5.2.1).
      let base = try network.addHost(network.bob, "192.168.1.2:6000")
      network.putBehindNAT(base, public: "203.0.113.1", symmetric: true, filters: false)
      let mapped = try network.addReflexive(network.bob, base: base)
      try network.exchangeCredentials()
      let reflexive = try #require(network.bob.agent.localCandidates.first { $0.endpoint == mapped })
      network.alice.agent.addRemoteCandidate(reflexive, at: network.now)
      network.drain(network.alice)
      network.run(until: at(3))
      let failures = network.alice.count { if case .checkFailed(_, .nonSymmetric) = $0 { true } else { false } }
      claims("a check of Alice's failed", failures > 0)
      claims("she did not give up for that", !network.alice.states.contains(.failed))
      claims("both are connected", network.alice.canSend && network.bob.canSend)
    }
  }

  @Test func `10 - candidates that come before their description are kept for it`() throws {
    try proves(.earlyCandidateDropped) { claims in
      let network = TestNetwork()
      try network.addHost(network.alice, "192.0.2.1:5000")
      try network.addHost(network.bob, "192.0.2.2:6000")
      network.signalCandidates(from: network.alice, to: network.bob)
      network.signalCandidates(from: network.bob, to: network.alice)
      claims("nothing is paired yet", network.alice.pairs.isEmpty && network.bob.pairs.isEmpty)
      try network.exchangeCredentials()
      network.run(until: at(1))
      claims("both are connected", network.alice.canSend && network.bob.canSend)
    }
  }

  @Test func `11 - a candidate of the generation before a restart is not paired after it`() throws {
    try proves(.retiredCandidateAccepted) { claims in
      let network = TestNetwork()
      try network.addHost(network.alice, "192.0.2.1:5000")
      try network.addHost(network.bob, "192.0.2.2:6000")
      try network.signalAll()
      network.run(until: at(10))
      var late = ICECandidate.host(endpoint("192.0.2.77:7007"))
      late.ufrag = network.bob.agent.localCredentials.ufrag
      for peer in [network.alice, network.bob] {
        let host = try #require(peer.agent.localCandidates.first { $0.type == .host })
        try peer.agent.restart(at: network.now)
        try peer.agent.addLocalCandidate(host, at: network.now)
        network.drain(peer)
      }
      try network.signalAll()
      network.alice.agent.addRemoteCandidate(late, at: network.now)
      network.drain(network.alice)
      network.run(for: .seconds(2))
      let strangers = network.alice.pairs.filter { $0.remoteEndpoint == late.endpoint }
      claims("the late candidate is nobody's", strangers.isEmpty)
      claims("both are connected", network.alice.state == .completed && network.bob.state == .completed)
    }
  }

  @Test func `20 - a candidate whose name does not resolve is not fatal`() throws {
    try proves(.unresolvedNameFatal) { claims in
      let pair = SessionPair()
      let offer = try pair.a.session.createOffer()
      try pair.a.session.setLocalDescription(offer, at: pair.now)
      try pair.b.session.setRemoteDescription(offer, at: pair.now)
      let answer = try pair.b.session.createAnswer()
      try pair.b.session.setLocalDescription(answer, at: pair.now)
      try pair.a.session.setRemoteDescription(answer, at: pair.now)
      pair.drain(pair.a)
      pair.drain(pair.b)
      // Bob is on another network segment: his names mean nothing to Alice, whose checks must come from him.
      let name = "candidate:1 1 udp 2113937151 4b1c8a50-8a5e-4d2c-9a3e-1f0e6f2b7c11.local 50000 typ host"
      try pair.a.session.addICECandidate(name, mid: "0", mLineIndex: 0, at: pair.now)
      for candidate in pair.a.candidates {
        try pair.b.session.addICECandidate(candidate.text, mid: "0", mLineIndex: 0, at: pair.now)
      }
      pair.run(for: .seconds(3))
      claims("they are connected", pair.a.session.connectionState == .connected)
      claims("and hear each other", pair.a.mediaReceived > 0 && pair.b.mediaReceived > 0)
    }
  }

  @Test func `20 - a name that resolves after the end of candidates is not too late`() throws {
    try proves(.lateNameDropped) { claims in
      let pair = SessionPair()
      let name = "4b1c8a50-8a5e-4d2c-9a3e-1f0e6f2b7c11.local"
      pair.b.obfuscate(as: name)
      let offer = try pair.a.session.createOffer()
      try pair.a.session.setLocalDescription(offer, at: pair.now)
      try pair.answer(offer, of: pair.a, by: pair.b)
      // Bob knows nothing of Alice: all depends on what she makes of his name, which takes her network two seconds.
      for candidate in pair.b.candidates {
        try pair.a.session.addICECandidate(candidate.text, mid: candidate.mid, mLineIndex: 0, at: pair.now)
      }
      claims("all his candidates are told", pair.b.candidates.last?.text == nil)
      pair.run(for: .seconds(2))
      pair.a.session.nameResolved(name, to: IPAddress("192.0.2.2")!, at: pair.now)
      pair.run(for: .seconds(3))
      claims("they are connected", pair.a.session.connectionState == .connected)
      claims("and hear each other", pair.a.mediaReceived > 0 && pair.b.mediaReceived > 0)
    }
  }

  @Test func `21 - the state of an idle call with a lite peer does not flap`() throws {
    try proves(.idleLitePairsPurged) { claims in
      var lite = ICESettings()
      lite.isLite = true
      let network = TestNetwork(alice: .controlling, bob: .controlled, bobSettings: lite)
      try network.addHost(network.alice, "192.0.2.1:5000")
      try network.addHost(network.bob, "192.0.2.2:6000")
      network.alice.agent.setRemoteIsLite(at: network.now)
      network.loss = 0.1
      try network.signalAll()
      network.run(until: at(300))
      claims("the full side is steady", network.alice.states == [.checking, .completed])
      let rest = network.bob.states.drop { $0 != .completed }
      claims("the lite side is steady: \(network.bob.states)", Array(rest) == [.completed])
    }
  }

  @Test func `21 - of more than a hundred pairs the best is kept`() throws {
    try proves(.pairLimitDropsBest) { claims in
      let network = TestNetwork()
      for index in 0..<12 {
        let preference = UInt16(60_000 - index)
        try network.addHost(network.alice, "192.0.2.1:\(5_000 + index)", localPreference: preference)
        try network.addHost(network.bob, "192.0.2.2:\(6_000 + index)", localPreference: preference)
      }
      // The third best works alone: the first is being checked before there are too many.
      network.isBlocked = { from, to in Set([from.port, to.port]) != [5_001, 6_001] }
      try network.signalAll()
      claims("there are a hundred", network.alice.pairs.count == 100)
      network.run(until: at(8))
      claims("the one that works is among them", network.alice.canSend && network.bob.canSend)
    }
  }
}
