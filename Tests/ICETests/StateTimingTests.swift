import CallCore
import StackWorlds
import Testing

@testable import ICE

/// When states change after a fault, at libwebrtc's timers.
@Suite struct StateTimingTests {
  private func connected(settings: ICESettings = ICESettings()) throws -> TestNetwork {
    let network = TestNetwork(settings: settings)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(12.3))
    return network
  }

  @Test(arguments: [12.3, 12.9, 13.7, 14.6])
  func `a blackhole disconnects after 5 to 7.7 s and fails after 15 to 17.7 s`(fault: Double) throws {
    let network = try connected()
    network.run(until: at(fault))
    network.isBlocked = { _, _ in true }
    network.run(until: at(fault + 40))
    for peer in [network.alice, network.bob] {
      #expect(peer.states == [.checking, .completed, .disconnected, .failed])
      let disconnected = try #require(peer.entered(.disconnected))
      let failed = try #require(peer.entered(.failed))
      #expect(disconnected >= at(fault + 5) && disconnected <= at(fault + 7.7))
      #expect(failed >= at(fault + 15) && failed <= at(fault + 17.7))
    }
  }

  @Test func `media may be sent while disconnected and not once failed`() throws {
    let network = try connected()
    network.isBlocked = { _, _ in true }
    network.run(until: at(21))
    #expect(network.alice.state == .disconnected)
    #expect(network.alice.canSend)
    network.run(until: at(31))
    #expect(network.alice.state == .failed)
    #expect(!network.alice.canSend)
  }

  @Test func `a blackhole of 8 s heals by itself`() throws {
    let network = try connected()
    network.isBlocked = { _, _ in true }
    network.run(for: .seconds(8))
    #expect(network.alice.state == .disconnected)
    network.isBlocked = { _, _ in false }
    let healed = network.now
    network.run(for: .seconds(1))
    for peer in [network.alice, network.bob] {
      #expect(peer.states == [.checking, .completed, .disconnected, .completed])
      let back = try #require(peer.entered(.completed, since: healed))
      #expect(back <= healed + .milliseconds(200))
    }
  }

  @Test func `a blackhole of 4 s is not noticed`() throws {
    let network = try connected()
    network.isBlocked = { _, _ in true }
    network.run(for: .seconds(4))
    network.isBlocked = { _, _ in false }
    network.run(for: .seconds(30))
    #expect(network.alice.states == [.checking, .completed])
    #expect(network.bob.states == [.checking, .completed])
  }

  @Test func `an agent whose pairs never work fails 15 to 20 s after the last new pair`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    network.isBlocked = { _, _ in true }
    try network.exchangeCredentials()
    network.signalCandidates(from: network.bob, to: network.alice)
    network.run(until: at(7))
    // A late candidate, and never an end of candidates.
    network.alice.agent.addRemoteCandidate(.host(endpoint("192.0.2.3:7001")), at: network.now)
    network.drain(network.alice)
    network.run(until: at(40))
    let failed = try #require(network.alice.entered(.failed))
    #expect(failed >= at(22) && failed <= at(27))
  }

  @Test func `a new pair brings a failed agent back to checking and on to connected`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    network.isBlocked = { _, to in to.port == 6000 }
    try network.exchangeCredentials()
    network.signalCandidates(from: network.bob, to: network.alice)
    network.run(until: at(30))
    #expect(network.alice.state == .failed)
    try network.addHost(network.bob, "192.0.2.3:7000")
    network.signalCandidates(from: network.bob, to: network.alice)
    network.run(until: at(32))
    #expect(network.alice.states == [.checking, .failed, .checking, .connected])
  }

  @Test func `unanswered checks do not fail an agent that the peer may still reach from an unknown address`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    let dead = endpoint("192.0.2.9:9009")
    try network.exchangeCredentials()
    network.alice.agent.addRemoteCandidate(.host(dead), at: network.now)
    network.drain(network.alice)
    network.endCandidates()
    network.run(until: at(8))
    #expect(network.alice.state == .checking)
    // The peer appears from an address nobody signalled.
    try network.addHost(network.bob, "192.0.2.2:6000")
    network.signalCandidates(from: network.alice, to: network.bob)
    network.run(until: at(10))
    #expect(network.alice.state == .completed)
    #expect(network.alice.selected?.remote.type == .peerReflexive)
  }

  @Test func `an agent without any pair gives up once both sides said all`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.exchangeCredentials()
    network.run(until: at(60))
    #expect(network.alice.state == .new)
    network.endCandidates()
    network.run(until: at(80))
    #expect(network.alice.entered(.failed) == at(75))
  }

  @Test func `received media does not hide that nothing sent arrives`() throws {
    let network = try connected()
    let path = try #require(network.alice.sendingPath)
    // What Alice sends is lost; Bob's checks and media come through.
    network.isBlocked = { from, _ in from.port == 5000 }
    let fault = network.now
    for step in 1...400 {
      network.run(until: fault + .milliseconds(20 * Int64(step)))
      network.alice.agent.markReceived(on: path, at: network.now)
    }
    let disconnected = try #require(network.alice.entered(.disconnected))
    #expect(disconnected >= fault + .seconds(5) && disconnected <= fault + .milliseconds(7_700))
  }

  @Test func `media on the selected pair that was given up makes it checked again`() throws {
    let network = try connected()
    let path = try #require(network.alice.sendingPath)
    let fault = network.now
    network.isBlocked = { _, _ in true }
    for second in 1...25 {
      network.run(until: fault + .seconds(Int64(second)))
      network.alice.agent.markReceived(on: path, at: network.now)
    }
    #expect(network.alice.entered(.failed) != nil)
    network.isBlocked = { _, _ in false }
    network.run(for: .seconds(3))
    #expect(network.alice.canSend)
    #expect(network.alice.state == .connected || network.alice.state == .completed)
  }

  @Test func `the last of five unanswered checks is waited for twice the usual round trip`() throws {
    let network = try connected()
    network.delay = .milliseconds(1_500)
    network.run(until: at(90))
    #expect(network.alice.selected?.smoothedRoundTripTime.map { $0 > .milliseconds(2_990) } == true)
    network.isBlocked = { _, _ in true }
    network.run(for: .seconds(30))
    let answered = network.alice.diary.last { if case .checkSucceeded = $0.event { true } else { false } }
    let last = try #require(answered).at
    let unanswered = network.alice.checkTimes.filter { $0 > last }
    let disconnected = try #require(network.alice.entered(.disconnected))
    let wait = disconnected - unanswered[4]
    #expect(wait > .milliseconds(5_980) && wait <= .milliseconds(6_000))
  }
}
