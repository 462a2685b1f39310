import CallCore
import StackWorlds
import Testing

@testable import ICE

/// Random networks and loss: whatever happens, both sides end up on one and the same pair.
@Suite struct ConvergenceTests {
  private func world(seed: UInt64) throws -> TestNetwork {
    var random = RandomSource(seed: seed).stream("world")
    var settings = ICESettings()
    if random.chance(0.4) { settings.nomination = .regular }
    let roles: [(ICERole, ICERole)] = [
      (.controlling, .controlled), (.controlled, .controlling), (.controlling, .controlling),
      (.controlled, .controlled),
    ]
    let (first, second) = roles[Int(random.uniform(below: 4))]
    let network = TestNetwork(alice: first, bob: second, settings: settings, seed: seed)
    network.delay = .milliseconds(Int64(random.uniform(in: 1...400)))
    network.loss = 0.5 * random.unit()
    for (index, peer) in [network.alice, network.bob].enumerated() {
      let port = 5_000 + 1_000 * index
      switch random.uniform(below: 4) {
      case 0: try network.addHost(peer, "192.0.2.\(index + 1):\(port)")
      case 1:
        let base = try network.addHost(peer, "10.0.\(index).2:\(port)")
        network.putBehindNAT(base, public: "203.0.113.\(index + 1)", symmetric: random.chance(0.5))
        try network.addReflexive(peer, base: base)
      case 2:
        try network.addHost(peer, "192.0.2.\(index + 1):\(port)", localPreference: 40_000)
        try network.addHost(peer, "[2001:db8::\(index + 1)]:\(port)")
      default:
        for host in 1...3 {
          try network.addHost(peer, "198.18.\(index).\(host):\(port)", localPreference: UInt16(host))
        }
      }
      try network.addRelay(peer, "198.51.100.200:\(50_000 + index)")
    }
    return network
  }

  @Test(arguments: 0..<32)
  func `loss of up to one half always converges on one pair`(seed: Int) throws {
    let network = try world(seed: UInt64(seed))
    try network.signalAll()
    network.run(until: at(30))
    // Under such loss a pair may seem dead for a moment and be left and returned to: let the last change settle.
    network.loss = 0
    network.run(until: at(36))
    for peer in [network.alice, network.bob] {
      #expect(!peer.states.contains(.failed), "\(peer.name) \(peer.states)")
    }
    let (a, b) = (try #require(network.alice.selected), try #require(network.bob.selected))
    #expect(a.local.endpoint == b.remoteEndpoint && b.local.endpoint == a.remoteEndpoint)
    #expect(network.alice.role != network.bob.role)
  }

  @Test func `the same seed gives the same run`() throws {
    let runs = try (0..<2).map { _ in
      let network = try world(seed: 17)
      try network.signalAll()
      var digest: [UInt64] = []
      network.tap = { bytes, _, _ in
        digest.append(bytes.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 })
        return bytes
      }
      network.run(until: at(20))
      return digest
    }
    #expect(runs[0] == runs[1] && runs[0].count > 20)
  }
}
