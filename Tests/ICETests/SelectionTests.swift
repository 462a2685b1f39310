import CallCore
import StackWorlds
import Testing

@testable import ICE

/// Which of several pairs carries media, as in libwebrtc.
@Suite struct SelectionTests {
  private static let wifi = ICENetwork(id: 1, type: .wifi)
  private static let cellular = ICENetwork(id: 2, type: .cellular)

  private func settings(_ change: (inout ICESettings) -> Void) -> ICESettings {
    var settings = ICESettings()
    change(&settings)
    return settings
  }

  /// Bob controls and has two networks; Alice has one address.
  private func bobOnTwoNetworks(_ settings: ICESettings, bob: ICESettings) throws -> TestNetwork {
    let network = TestNetwork(alice: .controlled, bob: .controlling, settings: settings, bobSettings: bob)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000", localPreference: 65_535, network: Self.wifi)
    try network.addHost(network.bob, "198.18.0.2:6001", localPreference: 60_000, network: Self.cellular)
    return network
  }

  private func selections(of peer: TestPeer, since start: Instant) -> Int {
    peer.diary.count { if case .selectedPairChanged = $0.event { $0.at > start } else { false } }
  }

  private func firstSelection(of peer: TestPeer) -> Instant? {
    peer.diary.first { if case .selectedPairChanged = $0.event { true } else { false } }?.at
  }

