import CallCore
import StackWorlds
import Testing

@testable import ICE

@Suite struct TrickleTests {
  @Test func `candidates before the description are kept for it`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    network.signalCandidates(from: network.alice, to: network.bob)
    network.signalCandidates(from: network.bob, to: network.alice)
    #expect(network.alice.pairs.isEmpty && network.alice.state == .new && network.alice.wake == .never)
    try network.exchangeCredentials()
    network.run(until: at(1))
    #expect(network.alice.state == .connected && network.bob.state == .connected)
  }

  @Test func `checks before the answer are answered, remembered, and acted on`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    // Bob has the offer and checks; his answer is slow.
    try network.bob.agent.setRemoteCredentials(network.alice.agent.localCredentials, at: network.now)
    network.signalCandidates(from: network.alice, to: network.bob)
    network.run(until: at(3))
    #expect(network.alice.state == .new && network.alice.checkTimes.isEmpty)
    #expect(network.bob.pairs.first?.state == .succeeded)
    try network.alice.agent.setRemoteCredentials(network.bob.agent.localCredentials, at: network.now)
    network.drain(network.alice)
    network.run(until: at(4))
    #expect(network.alice.state == .connected && network.bob.state == .connected)
    #expect(network.alice.selected?.remote.type == .peerReflexive)
  }

  @Test func `early checks of somebody else's generation are forgotten`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.bob.agent.setRemoteCredentials(network.alice.agent.localCredentials, at: network.now)
    network.signalCandidates(from: network.alice, to: network.bob)
    network.run(until: at(1))
    let other = ICECredentials(ufrag: "zzzz", password: "0123456789012345678901")
    try network.alice.agent.setRemoteCredentials(other, at: network.now)
    network.drain(network.alice)
    #expect(network.alice.pairs.isEmpty)
    #expect(network.alice.counters.wrongGeneration > 0)
  }

  @Test func `candidates one by one, worst first, end on the best path`() throws {
    let network = TestNetwork()
    try network.exchangeCredentials()
    try network.addRelay(network.alice, "198.51.100.200:50000")
    try network.addRelay(network.bob, "198.51.100.201:50001")
    network.signalCandidates(from: network.alice, to: network.bob)
    network.signalCandidates(from: network.bob, to: network.alice)
    network.run(until: at(2))
    #expect(network.alice.selected?.local.type == .relay)
    try network.addHost(network.alice, "192.0.2.1:5000")
    network.signalCandidates(from: network.alice, to: network.bob)
    network.run(until: at(4))
    try network.addHost(network.bob, "192.0.2.2:6000")
    network.signalCandidates(from: network.bob, to: network.alice)
    network.endCandidates()
    network.run(until: at(8))
    #expect(network.alice.selected?.path == Path(local: endpoint("192.0.2.1:5000"), remote: endpoint("192.0.2.2:6000")))
    #expect(network.bob.selected?.path == Path(local: endpoint("192.0.2.2:6000"), remote: endpoint("192.0.2.1:5000")))
    #expect(network.alice.state == .completed && network.bob.state == .completed)
  }

  @Test func `without an end of candidates nobody stays in checking for ever`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.exchangeCredentials()
    network.alice.agent.addRemoteCandidate(.host(endpoint("192.0.2.9:9009")), at: network.now)
    network.drain(network.alice)
    network.run(until: at(21))
    #expect(network.alice.states == [.checking, .failed])
  }

  @Test func `a candidate said twice is one candidate`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.exchangeCredentials()
    for _ in 0..<3 { network.alice.agent.addRemoteCandidate(.host(endpoint("192.0.2.9:9009")), at: network.now) }
    let (pairs, local) = (network.alice.agent.pairs.count, network.alice.agent.localCandidates.count)
    #expect(pairs == 1 && local == 1)
  }
}
