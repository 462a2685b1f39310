import CallCore
import StackWorlds
import Testing

@testable import ICE

@Suite struct PairingTests {
  private func remote(_ text: String, _ type: ICECandidateType = .host, priority: UInt32? = nil) -> ICECandidate {
    ICECandidate(
      type, at: endpoint(text), priority: priority ?? ICEPriority.candidate(type), foundation: "r\(type.rawValue)")
  }

  private func ready(_ network: TestNetwork) throws {
    try network.alice.agent.setRemoteCredentials(network.bob.agent.localCredentials, at: network.now)
  }

  @Test func `only candidates of one family pair up`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.alice, "[2001:db8::1]:5000")
    try network.addHost(network.alice, "[fe80::1]:5000")
    try ready(network)
    for text in ["192.0.2.2:6001", "[2001:db8::2]:6001", "[fe80::2]:6001"] {
      network.alice.agent.addRemoteCandidate(remote(text), at: network.now)
    }
    let paths = network.alice.agent.pairs.map { "\($0.base.address)>\($0.remoteEndpoint.address)" }.sorted()
    #expect(paths == ["192.0.2.1>192.0.2.2", "2001:db8::1>2001:db8::2", "fe80::1>fe80::2"])
  }

  @Test func `a server-reflexive candidate is pruned for its base`() throws {
    let network = TestNetwork()
    let base = try network.addHost(network.alice, "192.168.1.2:5000")
    network.putBehindNAT(base, public: "203.0.113.1")
    try network.addReflexive(network.alice, base: base)
    try ready(network)
    network.alice.agent.addRemoteCandidate(remote("192.0.2.2:6001"), at: network.now)
    let pairs = network.alice.agent.pairs
    #expect(pairs.count == 1)
    #expect(pairs.first?.local.type == .host)
  }

  @Test func `a hidden host's server-reflexive candidate still pairs from its base`() throws {
    let network = TestNetwork()
    let base = network.addSocket(network.alice, "192.168.1.2:5000")
    network.putBehindNAT(base, public: "203.0.113.1")
    try network.addReflexive(network.alice, base: base)
    try ready(network)
    network.alice.agent.addRemoteCandidate(remote("192.0.2.2:6001"), at: network.now)
    let pair = network.alice.agent.pairs.first
    #expect(pair?.base == base)
    #expect(pair?.local.type == .serverReflexive)
  }

  @Test func `an address that a check has shown is paired with where the check came, until signalling names it`() throws
  {
    let network = TestNetwork()
    for text in ["192.0.2.1:5000", "192.0.2.5:5000"] { try network.addHost(network.alice, text) }
    try network.addHost(network.bob, "192.0.2.2:6000")
    try network.exchangeCredentials()
    let first = try #require(network.alice.agent.localCandidates.first)
    network.bob.agent.addRemoteCandidate(first, at: network.now)
    network.drain(network.bob)
    network.run(until: at(0.5))
    try network.addHost(network.alice, "192.0.2.7:5000")
    #expect(network.alice.pairs.map(\.base) == [endpoint("192.0.2.1:5000")])
    #expect(network.alice.pairs.map(\.remote.type) == [.peerReflexive])
    network.signalCandidates(from: network.bob, to: network.alice)
    #expect(network.alice.pairs.count == 3 && network.alice.pairs.allSatisfy { $0.remote.type == .host })
  }

  @Test func `no relay is asked to send to an address that the peer has hidden behind a name`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addRelay(network.alice, "198.51.100.200:50000")
    try ready(network)
    var hidden = remote("192.168.1.7:6001")
    hidden.address = .name("3e8a.local")
    let address = try #require(IPAddress("192.168.1.7"))
    network.alice.agent.addRemoteCandidate(hidden.resolved(to: address), at: network.now)
    network.alice.agent.addRemoteCandidate(remote("203.0.113.7:6001", .serverReflexive), at: network.now)
    #expect(network.alice.pairs.count == 3)
    #expect(network.alice.pairs.count { $0.local.type == .relay } == 1)
  }

  @Test func `a list of pairs stays within its limit and keeps the best`() throws {
    let network = TestNetwork()
    for index in 1...12 { try network.addHost(network.alice, "192.0.2.\(index):5000") }
    try ready(network)
    for index in 1...12 {
      network.alice.agent.addRemoteCandidate(
        remote("198.51.100.\(index):6001", priority: UInt32(index) << 24), at: network.now)
    }
    let pairs = network.alice.agent.pairs
    #expect(pairs.count == 100)
    #expect(pairs.first?.remote.priority == 12 << 24)
    #expect(pairs.map(\.priority) == pairs.map(\.priority).sorted(by: >))
  }

  @Test func `an endless stream of remote candidates is cut off`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try ready(network)
    for port in 1...1_000 {
      network.alice.agent.addRemoteCandidate(remote("198.51.100.1:\(2_000 + port)"), at: network.now)
    }
    let known = network.alice.agent.remoteCandidates.count
    let refused = network.alice.agent.counters.unusableCandidates
    #expect(known == 400)
    #expect(refused == 600)
  }

  @Test func `pairs of one foundation wait for the first of them`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try ready(network)
    for port in 2_001...2_003 {
      network.alice.agent.addRemoteCandidate(remote("198.51.100.1:\(port)"), at: network.now)
    }
    // The first pair was checked as soon as it was formed.
    #expect(network.alice.pairs.map(\.state) == [.inProgress, .frozen, .frozen])
  }

  @Test func `checks go out best pair first, one each sixteenth of a second`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    for (index, type) in [ICECandidateType.relay, .serverReflexive, .host].enumerated() {
      network.alice.agent.addRemoteCandidate(remote("198.51.100.\(index + 1):6001", type), at: network.now)
    }
    var order: [String] = []
    network.tap = { bytes, _, to in
      order.append("\(to.address)")
      return bytes
    }
    try ready(network)
    network.drain(network.alice)
    network.run(until: .zero + .milliseconds(126))
    #expect(order == ["198.51.100.3", "198.51.100.2", "198.51.100.1"])
    #expect(network.alice.checkTimes.map(\.nanoseconds) == [0, 62_500_000, 125_000_000])
  }

  @Test func `candidates that cannot be paired are counted and ignored`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try ready(network)
    let unusable = [
      "candidate:1 1 tcp 1518280447 192.0.2.9 9 typ host tcptype active",
      "candidate:1 2 udp 2130706430 192.0.2.9 5001 typ host", "candidate:1 1 udp 2130706431 a.local 5000 typ host",
      "candidate:1 1 udp 2130706431 192.0.2.9 0 typ host",
    ]
    for text in unusable {
      network.alice.agent.addRemoteCandidate(try #require(ICECandidate(text)), at: network.now)
    }
    let (pairs, refused) = (network.alice.agent.pairs.count, network.alice.agent.counters.unusableCandidates)
    #expect(pairs == 0)
    #expect(refused == 4)
  }

  @Test(arguments: [
    ("0.0.0.0", 5000, ICECandidateRefusal.unspecifiedAddress), ("::", 5000, .unspecifiedAddress),
    ("224.0.0.251", 5353, .groupAddress), ("239.255.255.250", 1900, .groupAddress),
    ("255.255.255.255", 5000, .groupAddress), ("ff02::fb", 5353, .groupAddress),
    ("::ffff:224.0.0.1", 5353, .groupAddress), ("192.0.2.9", 0, .reservedPort), ("192.0.2.9", 53, .reservedPort),
    ("192.168.1.1", 123, .reservedPort), ("2001:db8::9", 1023, .reservedPort), ("192.168.1.1", 80, .privateWebPort),
    ("10.1.2.3", 443, .privateWebPort), ("172.31.0.1", 443, .privateWebPort), ("100.64.0.1", 80, .privateWebPort),
    ("169.254.1.1", 80, .privateWebPort), ("127.0.0.1", 443, .privateWebPort), ("fd00::1", 443, .privateWebPort),
    ("fe80::1", 443, .privateWebPort), ("::1", 80, .privateWebPort),
  ])
  func `no check goes where no agent can be`(address: String, port: UInt16, refusal: ICECandidateRefusal) throws {
    let network = TestNetwork()
    for host in ["192.0.2.1:5000", "127.0.0.1:5000", "[2001:db8::1]:5000", "[::1]:5000", "[fe80::2]:5000"] {
      try network.addHost(network.alice, host)
    }
    try ready(network)
    let candidate = remote("\(Endpoint(IPAddress(address)!, port: port))")
    network.alice.agent.addRemoteCandidate(candidate, at: network.now)
    network.drain(network.alice)
    network.run(until: at(2))
    #expect(network.sent == 0)
    #expect(network.alice.counters.unusableCandidates == 1)
    let told = network.alice.diary.compactMap {
      if case .remoteCandidateRefused(_, let reason) = $0.event { reason } else { nil }
    }
    #expect(told == [refusal])
  }

  @Test(arguments: ["192.0.2.9:1024", "192.0.2.9:80", "192.0.2.9:443", "[2001:db8::9]:443", "192.168.1.1:5000"])
  func `checks go to where a relay or a host may be`(address: String) throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.alice, "[2001:db8::1]:5000")
    try ready(network)
    network.alice.agent.addRemoteCandidate(remote(address), at: network.now)
    #expect(network.alice.pairs.map(\.remoteEndpoint) == [endpoint(address)])
  }

  @Test func `a loopback address pairs with its like alone`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    try network.addHost(network.alice, "127.0.0.1:5000")
    try ready(network)
    for text in ["192.0.2.9:6000", "127.0.0.1:6000"] {
      network.alice.agent.addRemoteCandidate(remote(text), at: network.now)
    }
    let paths = network.alice.agent.pairs.map { "\($0.base.address)>\($0.remoteEndpoint.address)" }.sorted()
    #expect(paths == ["127.0.0.1>127.0.0.1", "192.0.2.1>192.0.2.9"])
  }

  @Test func `a name resolved late still connects`() throws {
    let network = TestNetwork()
    try network.addHost(network.alice, "192.0.2.1:5000")
    let b = try network.addHost(network.bob, "192.0.2.2:6000")
    try network.exchangeCredentials()
    let hidden = try #require(ICECandidate("candidate:1 1 udp 2130706431 b.local 6000 typ host"))
    network.alice.agent.addRemoteCandidate(hidden, at: network.now)
    network.endCandidates()
    network.run(until: at(5))
    #expect(network.alice.state == .new)
    network.alice.agent.addRemoteCandidate(hidden.resolved(to: b.address), at: network.now)
    network.drain(network.alice)
    network.run(until: at(7))
    #expect(network.alice.state == .completed)
    #expect(network.bob.state == .completed)
  }

  @Test func `a candidate that cannot be local is refused`() throws {
    let network = TestNetwork()
    let named = try #require(ICECandidate("candidate:1 1 udp 1 a.local 5000 typ host"))
    let tcp = try #require(ICECandidate("candidate:1 1 tcp 1 192.0.2.1 9 typ host"))
    for candidate in [named, tcp] {
      #expect(throws: ICEError.unusableLocalCandidate) {
        try network.alice.agent.addLocalCandidate(candidate, at: network.now)
      }
    }
  }
}
