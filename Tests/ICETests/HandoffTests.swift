import CallCore
import StackWorlds
import Testing

@testable import ICE

@Suite struct HandoffTests {
  /// The interface of a socket goes: nothing is carried to or from it any more.
  private func lose(_ base: Endpoint, of network: TestNetwork) {
    network.isBlocked = { from, to in from == base || to == base }
    network.alice.agent.withdrawLocalCandidates(base: base, at: network.now)
    network.drain(network.alice)
  }

  /// Not receiving for 2.5 s, which the next check may be the first to show, then the switching delay of 1 s.
  @Test(arguments: [true, false])
  func `a call whose interface is gone moves to the backup as after silence, on both sides`(
    aliceControls: Bool
  ) throws {
    let (network, wifi, cellular) = try TestNetwork.connected(aliceControls: aliceControls)
    network.talk(for: .seconds(2))
    #expect(network.alice.selected?.base == wifi)
    let fault = network.now
    lose(wifi, of: network)
    network.talk(for: .seconds(8))
    #expect(network.alice.selected?.base == cellular && network.bob.selected?.remoteEndpoint == cellular)
    for peer in [network.alice, network.bob] {
      #expect(peer.states == [.checking, .completed])
      let moved = peer.diary.first { if case .selectedPairChanged = $0.event { $0.at >= fault } else { false } }
      let after = try #require(moved).at - fault
      #expect(after >= .milliseconds(3_450) && after <= .milliseconds(4_000))
    }
  }

  @Test func `an interface that is back within the patience of its pair is used again as if nothing had been`() throws {
    let (network, wifi, _) = try TestNetwork.connected(alsoCellular: false)
    let pair = try #require(network.alice.selected?.id)
    lose(wifi, of: network)
    network.talk(for: .seconds(8))
    #expect(network.alice.state == .disconnected)
    network.isBlocked = { _, _ in false }
    network.talk(for: .seconds(2))
    #expect(network.alice.state == .completed && network.alice.selected?.id == pair)
  }

  @Test func `a socket whose interface is gone pairs with no further candidate, until it is back`() throws {
    let (network, wifi, cellular) = try TestNetwork.connected()
    let host = try #require(network.alice.agent.localCandidates.first { $0.endpoint == wifi })
    lose(wifi, of: network)
    let told = network.alice.agent.localCandidates.compactMap(\.endpoint)
    #expect(told == [cellular])
    let another = endpoint("192.0.2.3:7000")
    network.alice.agent.addRemoteCandidate(.host(another), at: network.now)
    network.drain(network.alice)
    #expect(network.alice.pairs.filter { $0.remoteEndpoint == another }.map(\.base) == [cellular])
    try network.alice.agent.addLocalCandidate(host, at: network.now)
    network.drain(network.alice)
    #expect(network.alice.pairs.filter { $0.remoteEndpoint == another }.count == 2)
  }

  @Test func `of two candidates of one rank the one that is not gone is better`() throws {
    let (network, wifi, _) = try TestNetwork.connected(alsoCellular: false)
    lose(wifi, of: network)
    // The interface is back before anybody missed it, and has another socket, of which Bob hears at once.
    network.isBlocked = { _, _ in false }
    let again = endpoint("192.0.2.1:5009")
    network.bob.agent.removeRemoteCandidate(.host(wifi), at: network.now)
    network.bob.agent.addRemoteCandidate(.host(again), at: network.now)
    network.drain(network.bob)
    try network.addHost(network.alice, "\(again)")
    network.talk(for: .seconds(3))
    #expect(network.alice.selected?.base == again && network.bob.selected?.remoteEndpoint == again)
    network.run(for: .seconds(60))
    #expect(network.alice.pairs.map(\.base) == [again])
  }

  @Test func `a new interface in the middle of the call pairs up, and Wi-Fi takes over again when it is back`() throws {
    let (network, wifi, _) = try TestNetwork.connected(alsoCellular: false)
    let cellular = try network.addHost(network.alice, "198.18.0.1:5001", localPreference: 60_000)
    network.run(for: .seconds(3))
    #expect(network.alice.selected?.base == wifi)
    lose(wifi, of: network)
    network.run(for: .seconds(5))
    #expect(network.alice.selected?.base == cellular)
    try network.addHost(network.alice, "192.0.2.8:5008", localPreference: 65_535)
    network.run(for: .seconds(4))
    #expect(network.alice.selected?.base == endpoint("192.0.2.8:5008"))
    #expect(network.bob.selected?.remoteEndpoint == endpoint("192.0.2.8:5008"))
  }

  @Test func `without an interface an agent is disconnected and fails as in a blackhole`() throws {
    let (network, wifi, _) = try TestNetwork.connected(alsoCellular: false)
    let fault = network.now
    lose(wifi, of: network)
    network.run(for: .seconds(30))
    for peer in [network.alice, network.bob] {
      #expect(peer.states == [.checking, .completed, .disconnected, .failed])
      let (disconnected, failed) = (peer.entered(.disconnected), peer.entered(.failed))
      #expect(try #require(disconnected) >= fault + .seconds(5) && #require(failed) >= fault + .seconds(15))
      #expect(try #require(disconnected) <= fault + .milliseconds(7_700))
      #expect(try #require(failed) <= fault + .milliseconds(17_700))
    }
    #expect(!network.alice.canSend)
  }

