import CallCore
import StackWorlds
import Testing

@testable import ICE

@Suite struct NominationTests {
  private var regular: ICESettings {
    var settings = ICESettings()
    settings.nomination = .regular
    return settings
  }

  /// Alice and Bob with two host paths; the first has the higher priority.
  private func twoPaths(settings: ICESettings = ICESettings()) throws -> TestNetwork {
    let network = TestNetwork(settings: settings)
    try network.addHost(network.alice, "192.0.2.1:5000", localPreference: 65_535)
    try network.addHost(network.alice, "[2001:db8::1]:5000", localPreference: 60_000)
    try network.addHost(network.bob, "192.0.2.2:6000", localPreference: 65_535)
    try network.addHost(network.bob, "[2001:db8::2]:6000", localPreference: 60_000)
    return network
  }

  private func select(_ peer: TestPeer) -> Bool { peer.selected?.base.address.isIPv6 == false }

  @Test func `a regular agent nominates one pair, after it worked`() throws {
    let network = try twoPaths(settings: regular)
    try network.signalAll()
    network.run(until: at(1))
    var nominated: Set<ICECandidatePair.ID> = []
    var worked: Set<ICECandidatePair.ID> = []
    for (_, event) in network.alice.diary {
      switch event {
      case .checkSucceeded(let id, _): worked.insert(id)
      case .checkSent(let id, true):
        #expect(worked.contains(id))
        nominated.insert(id)
      default: break
      }
    }
    #expect(nominated.count == 1)
    #expect(select(network.alice) && select(network.bob))
  }

  @Test func `the first pair that works is selected at once, and a better one that works later takes over`() throws {
    let network = try twoPaths()
    network.delayTo = { $0.address.isIPv6 ? .milliseconds(5) : .milliseconds(60) }
    try network.signalAll()
    network.run(until: at(1))
    #expect(select(network.alice) && select(network.bob))
    #expect(network.alice.count { if case .selectedPairChanged = $0 { true } else { false } } == 2)
  }

  @Test func `a better pair that works much later takes over`() throws {
    let network = try twoPaths()
    network.isBlocked = { _, to in !to.address.isIPv6 }
    try network.signalAll()
    network.run(until: at(3))
    #expect(!select(network.alice) && !select(network.bob))
    network.isBlocked = { _, _ in false }
    network.run(until: at(6))
    #expect(select(network.alice) && select(network.bob))
  }

  @Test func `an aggressive controlling agent's first check nominates and both sides end on the best pair`() throws {
    let network = try twoPaths()
    try network.signalAll()
    network.run(until: at(3))
    let first = network.alice.diary.compactMap {
      if case .checkSent(_, let nominating) = $0.event { nominating } else { nil }
    }
    #expect(first.first == true)
    #expect(select(network.alice) && select(network.bob))
    let selectedAt = network.bob.diary.first { if case .selectedPairChanged = $0.event { true } else { false } }?.at
    // One check each way and its response: no extra round trip to nominate.
    #expect(try #require(selectedAt) <= .zero + .milliseconds(150))
  }

  @Test func `an aggressive agent's worse pair that works first gives way on both sides`() throws {
    let network = try twoPaths()
    network.delayTo = { $0.address.isIPv6 ? .milliseconds(5) : .milliseconds(300) }
    try network.signalAll()
    network.run(until: at(5))
    #expect(select(network.alice) && select(network.bob))
  }

