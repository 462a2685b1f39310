import CallCore
import STUN
import StackWorlds
import Testing

@testable import ICE

@Suite struct RestartTests {
  private func connected() throws -> TestNetwork {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(10))
    return network
  }

  private func host(_ peer: TestPeer) throws -> ICECandidate {
    try #require(peer.agent.localCandidates.first { $0.type == .host })
  }

  @Test func `a restart changes credentials and generation, keeps the role, and media never stops`() throws {
    let network = try connected()
    let before = [network.alice, network.bob].map { $0.agent.localCredentials }
    let oldPair = try #require(network.alice.selected?.id)
    let candidates = try [host(network.alice), host(network.bob)]
    for (peer, candidate) in zip([network.alice, network.bob], candidates) {
      try peer.agent.restart(at: network.now)
      try peer.agent.addLocalCandidate(candidate, at: network.now)
      network.drain(peer)
      #expect(peer.canSend)
    }
    let after = [network.alice, network.bob].map { $0.agent.localCredentials }
    #expect(zip(before, after).allSatisfy { $0.ufrag != $1.ufrag && $0.password != $1.password })
    try network.signalAll()
    #expect(network.alice.selected?.id == oldPair)
    network.run(for: .seconds(2))
    #expect(network.alice.selected?.id != oldPair)
    let generation = network.alice.agent.generation
    #expect(generation == 1)
    #expect(network.alice.role == .controlling)
    #expect(network.alice.state == .completed && network.bob.state == .completed)
    #expect(!network.alice.states.contains(.disconnected) && !network.bob.states.contains(.disconnected))
  }

  @Test func `a restart while checking goes on checking, and ends when nothing comes of it`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    network.isBlocked = { _, _ in true }
    try network.signalAll()
    network.run(until: at(1))
    #expect(network.alice.states == [.checking])
    try network.alice.agent.restart(at: network.now)
    network.drain(network.alice)
    network.run(until: at(2))
    #expect(network.alice.states == [.checking])
    try network.alice.agent.addLocalCandidate(
      .host(endpoint("192.0.2.1:5000"), localPreference: .max), at: network.now)
    network.alice.agent.endOfLocalCandidates(at: network.now)
    network.alice.agent.endOfRemoteCandidates(at: network.now)
    network.drain(network.alice)
    network.run(until: at(40))
    #expect(network.alice.states == [.checking, .failed])
  }

  @Test func `slow signalling does not starve the old pair`() throws {
    let network = try connected()
    let candidate = try host(network.alice)
    try network.alice.agent.restart(at: network.now)
    try network.alice.agent.addLocalCandidate(candidate, at: network.now)
    network.drain(network.alice)
    // Bob does not know yet: he goes on checking the old pair, and Alice too.
    network.run(for: .seconds(40))
    for peer in [network.alice, network.bob] {
      #expect(peer.canSend)
      #expect(!peer.states.contains(.disconnected))
    }
    let b = try host(network.bob)
    try network.bob.agent.restart(at: network.now)
    try network.bob.agent.addLocalCandidate(b, at: network.now)
    try network.signalAll()
    network.run(for: .seconds(2))
    #expect(network.alice.state == .completed && network.bob.state == .completed)
  }

  @Test(arguments: [true, false], [true, false])
  func `while a restart waits for its answer the call falls over to a backup of the old generation`(
    aliceControls: Bool, aliceRestarts: Bool
  ) throws {
    let (network, wifi, cellular) = try TestNetwork.connected(aliceControls: aliceControls)
    let peer = aliceRestarts ? network.alice : network.bob
    try peer.agent.restart(at: network.now)
    network.drain(peer)
    network.run(for: .seconds(10))
    #expect(network.alice.selected?.base == wifi)
    network.isBlocked = { from, to in from == wifi || to == wifi }
    network.run(for: .seconds(30))
    #expect(network.alice.selected?.base == cellular)
    #expect(network.bob.selected?.remoteEndpoint == cellular)
    for peer in [network.alice, network.bob] {
      #expect(!peer.states.contains(.disconnected) && peer.canSend)
    }
  }

  @Test func `while a restart waits for its answer the backups of the old generation are checked as before`() throws {
    let (network, _, cellular) = try TestNetwork.connected()
    let backup = try #require(network.alice.pairs.first { $0.base == cellular }).id
    try network.alice.agent.restart(at: network.now)
    network.drain(network.alice)
    let from = network.now
    network.run(for: .seconds(80))
    let checks = network.alice.diary.count { entry in
      if case .checkSent(backup, _) = entry.event { entry.at > from } else { false }
    }
    #expect(checks >= 3)
  }

  @Test(arguments: [true, false])
  func `an answer that takes ten seconds costs the offerer nothing`(offererControls: Bool) throws {
    let network = try connected()
    let (offerer, answerer) = offererControls ? (network.alice, network.bob) : (network.bob, network.alice)
    let candidates = try [host(offerer), host(answerer)]
    for (peer, candidate) in zip([offerer, answerer], candidates) {
      try peer.agent.restart(at: network.now)
      try peer.agent.addLocalCandidate(candidate, at: network.now)
      network.drain(peer)
    }
    try answerer.agent.setRemoteCredentials(offerer.agent.localCredentials, at: network.now)
    network.signalCandidates(from: offerer, to: answerer)
    network.run(for: .seconds(10))
    #expect(offerer.canSend && answerer.canSend)
    try offerer.agent.setRemoteCredentials(answerer.agent.localCredentials, at: network.now)
    network.signalCandidates(from: answerer, to: offerer)
    network.endCandidates()
    network.run(for: .seconds(3))
    for peer in [offerer, answerer] {
      #expect(!peer.states.contains(.disconnected))
      #expect(peer.selected?.generation == 1)
      #expect(peer.state == .completed)
    }
  }

  @Test func `checks of before a restart are answered until no more come`() throws {
    let network = try connected()
    let old = [network.alice, network.bob].map { $0.agent.localCredentials }
    try restartBoth(network)
    network.run(for: .seconds(20))
    #expect(network.alice.selected?.generation == 1)
    let path = try #require(network.alice.selected).path
    var answers = 0
    network.tap = { bytes, from, _ in
      if from.port == 5000, bytes[0] == 1, bytes[1] == 1 { answers += 1 }
      return bytes
    }
    var late = STUNForger(from: old[1], to: old[0])
    network.deliver(late.request, on: path, to: network.alice)
    #expect(answers == 1)
    network.run(for: .seconds(60))
    answers = 0
    late.transaction = STUNTransactionID(high: 8, low: 8)
    network.deliver(late.request, on: path, to: network.alice)
    #expect(answers == 0)
    #expect(network.alice.counters.unknownUfrag == 1)
  }

  @Test func `candidates and checks of the old generation never touch the new one`() throws {
    let network = try connected()
    let old = network.bob.agent.localCredentials.ufrag
    var late = ICECandidate.host(endpoint("192.0.2.77:7007"))
    late.ufrag = old
    let candidate = try host(network.alice)
    try network.alice.agent.restart(at: network.now)
    try network.alice.agent.addLocalCandidate(candidate, at: network.now)
    network.alice.agent.addRemoteCandidate(late, at: network.now)
    network.drain(network.alice)
    network.run(for: .seconds(10))
    #expect(network.alice.pairs.isEmpty)
    let b = try host(network.bob)
    try network.bob.agent.restart(at: network.now)
    try network.bob.agent.addLocalCandidate(b, at: network.now)
    try network.signalAll()
    network.run(for: .seconds(2))
    #expect(network.alice.counters.wrongGeneration == 1)
    #expect(network.alice.pairs.allSatisfy { $0.remoteEndpoint != endpoint("192.0.2.77:7007") })
    #expect(network.alice.state == .completed)
  }

  @Test func `candidates of the new generation wait for its credentials`() throws {
    let network = try connected()
    let (a, b) = (try host(network.alice), try host(network.bob))
    for (peer, candidate) in [(network.alice, a), (network.bob, b)] {
      try peer.agent.restart(at: network.now)
      try peer.agent.addLocalCandidate(candidate, at: network.now)
    }
    network.signalCandidates(from: network.bob, to: network.alice)
    #expect(network.alice.pairs.isEmpty)
    try network.exchangeCredentials()
    #expect(network.alice.pairs.count == 1)
    network.run(for: .seconds(2))
    #expect(network.alice.state == .connected && network.bob.state == .connected)
  }

  @Test func `candidates that overtake the description of the peer's restart wait for it`() throws {
    let network = try connected()
    let (a, b) = (try host(network.alice), try host(network.bob))
    try network.bob.agent.restart(at: network.now)
    try network.bob.agent.addLocalCandidate(b, at: network.now)
    network.signalCandidates(from: network.bob, to: network.alice)
    network.run(for: .seconds(1))
    #expect(network.alice.pairs.count == 1)
    try network.alice.agent.restart(at: network.now)
    try network.alice.agent.addLocalCandidate(a, at: network.now)
    try network.exchangeCredentials()
    #expect(network.alice.pairs.map(\.remote.type) == [.host])
    network.run(for: .seconds(2))
    #expect(network.alice.state == .connected && network.bob.state == .connected)
  }

  @Test func `new remote credentials without a restart are the caller's mistake`() throws {
    let network = try connected()
    let fresh = ICECredentials(ufrag: "abcd", password: "0123456789012345678901")
    #expect(throws: ICEError.remoteRestarted) {
      try network.alice.agent.setRemoteCredentials(fresh, at: network.now)
    }
    #expect(throws: ICEError.invalidCredentials) {
      try network.alice.agent.setRemoteCredentials(ICECredentials(ufrag: "a", password: "b"), at: network.now)
    }
    // The same again is what every renegotiation without restart says.
    try network.alice.agent.setRemoteCredentials(network.bob.agent.localCredentials, at: network.now)
    network.run(for: .seconds(30))
    #expect(network.alice.state == .completed)
  }

  @Test func `a restart that is rolled back leaves the call as it was`() throws {
    let network = try connected()
    let (credentials, pair) = (network.alice.agent.localCredentials, network.alice.selected?.id)
    try network.alice.agent.restart(at: network.now)
    network.drain(network.alice)
    network.run(for: .seconds(3))
    try network.alice.agent.cancelRestart(at: network.now)
    network.drain(network.alice)
    let restored = network.alice.agent.localCredentials
    #expect(restored == credentials)
    #expect(network.alice.selected?.id == pair)
    network.run(for: .seconds(60))
    #expect(network.alice.states == [.checking, .completed, .connected, .completed])
    #expect(network.bob.states == [.checking, .completed])
    #expect(throws: ICEError.notRestarting) { try network.alice.agent.cancelRestart(at: network.now) }
  }

  @Test func `two restarts in a row keep media on the pair of the first generation`() throws {
    let network = try connected()
    let pair = network.alice.selected?.id
    let candidate = try host(network.alice)
    try network.alice.agent.restart(at: network.now)
    try network.alice.agent.restart(at: network.now)
    try network.alice.agent.addLocalCandidate(candidate, at: network.now)
    network.drain(network.alice)
    #expect(network.alice.selected?.id == pair)
    let b = try host(network.bob)
    try network.bob.agent.restart(at: network.now)
    try network.bob.agent.addLocalCandidate(b, at: network.now)
    try network.signalAll()
    network.run(for: .seconds(2))
    #expect(network.alice.state == .completed && network.bob.state == .completed)
  }

  @Test func `restart glare ends in one generation on both sides`() throws {
    let network = try connected()
    // Both offered; Bob's offer is rolled back and he answers Alice's with a restart of his own.
    let (a, b) = (try host(network.alice), try host(network.bob))
    try network.alice.agent.restart(at: network.now)
    try network.alice.agent.addLocalCandidate(a, at: network.now)
    try network.bob.agent.restart(at: network.now)
    network.run(for: .seconds(1))
    try network.bob.agent.cancelRestart(at: network.now)
    try network.bob.agent.restart(at: network.now)
    try network.bob.agent.addLocalCandidate(b, at: network.now)
    try network.signalAll()
    network.run(for: .seconds(2))
    #expect(network.alice.state == .completed && network.bob.state == .completed)
    #expect(network.alice.counters.unknownUfrag == 0)
  }

  @Test func `a failed agent goes through checking to connected`() throws {
    let network = try connected()
    network.isBlocked = { _, _ in true }
    network.run(for: .seconds(25))
    network.isBlocked = { _, _ in false }
    try restartBoth(network)
    network.run(for: .seconds(2))
    #expect(network.alice.states == [.checking, .completed, .disconnected, .failed, .checking, .completed])
  }
}