  @Test func `without its relay an agent is disconnected at once, and fails 15 s later when it has no other`() throws {
    let network = TestNetwork()
    let relay = try network.addRelay(network.alice, "198.51.100.200:50000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(10))
    network.alice.agent.removeLocalCandidates(base: relay, at: network.now)
    network.drain(network.alice)
    #expect(!network.alice.canSend)
    network.run(until: at(30))
    #expect(network.alice.entered(.disconnected) == at(10) && network.alice.entered(.failed) == at(25))
  }

  @Test func `a new interface brings an agent without one back, and needs no restart`() throws {
    let (network, wifi, _) = try TestNetwork.connected(alsoCellular: false)
    lose(wifi, of: network)
    try network.addHost(network.alice, "198.18.0.1:5001")
    network.run(for: .seconds(5))
    #expect(network.alice.state == .completed)
    // It was soon enough for nobody to hear of it.
    #expect(!network.alice.states.contains(.disconnected))
    #expect(network.bob.selected?.remoteEndpoint == endpoint("198.18.0.1:5001"))
  }

  @Test func `the backup pair is kept warm`() throws {
    let network = try TestNetwork.connected().network
    for second in 11...300 {
      network.run(until: at(Double(second)))
      for peer in [network.alice, network.bob] {
        if let path = peer.sendingPath { peer.agent.markReceived(on: path, at: network.now) }
      }
    }
    let backup = try #require(network.alice.pairs.first { $0.base.port == 5001 })
    #expect(backup.state == .succeeded && backup.isWritable)
    // Every 25 s from each side, plus what it took to get there.
    #expect(backup.counters.consentRequestsSent >= 10 && backup.counters.consentRequestsSent <= 16)
  }

  @Test func `a backup outlives six seconds without its network at the wrong moment`() throws {
    let (network, _, cellular) = try TestNetwork.connected()
    let backup = try #require(network.alice.pairs.first { $0.base == cellular })
    // Its next check, 25 s after the last answer, meets the outage.
    let due = try #require(backup.lastResponseAt) + .seconds(25)
    network.run(until: due - .seconds(1))
    network.isBlocked = { from, to in from == cellular || to == cellular }
    network.run(for: .seconds(7))
    network.isBlocked = { _, _ in false }
    network.run(for: .seconds(5))
    let after = try #require(network.alice.pairs.first { $0.base == cellular })
    #expect(after.id == backup.id && after.isWritable)
  }

  @Test func `a peer that changes its address again and again is followed every time`() throws {
    let network = TestNetwork()
    let base = try network.addHost(network.alice, "192.168.1.2:5000")
    network.putBehindNAT(base, public: "203.0.113.1")
    try network.addReflexive(network.alice, base: base)
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(5))
    for _ in 0..<450 {
      network.rebind("203.0.113.1")
      network.run(for: .seconds(12))
    }
    #expect(network.bob.selected?.remoteEndpoint.port == 40_450)
    let known = [network.alice.agent.localCandidates.count, network.bob.agent.remoteCandidates.count]
    #expect(known.allSatisfy { $0 < 20 })
  }

  @Test(arguments: [true, false])
  func `a NAT that rebinds moves the peer to the new mapping`(controllingIsInside: Bool) throws {
    let network = TestNetwork()
    let (inside, outside) = controllingIsInside ? (network.alice, network.bob) : (network.bob, network.alice)
    let base = try network.addHost(inside, "192.168.1.2:5000")
    network.putBehindNAT(base, public: "203.0.113.1")
    let first = try network.addReflexive(inside, base: base)
    try network.addHost(outside, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(10))
    #expect(outside.selected?.remoteEndpoint == first)
    network.rebind("203.0.113.1")
    network.run(until: at(25))
    let second = try #require(outside.selected?.remoteEndpoint)
    #expect(second != first && second.address == first.address)
    #expect(inside.selected?.local.endpoint == second)
    #expect(!inside.states.contains(.failed) && !outside.states.contains(.failed))
    #expect(inside.canSend && outside.canSend)
  }

  // The network records an agent that asks for the same instant again and again.
  @Test func `a path that comes when the others were removed gets all of its own time`() throws {
    let (network, wifi, _) = try TestNetwork.connected(alsoCellular: false)
    network.alice.agent.removeLocalCandidates(base: wifi, at: network.now)
    network.drain(network.alice)
    network.run(until: at(16))
    network.isBlocked = { _, _ in true }
    try network.addHost(network.alice, "198.18.0.1:5001")
    network.run(until: at(40))
    let failed = try #require(network.alice.entered(.failed))
    #expect(failed >= at(16 + 15) && failed < at(16 + 16))
  }

  @Test func `a long suspension with all timers due at once neither traps nor loops`() throws {
    let network = try TestNetwork.connected().network
    let before = network.alice.checkTimes.count
    network.alice.agent.advance(to: at(3_600))
    network.drain(network.alice)
    if let wake = network.alice.wake.deadline { #expect(wake > at(3_600)) }
    #expect(network.alice.checkTimes.count - before <= 1)
    #expect(!network.alice.canSend)
  }
}