  @Test func `a lost nomination is repeated`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    var swallowed = 0
    network.tap = { bytes, from, _ in
      // USE-CANDIDATE is the only attribute of type 0x0025 and length 0.
      let nominates =
        from.port == 5000 && bytes.count > 40
        && (20..<bytes.count - 4).contains { $0 % 4 == 0 && bytes[$0...($0 + 3)] == [0, 0x25, 0, 0] }
      guard nominates, swallowed < 3 else { return bytes }
      swallowed += 1
      return nil
    }
    network.run(until: at(3))
    #expect(swallowed == 3)
    #expect(network.alice.state == .completed && network.bob.state == .completed)
  }

  @Test(arguments: [ICESettings.Nomination.regular, .aggressive], [true, false])
  func `media falls over to the relay in the middle of a call`(mode: ICESettings.Nomination, caller: Bool) throws {
    var settings = ICESettings()
    settings.nomination = mode
    let network = TestNetwork(settings: settings)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    let relay = try network.addRelay(
      caller ? network.alice : network.bob, "198.51.100.200:50000", network: ICENetwork(id: 2, type: .ethernet))
    try network.signalAll()
    network.run(until: at(20))
    #expect(network.alice.selected?.base == endpoint("192.0.2.1:5000"))
    network.isBlocked = { from, to in
      let ports: Set<UInt16> = [from.port, to.port]
      return ports == [5000, 6000]
    }
    let fault = network.now
    network.run(for: .seconds(9))
    for peer in [network.alice, network.bob] {
      #expect(peer.selected?.base == relay || peer.selected?.remoteEndpoint == relay)
      // A working backup: nobody was ever disconnected.
      #expect(peer.states == [.checking, .completed])
    }
    let moved = network.alice.diary.first {
      if case .selectedPairChanged = $0.event { $0.at > fault } else { false }
    }
    // Not receiving for 2.5 s, then the switching delay of 1 s.
    #expect(try #require(moved).at <= fault + .seconds(7))
  }

  /// Two relays, each on a network of its own, so that both stay; Bob has one network and keeps all pairs of it.
  private func twoRelays(preferences: (UInt16, UInt16)) throws -> TestNetwork {
    var keeping = ICESettings()
    keeping.prunesPairs = false
    let network = TestNetwork(bobSettings: keeping)
    try network.addRelay(
      network.alice, "198.51.100.200:50000", localPreference: preferences.0, network: ICENetwork(id: 1, type: .ethernet)
    )
    try network.addRelay(
      network.alice, "198.51.100.200:50001", localPreference: preferences.1, network: ICENetwork(id: 2, type: .ethernet)
    )
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    return network
  }

  @Test func `of two relays the one of higher priority is used, though the other has the shorter way`() throws {
    let network = try twoRelays(preferences: (65_535, 65_534))
    network.delayTo = { $0.port == 50_001 ? .milliseconds(15) : .milliseconds(90) }
    network.run(until: at(60))
    #expect(network.alice.selected?.base.port == 50_000 && network.bob.selected?.remoteEndpoint.port == 50_000)
  }

  @Test(arguments: [(8, false), (13, true)] as [(Int64, Bool)])
  func `where nothing else speaks for a pair a round trip shorter by 10 ms does`(saved: Int64, moves: Bool) throws {
    let network = try twoRelays(preferences: (65_535, 65_535))
    network.delayTo = { _ in .milliseconds(50) }
    network.run(until: at(20))
    let first = try #require(network.alice.selected)
    network.delayTo = { [remote = first.base] in
      // The way back from Bob to the other relay is shorter.
      $0 == remote || $0.port == 6000 ? .milliseconds(50) : .milliseconds(50 - saved)
    }
    network.run(until: at(400))
    #expect((network.alice.selected?.base != first.base) == moves)
    #expect(network.alice.selected?.base == network.bob.selected?.remoteEndpoint)
  }

  @Test func `a signalled candidate replaces the peer-reflexive one it was mistaken for`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.exchangeCredentials()
    network.signalCandidates(from: network.alice, to: network.bob)
    network.run(until: at(1))
    #expect(network.alice.pairs.map(\.remote.type) == [.peerReflexive])
    let before = try #require(network.alice.selected)
    network.signalCandidates(from: network.bob, to: network.alice)
    let after = try #require(network.alice.selected)
    #expect(network.alice.pairs.map(\.remote.type) == [.host])
    #expect(after.id == before.id && after.priority > before.priority)
  }

  @Test func `a pair learnt late is ranked, not appended`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.addRelay(network.bob, "198.51.100.200:50000")
    try network.exchangeCredentials()
    // Alice hears of the relay only; the host path shows up as a check from an unknown address.
    let relay = try #require(network.bob.agent.localCandidates.first { $0.type == .relay })
    network.alice.agent.addRemoteCandidate(relay, at: network.now)
    network.drain(network.alice)
    network.delayTo = { $0.port == 50_000 ? .milliseconds(60) : .milliseconds(10) }
    network.signalCandidates(from: network.alice, to: network.bob)
    network.run(until: at(2))
    let pairs = network.alice.pairs
    #expect(pairs.first?.remote.type == .peerReflexive)
    #expect(network.alice.selected?.remoteEndpoint == endpoint("192.0.2.2:6000"))
    #expect(network.bob.selected?.base == endpoint("192.0.2.2:6000"))
  }
}
