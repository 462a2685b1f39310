import CallCore
import StackWorlds
import Testing

@testable import ICE

@Suite struct LiteTests {
  private func toLite(_ nomination: ICESettings.Nomination = .aggressive) throws -> TestNetwork {
    var settings = ICESettings()
    settings.nomination = nomination
    var lite = ICESettings()
    lite.isLite = true
    // Alice answers, so she would be controlled, were the peer not lite.
    let network = TestNetwork(alice: .controlled, bob: .controlling, settings: settings, bobSettings: lite)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.addHost(network.bob, "[2001:db8::2]:6000")
    try network.addHost(network.alice, "[2001:db8::1]:5000")
    network.alice.agent.setRemoteIsLite(at: network.now)
    try network.signalAll()
    return network
  }

  @Test(arguments: [ICESettings.Nomination.regular, .aggressive])
  func `a full agent controls, nominates one pair, and connects to a lite one`(
    nomination: ICESettings.Nomination
  ) throws {
    let network = try toLite(nomination)
    network.run(until: at(5))
    #expect(network.alice.role == .controlling && network.bob.role == .controlled)
    #expect(network.alice.state == .completed && network.bob.state == .completed)
    #expect(network.alice.selected?.path == network.bob.selected?.path.reversed)
    #expect(network.bob.checkTimes.isEmpty)
    let nominations = network.alice.diary.compactMap { entry -> ICECandidatePair.ID? in
      if case .checkSent(let id, true) = entry.event { id } else { nil }
    }
    #expect(Set(nominations).count == 1)
  }

  @Test func `a lite peer's state does not flap while the call is idle`() throws {
    let network = try toLite()
    network.run(until: at(300))
    #expect(network.alice.states == [.checking, .completed])
    #expect(network.bob.states.suffix(1) == [.completed] && !network.bob.states.contains(.disconnected))
  }

  @Test func `a lite agent notices that nobody checks any more`() throws {
    let network = try toLite()
    network.run(until: at(10))
    network.isBlocked = { _, _ in true }
    network.run(until: at(60))
    #expect(network.bob.states.suffix(2) == [.disconnected, .failed])
    let (disconnected, failed) = (
      try #require(network.bob.entered(.disconnected)), try #require(network.bob.entered(.failed))
    )
    #expect(disconnected >= at(22) && disconnected <= at(25.1))
    #expect(failed >= at(37) && failed <= at(40.1))
  }

  @Test func `a lite agent tells a controlled peer to take control`() throws {
    var lite = ICESettings()
    lite.isLite = true
    let network = TestNetwork(alice: .controlled, bob: .controlled, bobSettings: lite)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    // Alice was not told that the peer is lite.
    try network.signalAll()
    network.run(until: at(5))
    #expect(network.alice.role == .controlling && network.bob.role == .controlled)
    #expect(network.alice.state == .completed && network.bob.state == .completed)
  }

  @Test func `the call moves to another of a lite agent's addresses when the first dies`() throws {
    let network = try toLite()
    network.run(until: at(10))
    let first = try #require(network.alice.selected)
    network.isBlocked = { from, to in first.base == from || first.base == to }
    network.run(until: at(20))
    #expect(network.alice.selected?.base != first.base)
    #expect(network.alice.selected?.path == network.bob.selected?.path.reversed)
    #expect(!network.alice.states.contains(.disconnected))
  }
}
