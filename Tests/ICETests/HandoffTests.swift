import CallCore
import StackWorlds
import Testing

@testable import ICE

@Suite struct HandoffTests {
  @Test(arguments: [true, false])
  func `a removed interface moves the call to the backup pair at once`(aliceControls: Bool) throws {
    let (network, wifi, _) = try TestNetwork.connected(alsoCellular: true)
    if !aliceControls { network.alice.agent.setRole(.controlled, at: network.now) }
    if !aliceControls { network.bob.agent.setRole(.controlling, at: network.now) }
    #expect(network.alice.selected?.base == wifi)
    let fault = network.now
    network.alice.agent.removeLocalCandidates(base: wifi, at: network.now)
    network.drain(network.alice)
    network.isBlocked = { from, to in from == wifi || to == wifi }
    network.run(for: .seconds(8))
    #expect(network.alice.selected?.base == endpoint("198.18.0.1:5001"))
    #expect(network.bob.selected?.remoteEndpoint == endpoint("198.18.0.1:5001"))
    #expect(!network.alice.states.contains(.failed) && !network.bob.states.contains(.failed))
    let moved = network.alice.diary.first {
      if case .selectedPairChanged(.some) = $0.event { $0.at >= fault } else { false }
    }
    #expect(try #require(moved).at <= fault + .milliseconds(200))
  }

  @Test func `a new interface in the middle of the call pairs up, and Wi-Fi takes over again when it is back`() throws {
    let (network, wifi, _) = try TestNetwork.connected(alsoCellular: false)
    let cellular = try network.addHost(network.alice, "198.18.0.1:5001", localPreference: 60_000)
    network.run(for: .seconds(3))
    #expect(network.alice.selected?.base == wifi)
    network.alice.agent.removeLocalCandidates(base: wifi, at: network.now)
    network.drain(network.alice)
    network.run(for: .seconds(2))
    #expect(network.alice.selected?.base == cellular)
    try network.addHost(network.alice, "192.0.2.8:5008", localPreference: 65_535)
    network.run(for: .seconds(4))
    #expect(network.alice.selected?.base == endpoint("192.0.2.8:5008"))
    #expect(network.bob.selected?.remoteEndpoint == endpoint("192.0.2.8:5008"))
  }

  @Test func `without an interface the agent is disconnected after 5 s, and failed when it has none for 15 s`() throws {
    let (network, wifi, _) = try TestNetwork.connected(alsoCellular: false)
    let fault = network.now
    network.alice.agent.removeLocalCandidates(base: wifi, at: fault)
    network.drain(network.alice)
    #expect(!network.alice.canSend)
    network.run(until: fault + .milliseconds(4_900))
    #expect(network.alice.state == .completed)
    network.run(until: fault + .milliseconds(5_100))
    #expect(network.alice.state == .disconnected)
    network.run(until: fault + .milliseconds(14_900))
    #expect(network.alice.state == .disconnected)
    network.run(until: fault + .milliseconds(15_100))
    #expect(network.alice.state == .failed)
  }

  @Test func `a new interface brings an agent without one back, and needs no restart`() throws {
    let (network, wifi, _) = try TestNetwork.connected(alsoCellular: false)
    network.alice.agent.removeLocalCandidates(base: wifi, at: network.now)
    network.drain(network.alice)
    try network.addHost(network.alice, "198.18.0.1:5001")
    network.run(for: .seconds(3))
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
  @Test func `a path that comes when the others were withdrawn gets all of its own time`() throws {
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
