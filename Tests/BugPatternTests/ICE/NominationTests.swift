import CallCore
import StackWorlds
import Testing

@testable import ICE

/// Patterns 3, 4, 6 and 7: which pair is nominated, and who hears of it.
@Suite struct NominationTests {
  private func isIPv6(_ peer: TestPeer) -> Bool? { peer.selected?.base.address.isIPv6 }

  /// Alice and Bob with two host paths, of which IPv4 has the higher priority.
  private func twoPaths(_ nomination: ICESettings.Nomination = .regular, toLite: Bool = false) throws -> TestNetwork {
    var settings = ICESettings()
    settings.nomination = nomination
    var lite = settings
    lite.isLite = toLite
    let network = TestNetwork(settings: settings, bobSettings: lite)
    try network.addHost(network.alice, "192.0.2.1:5000", localPreference: 65_535)
    try network.addHost(network.alice, "[2001:db8::1]:5000", localPreference: 60_000)
    try network.addHost(network.bob, "192.0.2.2:6000", localPreference: 65_535)
    try network.addHost(network.bob, "[2001:db8::2]:6000", localPreference: 60_000)
    if toLite { network.alice.agent.setRemoteIsLite(at: network.now) }
    try network.signalAll()
    return network
  }

  @Test func `03 - a better pair that is learnt late is ahead of the relay`() throws {
    try proves(.latePairAppended) { claims in
      let network = TestNetwork()
      try network.addHost(network.alice, "192.0.2.1:5000")
      try network.addHost(network.bob, "192.0.2.2:6000")
      try network.addRelay(network.bob, "198.51.100.200:50000")
      try network.exchangeCredentials()
      // Alice is told of the relay only; the host path shows up as a check from an address that she was not told of.
      let relay = try #require(network.bob.agent.localCandidates.first { $0.type == .relay })
      network.alice.agent.addRemoteCandidate(relay, at: network.now)
      network.drain(network.alice)
      network.delayTo = { $0.port == 50_000 ? .milliseconds(60) : .milliseconds(10) }
      network.signalCandidates(from: network.alice, to: network.bob)
      network.run(until: at(2))
      claims("the late pair is the first", network.alice.pairs.first?.remote.type == .peerReflexive)
      claims("media goes there", network.alice.selected?.remoteEndpoint == endpoint("192.0.2.2:6000"))
    }
  }

  @Test func `03 - what signalling says of an address replaces what a check made of it`() throws {
    try proves(.reflexiveHidesSignalled) { claims in
      let network = TestNetwork()
      try network.addHost(network.alice, "192.0.2.1:5000")
      try network.addHost(network.bob, "192.0.2.2:6000")
      try network.exchangeCredentials()
      network.signalCandidates(from: network.alice, to: network.bob)
      network.run(until: at(1))
      claims("a check came first", network.alice.pairs.map(\.remote.type) == [.peerReflexive])
      network.signalCandidates(from: network.bob, to: network.alice)
      claims("Bob's address is a host's", network.alice.pairs.map(\.remote.type) == [.host])
    }
  }

  @Test func `04 - a nomination counts behind a NAT that changes the address`() throws {
    try proves(.mappedNominationDropped) { claims in
      // Only who waits for a nomination misses it.
      var settings = ICESettings()
      settings.nomination = .regular
      let network = TestNetwork(settings: settings)
      try network.addHost(network.alice, "192.0.2.1:5000")
      let base = try network.addHost(network.bob, "192.168.1.2:6000")
      network.putBehindNAT(base, public: "203.0.113.1")
      try network.addReflexive(network.bob, base: base)
      try network.signalAll()
      network.run(until: at(3))
      claims("Alice sends", network.alice.canSend)
      claims("Bob sends too", network.bob.canSend)
      claims("on the same path", network.bob.selected?.base == base)
    }
  }

  @Test func `06 - aggressive nomination ends with both sides on one pair`() throws {
    try proves(.firstNominationKept) { claims in
      let network = try twoPaths(.aggressive)
      // The worse pair is ready first.
      network.delayTo = { $0.address.isIPv6 ? .milliseconds(5) : .milliseconds(300) }
      network.run(until: at(30))
      claims("Alice has the better pair", isIPv6(network.alice) == false)
      claims("Bob has it too", isIPv6(network.bob) == false)
    }
  }

  @Test func `06 - towards an ICE-lite peer nomination is regular`() throws {
    try proves(.liteNominatedAggressively) { claims in
      let network = try twoPaths(.aggressive, toLite: true)
      // What the lite side sends on the better path never arrives, so that pair is not valid; its own view is that a
      // check came in, and came with USE-CANDIDATE.
      network.isBlocked = { from, _ in from == endpoint("192.0.2.2:6000") }
      var strayed = false
      for step in 1...50 {
        network.run(until: at(Double(step) / 10))
        strayed = strayed || isIPv6(network.bob) == false
      }
      claims("the lite side never sends where nobody hears it", !strayed)
      claims("both are on the path that works", isIPv6(network.alice) == true && isIPv6(network.bob) == true)
    }
  }

  @Test(arguments: [true, false])
  func `07 - a call falls over to the relay in its middle`(callerHasRelay: Bool) throws {
    try proves(.nominationIgnoredOnceConnected) { claims in
      let network = TestNetwork()
      try network.addHost(network.alice, "192.0.2.1:5000")
      try network.addHost(network.bob, "192.0.2.2:6000")
      let relay = try network.addRelay(callerHasRelay ? network.alice : network.bob, "198.51.100.200:50000")
      try network.signalAll()
      network.run(until: at(20))
      claims("the call is direct", network.alice.selected?.base == endpoint("192.0.2.1:5000"))
      network.isBlocked = { from, to in Set([from.port, to.port]) == [5000, 6000] }
      network.run(for: .seconds(9))
      for peer in [network.alice, network.bob] {
        let path = peer.selected?.path
        claims("\(peer.name) is on the relay", path?.local == relay || path?.remote == relay)
        claims("\(peer.name) was never disconnected", peer.states == [.checking, .completed])
      }
    }
  }
}