  @Test func `both sides use a pair as soon as it works, one round trip after the first check`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(1))
    #expect(firstSelection(of: network.alice) == .zero + .milliseconds(40))
    #expect(firstSelection(of: network.bob) == .zero + .milliseconds(40))
  }

  @Test func `with regular nomination both sides wait for it`() throws {
    let network = TestNetwork(settings: settings { $0.nomination = .regular })
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(1))
    let (alices, bobs) = (firstSelection(of: network.alice), firstSelection(of: network.bob))
    #expect(try #require(alices) >= .zero + .milliseconds(80))
    #expect(try #require(bobs) >= .zero + .milliseconds(60))
  }

  @Test(arguments: [ICESettings.Nomination.regular, .aggressive], [true, false])
  func `a controlled agent stays with the newest nomination though an older one of higher priority still works`(
    nomination: ICESettings.Nomination, hasMedia: Bool
  ) throws {
    // Bob prefers a network for reasons of his own; all that Alice can see speaks for the other.
    let bob = settings {
      $0.networkPreference = .cellular
      $0.nomination = nomination
    }
    let alice = settings {
      $0.nomination = nomination
      $0.prunesPairs = false
    }
    let network = try bobOnTwoNetworks(alice, bob: bob)
    network.isBlocked = { from, to in from.port == 6001 || to.port == 6001 }
    try network.signalAll()
    network.run(until: at(5))
    #expect(network.alice.selected?.remoteEndpoint.port == 6000)
    network.isBlocked = { _, _ in false }
    network.run(until: at(12))
    #expect(network.bob.selected?.base.port == 6001)
    #expect(network.alice.selected?.remoteEndpoint.port == 6001)
    let moved = network.now
    while network.now < at(80) {
      network.run(for: .milliseconds(500))
      if hasMedia, let path = network.bob.sendingPath {
        network.alice.agent.markReceived(on: path.reversed, at: network.now)
        network.drain(network.alice)
      }
    }
    #expect(selections(of: network.alice, since: moved) == 0)
    #expect(network.alice.pairs.contains { $0.remoteEndpoint.port == 6000 && $0.isWritable })
  }

  @Test func `a controlled agent follows the media of the controlling one at once`() throws {
    let keeping = settings { $0.prunesPairs = false }
    let network = try bobOnTwoNetworks(keeping, bob: keeping)
    try network.signalAll()
    network.run(until: at(3))
    let first = try #require(network.alice.selected)
    let other = Path(local: endpoint("192.0.2.1:5000"), remote: endpoint("198.18.0.2:6001"))
    network.alice.agent.markReceived(on: first.path, at: network.now)
    network.run(for: .seconds(1))
    // Bob moves by himself: his check, and then his media, are on the other pair.
    var forged = STUNForger(from: network.bob.agent.localCredentials, to: network.alice.agent.localCredentials)
    forged.role = .controlling
    forged.useCandidate = true
    network.deliver(forged.request, on: other, to: network.alice)
    network.run(for: .milliseconds(100))
    network.alice.agent.markReceived(on: other, at: network.now)
    network.drain(network.alice)
    #expect(network.alice.selected?.path.remote == other.remote)
    // A late packet of the old path does not turn it back.
    network.alice.agent.markReceived(on: first.path, at: network.now + .milliseconds(50))
    network.drain(network.alice)
    #expect(network.alice.selected?.path.remote == other.remote)
  }

  @Test(arguments: [true, false])
  func `the network that costs less comes before the pair of higher priority`(aliceControls: Bool) throws {
    let network = TestNetwork(
      alice: aliceControls ? .controlling : .controlled, bob: aliceControls ? .controlled : .controlling)
    try network.addHost(network.alice, "198.18.0.1:5001", localPreference: 65_535, network: Self.cellular)
    try network.addHost(network.alice, "192.0.2.1:5000", localPreference: 60_000, network: Self.wifi)
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(3))
    #expect(network.alice.selected?.base.port == 5000)
    // Bob knows from candidates and checks what Alice pays.
    #expect(network.bob.selected?.remoteEndpoint.port == 5000)
  }

  @Test func `checks tell the cost of the network they come from`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "198.18.0.1:5001", network: Self.cellular)
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.exchangeCredentials()
    // Bob is told of nothing: all he knows comes from Alice's checks.
    network.signalCandidates(from: network.bob, to: network.alice)
    network.run(until: at(1))
    #expect(network.bob.selected?.remote.type == .peerReflexive)
    #expect(network.bob.selected?.remote.networkCost == 900)
  }

  @Test func `an agent that prefers a network uses it whatever it costs`() throws {
    let network = TestNetwork(settings: settings { $0.networkPreference = .cellular })
    try network.addHost(network.alice, "192.0.2.1:5000", localPreference: 65_535, network: Self.wifi)
    try network.addHost(network.alice, "198.18.0.1:5001", localPreference: 60_000, network: Self.cellular)
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(3))
    #expect(network.alice.selected?.base.port == 5001)
  }

  @Test func `while the selected pair is not writable every check nominates`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000", localPreference: 65_535)
    try network.addHost(network.alice, "198.18.0.1:5001", localPreference: 60_000)
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(10))
    let worse = try #require(network.alice.pairs.first { $0.base.port == 5001 })
    func isWritable(_ port: UInt16) -> Bool { network.alice.pairs.contains { $0.base.port == port && $0.isWritable } }
    // The backup goes first, so that there is nothing to turn to.
    network.isBlocked = { from, to in from.port == 5001 || to.port == 5001 }
    while isWritable(5001), network.now < at(60) { network.run(for: .milliseconds(100)) }
    network.isBlocked = { _, _ in true }
    while isWritable(5000), network.now < at(70) { network.run(for: .milliseconds(100)) }
    #expect(network.alice.selected?.base.port == 5000 && network.alice.selected?.isWritable == false)
    let from = network.now
    network.run(for: .seconds(2))
    let nominating = network.alice.diary.filter { entry in
      if case .checkSent(worse.id, true) = entry.event { entry.at > from } else { false }
    }
    #expect(!nominating.isEmpty)
  }

  @Test func `a full checklist keeps the selected pair although it timed out`() throws {
    let network = TestNetwork(settings: settings { $0.prunesPairs = false })
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(5))
    let selected = try #require(network.alice.selected)
    network.isBlocked = { _, _ in true }
    network.run(until: at(24))
    #expect(network.alice.selected?.reachability == .timedOut)
    for port in 1_024..<1_324 {
      let better = ICECandidate(
        .host, at: endpoint("192.0.2.3:\(port)"), priority: selected.remote.priority + 1, foundation: "r")
      network.alice.agent.addRemoteCandidate(better, at: network.now)
    }
    network.drain(network.alice)
    #expect(network.alice.pairs.count == 100)
    #expect(network.alice.selected?.id == selected.id)
  }

  @Test func `what no network tells costs as much as what lies below a tunnel`() {
    #expect(ICENetworkType.allCases.map(\.cost) == [0, 10, 900, 50, 50])
  }

  @Test func `of two pairs that have become unreliable the one that something comes on is used`() throws {
    let (network, wifi, cellular) = try TestNetwork.connected()
    func areUnreliable() -> Bool { [wifi, cellular].allSatisfy { reachability(network, $0) == .unreliable } }
    network.isBlocked = { _, _ in true }
    while !areUnreliable(), network.now < at(25) { network.run(for: .milliseconds(50)) }
    #expect(network.alice.selected?.base == wifi)
    // Nothing of Alice's arrives, and of Bob's only his checks on cellular.
    network.isBlocked = { from, to in from == wifi || to == wifi || from == cellular }
    network.run(for: .seconds(3))
    #expect(areUnreliable() && network.alice.state == .disconnected)
    #expect(network.alice.selected?.base == cellular)
  }

  private func reachability(_ network: TestNetwork, _ base: Endpoint) -> ICECandidatePair.Reachability? {
    network.alice.pairs.first { $0.base == base }?.reachability
  }

  /// A call whose pair in use is given up while the backup was answered until some moments ago. Wi-Fi answers four seconds
  /// late, so its pair is waited for longer than the backup, and falls silent first.
  private func givenUpOnWifi(
    _ nomination: ICESettings.Nomination, aliceControls: Bool
  ) throws -> (network: TestNetwork, wifi: Endpoint, cellular: Endpoint) {
    let (network, wifi, cellular) = try TestNetwork.connected(
      aliceControls: aliceControls, settings: settings { $0.nomination = nomination })
    network.delayTo = { $0 == wifi ? .seconds(4) : nil }
    network.talk(for: .seconds(40))
    // The peer's consent to the backup lasts 30 s from here.
    let answered = network.alice.pairs.first { $0.base == cellular }?.lastResponseAt
    func isAnswered() -> Bool { network.alice.pairs.contains { $0.base == cellular && $0.lastResponseAt != answered } }
    while !isAnswered(), network.now < at(90) { network.talk(for: .milliseconds(100)) }
    // Wi-Fi carries all but the answers to Alice's checks, and then neither network carries anything.
    network.tap = { bytes, _, to in to == wifi && bytes[0] == 1 ? nil : bytes }
    network.talk(for: .seconds(7))
    #expect(network.alice.selected?.base == wifi)
    network.isBlocked = { _, _ in true }
    while reachability(network, wifi) != .timedOut, network.now < at(120) { network.run(for: .milliseconds(50)) }
    #expect(reachability(network, wifi) == .timedOut && reachability(network, cellular) == .unreliable)
    return (network, wifi, cellular)
  }

  @Test(arguments: [(ICESettings.Nomination.aggressive, true), (.aggressive, false), (.regular, false)])
  func `a pair that was answered until some moments ago takes over from one that was given up`(
    nomination: ICESettings.Nomination, aliceControls: Bool
  ) throws {
    let (network, _, cellular) = try givenUpOnWifi(nomination, aliceControls: aliceControls)
    #expect(network.alice.selected?.base == cellular && network.alice.canSend)
  }

  @Test func `an agent that nominates first asks for no pair that has stopped answering while it has another`() throws {
    let (network, wifi, cellular) = try givenUpOnWifi(.regular, aliceControls: true)
    let pair = try #require(network.alice.pairs.first { $0.base == cellular }).id
    let start = network.now
    network.run(for: .milliseconds(500))
    let checks = network.alice.diary.compactMap { entry in
      if case .checkSent(pair, let nominating) = entry.event, entry.at >= start { nominating } else { nil }
    }
    #expect(!checks.isEmpty && !checks.contains(true))
    #expect(network.alice.selected?.base == wifi && !network.alice.canSend)
  }

  @Test func `an agent that nominates first and has lost its pair asks for one that has stopped answering`() throws {
    let network = TestNetwork(settings: settings { $0.nomination = .regular })
    let wifi = try network.addHost(network.alice, "192.0.2.1:5000", network: Self.wifi)
    let relay = try network.addRelay(network.alice, "198.51.100.200:50000", network: Self.cellular)
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(10))
    network.isBlocked = { from, to in from == wifi || to == wifi }
    while reachability(network, wifi) == .writable, network.now < at(30) { network.run(for: .milliseconds(50)) }
    #expect(reachability(network, wifi) == .unreliable && network.alice.selected?.base == relay)
    let pair = try #require(network.alice.pairs.first { $0.base == wifi }).id
    network.alice.agent.removeLocalCandidates(base: relay, at: network.now)
    network.drain(network.alice)
    #expect(network.alice.selected == nil)
    let lost = network.now
    network.run(for: .milliseconds(200))
    let asked = network.alice.diary.contains { entry in
      if case .checkSent(pair, true) = entry.event { entry.at >= lost } else { false }
    }
    #expect(asked)
    network.isBlocked = { _, _ in false }
    network.run(for: .milliseconds(200))
    #expect(network.alice.selected?.base == wifi && network.alice.canSend)
  }

  @Test func `data brings back a pair that was given up`() throws {
    let (network, _, cellular) = try TestNetwork.connected()
    let backup = try #require(network.alice.pairs.first { $0.base == cellular })
    network.isBlocked = { from, to in from == cellular || to == cellular }
    func isGivenUp() -> Bool { network.alice.pairs.contains { $0.id == backup.id && $0.reachability == .timedOut } }
    while !isGivenUp(), network.now < at(60) { network.talk(for: .milliseconds(100)) }
    #expect(isGivenUp())
    // Of Bob's only answers come through from now on, and then a packet.
    network.isBlocked = { _, _ in false }
    network.tap = { bytes, from, to in from.port == 6000 && to == cellular && bytes[0] == 0 ? nil : bytes }
    network.talk(for: .seconds(2))
    #expect(isGivenUp())
    network.alice.agent.markReceived(on: backup.path, at: network.now)
    network.drain(network.alice)
    network.talk(for: .seconds(1))
    #expect(network.alice.pairs.contains { $0.id == backup.id && $0.isWritable })
  }

  @Test func `a pair that never answered is forgotten when it is given up`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    var dead = ICECandidate.host(endpoint("192.0.2.9:9009"))
    dead.priority = 2_147_483_647
    try network.signalAll()
    network.alice.agent.addRemoteCandidate(dead, at: network.now)
    network.drain(network.alice)
    network.run(until: at(14))
    #expect(network.alice.pairs.count == 2)
    network.run(until: at(17))
    #expect(network.alice.pairs.map(\.remoteEndpoint) == [endpoint("192.0.2.2:6000")])
  }

  @Test func `a pair that timed out is tried again while the selected one is in trouble`() throws {
    let (network, wifi, cellular) = try TestNetwork.connected()
    let backup = try #require(network.alice.pairs.first { $0.base == cellular })
    network.isBlocked = { from, to in from == cellular || to == cellular }
    func isGivenUp() -> Bool { network.alice.pairs.contains { $0.id == backup.id && $0.reachability == .timedOut } }
    while !isGivenUp(), network.now < at(60) { network.talk(for: .milliseconds(100)) }
    network.isBlocked = { from, to in from == wifi || to == wifi }
    network.talk(for: .seconds(5))
    #expect(network.alice.selected?.id == backup.id && !network.alice.states.contains(.disconnected))
  }

  @Test func `a pair that its relay refuses stays refused, whatever the peer sends`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000", network: Self.wifi)
    let relay = try network.addRelay(network.alice, "198.51.100.200:50000", network: Self.cellular)
    let bob = try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(5))
    network.alice.agent.failPairs(
      base: relay, to: bob.address, port: nil, .relayRefused(code: 403), at: network.now)
    network.drain(network.alice)
    let refused = try #require(network.alice.pairs.first { $0.base == relay })
    #expect(refused.isRefused)
    let before = network.alice.count { if case .checkSent(refused.id, _) = $0 { true } else { false } }
    // Bob's checks go on, his media comes that way, and the other path fails.
    network.isBlocked = { from, to in from.port == 5000 || to.port == 5000 }
    network.alice.agent.markReceived(on: refused.path, at: network.now)
    network.run(for: .seconds(12))
    let after = network.alice.count { if case .checkSent(refused.id, _) = $0 { true } else { false } }
    #expect(after == before && network.alice.selected?.base != relay)
    #expect(network.alice.pairs.contains { $0.id == refused.id })
  }
}
