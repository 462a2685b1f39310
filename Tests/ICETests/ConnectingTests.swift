import CallCore
import StackWorlds
import Testing

@testable import ICE

@Suite struct ConnectingTests {
  @Test func `two hosts connect and select the same pair`() throws {
    let network = TestNetwork()
    let a = try network.addHost(network.alice, "192.0.2.1:5000")
    let b = try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(for: .seconds(2))
    #expect(network.alice.states == [.checking, .completed])
    #expect(network.bob.states == [.checking, .completed])
    let (alices, bobs) = (network.alice.agent.sendingPath, network.bob.agent.sendingPath)
    #expect(alices == Path(local: a, remote: b))
    #expect(bobs == Path(local: b, remote: a))
  }

  @Test func `IPv6 hosts connect`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "[2001:db8::1]:5000")
    try network.addHost(network.bob, "[2001:db8::2]:6000")
    try network.signalAll()
    network.run(for: .seconds(2))
    #expect(network.alice.state == .completed)
    #expect(network.bob.selected?.remoteEndpoint == endpoint("[2001:db8::1]:5000"))
  }

  @Test func `without the end of candidates the state is connected, not completed`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.exchangeCredentials()
    network.signalCandidates(from: network.bob, to: network.alice)
    network.run(for: .seconds(2))
    #expect(network.alice.states == [.checking, .connected])
    network.endCandidates()
    #expect(network.alice.state == .completed)
  }

  @Test func `two NATs with endpoint-independent mapping are crossed`() throws {
    let network = TestNetwork()
    let a = try network.addHost(network.alice, "192.168.1.2:5000")
    let b = try network.addHost(network.bob, "10.0.0.2:6000")
    network.putBehindNAT(a, public: "203.0.113.1")
    network.putBehindNAT(b, public: "203.0.113.2")
    try network.addReflexive(network.alice, base: a)
    let bobsMapping = try network.addReflexive(network.bob, base: b)
    try network.signalAll()
    network.run(for: .seconds(3))
    #expect(network.alice.selected?.remoteEndpoint == bobsMapping)
    #expect(network.alice.selected?.local.type == .serverReflexive)
    #expect(network.bob.selected?.base == b)
    #expect(network.alice.state == .completed && network.bob.state == .completed)
  }

  @Test(arguments: [true, false])
  func `a symmetric NAT's pair is peer-reflexive and is nominated`(aliceIsBehindIt: Bool) throws {
    let network = TestNetwork()
    let (inside, outside) = aliceIsBehindIt ? (network.alice, network.bob) : (network.bob, network.alice)
    let base = try network.addHost(inside, "192.168.1.2:5000")
    network.putBehindNAT(base, public: "203.0.113.1", symmetric: true)
    let signalled = try network.addReflexive(inside, base: base)
    try network.addHost(outside, "192.0.2.2:6000")
    try network.signalAll()
    network.run(for: .seconds(3))
    let seen = try #require(outside.selected)
    #expect(seen.remote.type == .peerReflexive)
    #expect(seen.remoteEndpoint != signalled)
    #expect(inside.selected?.local.type == .peerReflexive)
    #expect(inside.selected?.local.endpoint == seen.remoteEndpoint)
    #expect(inside.state == .completed && outside.state == .completed)
    let discoveries = outside.count { if case .peerReflexiveDiscovered(_, false) = $0 { true } else { false } }
    #expect(discoveries == 1)
  }

  @Test func `two symmetric NATs need a relay`() throws {
    let network = TestNetwork()
    let a = try network.addHost(network.alice, "192.168.1.2:5000")
    let b = try network.addHost(network.bob, "10.0.0.2:6000")
    network.putBehindNAT(a, public: "203.0.113.1", symmetric: true)
    network.putBehindNAT(b, public: "203.0.113.2", symmetric: true)
    try network.addReflexive(network.alice, base: a)
    try network.addReflexive(network.bob, base: b)
    let relay = try network.addRelay(network.bob, "198.51.100.200:50000")
    try network.signalAll()
    network.run(for: .seconds(5))
    #expect(network.bob.selected?.base == relay)
    #expect(network.alice.selected?.remoteEndpoint == relay)
    #expect(network.alice.state == .completed && network.bob.state == .completed)
  }

  @Test func `without hairpin two peers behind one NAT fail on server-reflexive candidates alone`() throws {
    let network = TestNetwork()
    let a = network.addSocket(network.alice, "192.168.1.2:5000")
    let b = network.addSocket(network.bob, "192.168.1.3:6000")
    network.putBehindNAT(a, public: "203.0.113.1")
    network.putBehindNAT(b, public: "203.0.113.1")
    try network.addReflexive(network.alice, base: a)
    try network.addReflexive(network.bob, base: b)
    try network.signalAll()
    network.run(until: at(25))
    for peer in [network.alice, network.bob] {
      #expect(peer.states == [.checking, .failed])
      let failed = try #require(peer.entered(.failed))
      #expect(failed >= at(15) && failed <= at(20))
    }
  }

  @Test func `a round trip of six seconds still connects`() throws {
    let network = TestNetwork()
    network.delay = .seconds(3)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(30))
    #expect(network.alice.canSend)
    #expect(network.alice.selected?.currentRoundTripTime == .seconds(6))
    #expect(network.bob.selected != nil)
  }

  @Test func `a response that comes after the pair was given up still counts`() throws {
    let network = TestNetwork()
    network.delay = .seconds(10)
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(45))
    #expect(network.alice.selected?.currentRoundTripTime == .seconds(20))
  }

  @Test func `the pair counts what W3C statistics count`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(10))
    let pair = try #require(network.alice.selected)
    let counters = pair.counters
    #expect(pair.nominated && pair.state == .succeeded)
    #expect(counters.responsesReceived == counters.requestsSent + counters.consentRequestsSent)
    #expect(counters.requestsReceived == counters.responsesSent)
    #expect(counters.requestsReceived > 0 && counters.consentRequestsSent > 2)
    #expect(pair.currentRoundTripTime == .milliseconds(40))
    #expect(pair.totalRoundTripTime == .milliseconds(40) * Int64(counters.responsesReceived))
  }

  @Test func `a closed agent is silent`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.signalAll()
    network.run(until: at(2))
    network.alice.agent.close(at: network.now)
    network.drain(network.alice)
    let before = network.sent
    network.alice.agent.advance(to: at(100))
    network.alice.agent.receive(
      [0, 1].span.bytes, on: Path(local: endpoint("1.1.1.1:1"), remote: endpoint("1.1.1.1:2")), at: at(100))
    network.drain(network.alice)
    let (wake, canSend) = (network.alice.agent.wake, network.alice.agent.canSend)
    #expect(network.sent == before && wake == .never && !canSend)
    #expect(network.alice.states.last == .closed)
    #expect(throws: ICEError.closed) { try network.alice.agent.restart(at: network.now) }
  }
}
