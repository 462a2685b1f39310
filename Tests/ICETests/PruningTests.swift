import CallCore
import StackWorlds
import Testing

@testable import ICE

/// Pairs that a better one of their network makes needless.
@Suite struct PruningTests {
  private static let ethernet = ICENetwork(id: 1, type: .ethernet)

  /// Alice with a host and a relay on one interface.
  private func withRelay(prunes: Bool = true) throws -> (network: TestNetwork, relay: Endpoint) {
    var settings = ICESettings()
    settings.prunesPairs = prunes
    let network = TestNetwork(settings: settings)
    // The relay is known to work before the direct path takes over.
    network.delayTo = { $0.port == 50_000 ? .milliseconds(5) : .milliseconds(100) }
    try network.addHost(network.alice, "192.0.2.1:5000", network: Self.ethernet)
    let relay = try network.addRelay(network.alice, "198.51.100.200:50000", network: Self.ethernet)
    try network.addHost(network.bob, "192.0.2.2:6000", network: Self.ethernet)
    try network.signalAll()
    return (network, relay)
  }

  private func blockDirect(_ network: TestNetwork) {
    network.isBlocked = { from, to in Set([from.port, to.port]) == [5000, 6000] }
  }

  @Test func `a worse pair of the same network is given up and then forgotten`() throws {
    let (network, relay) = try withRelay()
    network.run(until: at(2))
    let pair = try #require(network.alice.pairs.first { $0.base == relay })
    #expect(pair.isPruned)
    let checks = network.alice.diary.count { if case .checkSent(pair.id, _) = $0.event { true } else { false } }
    #expect(checks <= 5)
    network.run(until: at(60))
    #expect(network.alice.pairs.map(\.base) == [endpoint("192.0.2.1:5000")])
    #expect(network.bob.pairs.map(\.remoteEndpoint) == [endpoint("192.0.2.1:5000")])
    #expect(network.alice.states == [.checking, .completed])
  }

  @Test func `within half a minute a call can still go to the relay of its network`() throws {
    let (network, relay) = try withRelay()
    network.run(until: at(15))
    blockDirect(network)
    network.run(until: at(30))
    #expect(network.alice.selected?.base == relay)
    #expect(network.bob.selected?.remoteEndpoint == relay)
    #expect(!network.alice.states.contains(.disconnected) && !network.bob.states.contains(.disconnected))
  }

  @Test func `later there is nothing to go to, until ICE restarts`() throws {
    let (network, relay) = try withRelay()
    network.run(until: at(60))
    blockDirect(network)
    network.run(until: at(90))
    #expect(network.alice.states == [.checking, .completed, .disconnected, .failed])
    #expect(network.bob.states == [.checking, .completed, .disconnected, .failed])
    try restartBoth(network)
    network.run(for: .seconds(3))
    #expect(network.alice.selected?.base == relay)
    #expect(network.alice.state == .completed && network.bob.state == .completed)
  }

  @Test func `an agent that does not prune goes to the relay at any time`() throws {
    let (network, relay) = try withRelay(prunes: false)
    network.run(until: at(60))
    blockDirect(network)
    network.run(until: at(75))
    #expect(network.alice.selected?.base == relay)
    #expect(network.alice.states == [.checking, .completed] && network.bob.states == [.checking, .completed])
  }

  @Test func `the pair of another network stays`() throws {
    let (network, _, cellular) = try TestNetwork.connected()
    network.run(until: at(120))
    #expect(network.alice.pairs.contains { $0.base == cellular && $0.isWritable })
    #expect(network.alice.pairs.count == 2)
  }

  @Test func `a better pair that does not work yet is not given up for a worse one that does`() throws {
    let (network, relay) = try withRelay()
    blockDirect(network)
    network.run(until: at(5))
    #expect(network.alice.selected?.base == relay)
    network.isBlocked = { _, _ in false }
    network.run(until: at(8))
    #expect(network.alice.selected?.base.port == 5000 && network.bob.selected?.base.port == 6000)
  }

  @Test func `a controlled agent gives nothing up before it hears of a nomination`() throws {
    var regular = ICESettings()
    regular.nomination = .regular
    let network = TestNetwork(settings: regular, bobSettings: ICESettings())
    // Alice's nominations are lost: Bob uses what works, and keeps all of it.
    network.tap = { bytes, from, _ in
      from.port != 6000 && (20..<bytes.count - 4).contains { $0 % 4 == 0 && bytes[$0...($0 + 3)] == [0, 0x25, 0, 0] }
        ? nil : bytes
    }
    try network.addHost(network.alice, "192.0.2.1:5000", network: Self.ethernet)
    try network.addRelay(network.alice, "198.51.100.200:50000", network: Self.ethernet)
    try network.addHost(network.bob, "192.0.2.2:6000", network: Self.ethernet)
    try network.signalAll()
    network.run(until: at(5))
    #expect(network.bob.selected != nil)
    #expect(network.bob.pairs.count == 2 && network.bob.pairs.allSatisfy { !$0.isPruned })
  }

  private func checks(_ peer: TestPeer, of id: ICECandidatePair.ID) -> Int {
    peer.count { if case .checkSent(id, _) = $0 { true } else { false } }
  }

  @Test func `a pair that was given up stays so though the peer nominates it, until the selected one is in trouble`()
    throws
  {
    let (network, relay) = try withRelay()
    network.run(until: at(5))
    let pair = try #require(network.bob.pairs.first { $0.remoteEndpoint == relay })
    #expect(pair.isPruned)
    // Alice asks for it, and for the other one no more.
    network.tap = { bytes, from, _ in from.port == 5000 && bytes[0] == 0 ? nil : bytes }
    network.run(for: .milliseconds(1_500))
    var forged = STUNForger(from: network.alice.agent.localCredentials, to: network.bob.agent.localCredentials)
    forged.role = .controlling
    forged.useCandidate = true
    let before = checks(network.bob, of: pair.id)
    network.deliver(forged.request, on: pair.path, to: network.bob)
    network.run(for: .milliseconds(600))
    #expect(checks(network.bob, of: pair.id) == before && network.bob.selected?.remoteEndpoint.port == 5000)
    network.tap = { bytes, _, _ in bytes }
    blockDirect(network)
    network.run(for: .seconds(5))
    #expect(checks(network.bob, of: pair.id) > before && network.bob.selected?.remoteEndpoint == relay)
  }

  @Test func `a pair that was given up once is not brought back by the peer after it worked again`() throws {
    let (network, relay) = try withRelay()
    let cellular = try network.addHost(
      network.alice, "198.18.0.1:5001", localPreference: 100, network: ICENetwork(id: 2, type: .cellular))
    network.run(until: at(10))
    // On the Wi-Fi the relay has to take over, and then nothing works there.
    network.isBlocked = { from, to in
      Set([from.port, to.port]) == [5000, 6000] || from == cellular || to == cellular
    }
    network.run(for: .seconds(6))
    #expect(network.alice.selected?.base == relay)
    let id = try #require(network.alice.selected?.id)
    network.isBlocked = { from, to in from.port == 5000 || to.port == 5000 || from == relay || to == relay }
    network.run(for: .seconds(20))
    #expect(network.alice.selected?.base == cellular)
    let given = try #require(network.alice.pairs.first { $0.id == id })
    #expect(given.isPruned && given.reachability == .timedOut)
    let before = checks(network.alice, of: id)
    var forged = STUNForger(from: network.bob.agent.localCredentials, to: network.alice.agent.localCredentials)
    forged.role = .controlled
    network.deliver(forged.request, on: given.path, to: network.alice)
    network.run(for: .seconds(1))
    #expect(checks(network.alice, of: id) == before)
  }

  @Test func `another mapping of a socket brings no forgotten pair back`() throws {
    let network = TestNetwork()
    let base = try network.addHost(network.alice, "192.168.1.2:5000", network: Self.ethernet)
    network.putBehindNAT(base, public: "203.0.113.1")
    try network.addReflexive(network.alice, base: base)
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.addRelay(network.bob, "198.51.100.200:50000")
    try network.signalAll()
    network.run(until: at(90))
    #expect(network.alice.pairs.map(\.remoteEndpoint) == [endpoint("192.0.2.2:6000")])
    network.rebind("203.0.113.1")
    try network.addReflexive(network.alice, base: base)
    #expect(network.alice.pairs.map(\.remoteEndpoint) == [endpoint("192.0.2.2:6000")])
  }
}
