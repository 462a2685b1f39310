import CallCore
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

@Suite struct JudgeExplanationTests {
  @Test func `that no pair can work is told before ICE gives up, too`() throws {
    let result = try play(
      timeline: """
          - { at: 1s, do: alice.call, to: bob }
          - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        """, expect: "  - { eventually: bob.call.state == connected, within: 10s }", network: "home/symmetric")
    let explanation = try #require(result.findings.first).explanation
    #expect(explanation.contains { $0.hasPrefix("neither can know the port") }, "\(explanation)")
  }

  private static func behindNATs(_ alice: Topology.MappingBehavior, _ bob: Topology.MappingBehavior, turn: Bool)
    -> (inout Scenario) -> Void
  {
    { scenario in
      for (index, map) in [alice, bob].enumerated() {
        var network = Topology.Network()
        network.name = ["home", "office"][index]
        network.uplink = Located("internet")
        var nat = Topology.NAT()
        nat.map = map
        network.nat = nat
        scenario.topology.networks.append(network)
        scenario.peers[index].interfaces = [.init(name: "wifi", network: network.name, link: "l\(index)")]
      }
      guard turn else { return }
      var server = Topology.Server()
      server.kind = .turn
      scenario.topology.servers = [server]
    }
  }

  private func failConnecting(_ bench: JudgeBench) -> ExpectationResult {
    let trace = bench.trace
    bench.at(1_000)
    let mapping = NetworkEvents.mappingCreated
    for port in ["40001", "40002"] {
      trace.write(
        mapping, trace.subject("nat/home"), "udp", Endpoint("192.168.1.2:5000")!,
        Endpoint("203.0.113.1:\(port)")!)
    }
    let dropped = NetworkEvents.packetDropped
    for number in UInt64(1)...3 {
      trace.write(
        dropped, trace.subject("nat/office"), "nat-filter", number,
        Endpoint("203.0.113.1:40001")!, Endpoint("203.0.113.2:50001")!, 100)
    }
    let failed = PeerConnectionEvents.checkFailed
    trace.write(
      failed, trace.subject("alice"), Endpoint("192.168.1.2:5000")!,
      Endpoint("203.0.113.2:50001")!, "timeout")
    bench.end("alice", "ice-failed", at: 31_000)
    return bench.finish(at: 40_000)
  }

  @Test func `what a rule takes from a stream to a relay is among what was dropped`() {
    let bench = JudgeBench(
      .ends("alice", "local-hangup"), Self.behindNATs(.addressAndPort, .addressAndPort, turn: false))
    let dropped = NetworkEvents.messageDropped
    for _ in 0..<5 {
      bench.trace.write(dropped, bench.trace.subject("alice"), "stun", 100)
    }
    let lines = failConnecting(bench).explanation
    #expect(lines.contains { $0.contains("5 at alice (rule, stun in a TCP stream, last 0.00)") }, "\(lines)")
  }

  @Test func `two symmetric NATs without a relay explain themselves`() {
    let bench = JudgeBench(
      .ends("alice", "local-hangup"), Self.behindNATs(.addressAndPort, .addressAndPort, turn: false))
    let result = failConnecting(bench)
    #expect(
      result.explanation == [
        "alice: ended with ice-failed at 31.00 s",
        "alice: connectivity checks failed to 203.0.113.2:50001 (timeout, last 1.00)",
        "nat/home maps 192.168.1.2:5000 to another port for each destination: 203.0.113.1:40001, 203.0.113.1:40002",
        "alice is behind a symmetric NAT (home: mapping by address-and-port, filtering by address-and-port), "
          + "bob behind a symmetric NAT (office: mapping by address-and-port, filtering by address-and-port)",
        "neither can know the port that the other's NAT will use towards it: no direct pair can work, only a relay, "
          + "and the scenario has no TURN server",
        "packets dropped: 3 at nat/office (nat-filter, last 1.00)",
      ])
  }

  @Test func `a port that takes the place of another is no port for each destination`() {
    let bench = JudgeBench(
      .ends("alice", "local-hangup"), Self.behindNATs(.addressAndPort, .addressAndPort, turn: false))
    let trace = bench.trace
    bench.at(500)
    let created = NetworkEvents.mappingCreated
    let removed = NetworkEvents.mappingRemoved
    let inside = Endpoint("192.168.1.9:5000")!
    for port in ["41001", "41002"] {
      let outside = Endpoint("203.0.113.1:\(port)")!
      trace.write(created, trace.subject("nat/home"), "udp", inside, outside)
      trace.write(removed, trace.subject("nat/home"), "reboot", "udp", inside, outside)
    }
    #expect(!failConnecting(bench).explanation.contains { $0.contains("192.168.1.9") })
  }

  @Test func `a symmetric NAT against a port filter says that the port was not told`() {
    let bench = JudgeBench(
      .ends("alice", "local-hangup"), Self.behindNATs(.addressAndPort, .endpointIndependent, turn: true))
    let lines = failConnecting(bench).explanation
    #expect(
      lines.contains(
        "the symmetric NAT uses a port towards the peer that the other's port filter was not told of: "
          + "no direct pair can work, only a relay"))
  }

  @Test func `NATs that can be passed are not blamed`() {
    let bench = JudgeBench(
      .ends("alice", "local-hangup"), Self.behindNATs(.endpointIndependent, .endpointIndependent, turn: false))
    #expect(!failConnecting(bench).explanation.contains { $0.contains("no direct pair") })
  }

  /// Bob's check to the port that Alice's STUN server saw gets through, or hers to his does.
  @Test(arguments: [
    (Topology.MappingBehavior.address, Topology.FilteringBehavior.endpointIndependent),
    (.addressAndPort, .endpointIndependent),
    (.endpointIndependent, .address),
  ])
  func `a symmetric NAT is not blamed for what the other side's filter lets in`(
    map: Topology.MappingBehavior, filter: Topology.FilteringBehavior
  ) {
    let bench = JudgeBench(.ends("alice", "local-hangup")) { scenario in
      Self.behindNATs(.addressAndPort, map, turn: false)(&scenario)
      scenario.topology.networks[1].nat?.filter = filter
    }
    #expect(!failConnecting(bench).explanation.contains { $0.contains("no direct pair") })
  }

  @Test(arguments: [false, true])
  func `NATs are not blamed where IPv6 or another network leads past them`(isIPv6: Bool) {
    let bench = JudgeBench(.ends("alice", "local-hangup")) { scenario in
      Self.behindNATs(.addressAndPort, .addressAndPort, turn: false)(&scenario)
      if isIPv6 {
        for index in 0...1 {
          scenario.topology.networks[index].prefixes = [Located(IPPrefix("2001:db8:\(index)::/64")!)]
        }
      } else {
        scenario.peers[0].interfaces.append(.init(name: "lte", network: "carrier", link: "l2"))
      }
    }
    #expect(!failConnecting(bench).explanation.contains { $0.contains("no direct pair") })
  }

  // MARK: Firewalls

  /// What the topology says of Alice, whose router lets out to port 443 alone, and of Bob. The relay is outside, and has
  /// every transport.
  private static func verdict(_ change: (inout Scenario) -> Void) -> [String] {
    TopologyVerdict(scenario(change)).lines(between: ["alice", "bob"])
  }

  private static func scenario(_ change: (inout Scenario) -> Void) -> Scenario {
    var scenario = Scenario()
    for name in ["alice", "bob"] {
      var peer = Scenario.Peer()
      peer.name = name
      scenario.peers.append(peer)
    }
    behindNATs(.endpointIndependent, .endpointIndependent, turn: true)(&scenario)
    scenario.topology.servers[0].name = "relay"
    scenario.topology.servers[0].network = Located("internet")
    scenario.topology.servers[0].transports = [.udp, .tcp, .tls]
    scenario.topology.networks[0].firewall = Topology.Firewall()
    scenario.topology.networks[0].firewall?.allowPorts = [443]
    change(&scenario)
    return scenario
  }

  @Test func `a relay at ports that the router does not let out is told with them`() {
    let line = "alice's network home lets out to port 443 only, so that it cannot reach the TURN server relay at port "
    #expect(Self.verdict { _ in } == [Self.closed, line + "3478, 5349"])
    #expect(Self.verdict { $0.peers[0].ice.turnTransports = [Located(.tls)] } == [Self.closed, line + "5349"])
    #expect(Self.verdict { $0.topology.servers[0].tls.port = 443 } == [Self.closed])
  }

  @Test func `a relay that no router stands before is in reach`() {
    #expect(Self.verdict { $0.topology.servers[0].network = Located("home") } == [Self.closed])
    #expect(Self.verdict { $0.topology.networks[0].uplink = nil } == [])
  }

  private static let closed =
    "alice's network home lets out to port 443 only, so that it can use no path but a relay at a port that is let out"

  @Test func `of a relay that the peer does not ask it is told that it does not`() {
    let asksNone = Self.verdict { $0.peers[0].ice.servers = [] }
    #expect(asksNone == [Self.closed + ", and alice does not ask the TURN server relay"])
    #expect(Self.verdict { $0.peers[0].ice.servers = [Located("relay")] }.count == 2)
    let none = Self.verdict { $0.topology.servers = [] }
    #expect(none == [Self.closed + ", and the scenario has no TURN server"])
  }

  @Test func `a relay that has only what is blocked is told with what it has`() {
    let lines = Self.verdict {
      $0.topology.networks[0].firewall = Topology.Firewall()
      $0.topology.networks[0].firewall?.blockUDP = true
      $0.topology.servers[0].transports = [.udp]
    }
    #expect(lines.last == "the TURN server relay offers nothing but UDP")
    let wanted = Self.verdict {
      $0.topology.networks[0].firewall = Topology.Firewall()
      $0.topology.networks[0].firewall?.blockTCP = true
      $0.peers[0].ice.turnTransports = [Located(.tcp)]
    }
    #expect(
      wanted == ["alice's network home blocks TCP, and the TURN server relay offers for alice nothing but TCP"])
  }

  @Test func `a fault closes ports as the firewall of a network does`() {
    var scenario = Self.scenario { $0.topology.networks[0].firewall = nil }
    #expect(TopologyVerdict(scenario).lines(between: ["alice", "bob"]) == [])
    var fault = Fault(kind: .firewallAllow)
    fault.arguments.entries = [("network", Located(.text("home"))), ("ports", Located(.list([.text("443")])))]
    #expect(TopologyVerdict(scenario, under: [fault]).lines(between: ["alice", "bob"]).first == Self.closed)
    (scenario.topology.servers[0].kind, scenario.topology.servers[0].transports) = (.stun, [.udp])
    fault = Fault(kind: .firewallBlock)
    fault.arguments.entries = [
      ("network", Located(.text("home"))), ("ports", Located(.list([.text("3478"), .text("5349")]))),
    ]
    let lines = TopologyVerdict(scenario, under: [fault]).lines(between: ["alice", "bob"])
    #expect(
      lines == [
        "alice's network home does not let out port 3478, so that it cannot ask the STUN server relay at port 3478"
      ])
  }

  @Test func `who may use relays alone is told of no direct pair, and of relays that it does not ask`() {
    let lines = Self.verdict { scenario in
      scenario.topology.networks[0].firewall = nil
      for index in 0...1 {
        scenario.topology.networks[index].nat?.map = .addressAndPort
        scenario.peers[index].ice.policy = .relay
      }
      scenario.peers[1].ice.servers = []
    }
    #expect(lines == ["bob may use relays alone (policy: relay), and bob does not ask the TURN server relay"])
  }

  @Test func `where only a relay can work, it is told who does not ask the one there is`() {
    func ending(_ change: (inout Scenario) -> Void) -> String {
      let lines = Self.verdict { scenario in
        scenario.topology.networks[0].firewall = nil
        for index in 0...1 { scenario.topology.networks[index].nat?.map = .addressAndPort }
        change(&scenario)
      }
      return String(lines.last?.split(separator: "only a relay").last ?? "")
    }
    #expect(
      ending { for index in 0...1 { $0.peers[index].ice.servers = [] } }
        == ", and neither alice nor bob asks the TURN server relay")
    #expect(ending { $0.peers[1].ice.servers = [] } == ", and bob does not ask the TURN server relay")
  }

  @Test func `a network that blocks UDP leaves relays over TCP, and one that blocks TCP too leaves none`() {
    let blocked = Self.verdict {
      $0.topology.networks[0].firewall = Topology.Firewall()
      $0.topology.networks[0].firewall?.blockUDP = true
    }
    #expect(blocked == ["alice's network blocks UDP, so that it can use no path but a relay over TCP or TLS"])
    let sealed = Self.verdict {
      $0.topology.networks[0].firewall?.blockUDP = true
      $0.topology.networks[0].firewall?.blockTCP = true
    }
    #expect(sealed == ["alice's network blocks UDP and TCP, so that no path leads past its routers"])
  }

  /// Alice is on a second network, which is as `change` says.
  private static func onTwo(_ change: @escaping (inout Topology.Network) -> Void) -> (inout Scenario) -> Void {
    { scenario in
      var network = Topology.Network()
      network.name = "carrier"
      network.uplink = Located("internet")
      network.nat = Topology.NAT()
      change(&network)
      scenario.topology.networks.append(network)
      scenario.peers[0].interfaces.append(.init(name: "lte", network: "carrier", link: "l2"))
    }
  }

  @Test func `what one network keeps a peer from is told only where no other network of it leads on`() {
    #expect(Self.verdict(Self.onTwo { _ in }) == [])
    let both = Self.verdict(
      Self.onTwo {
        $0.firewall = Topology.Firewall()
        $0.firewall?.blockPorts = [3_478, 5_349]
      })
    #expect(
      both == [
        "alice's network home lets out to port 443 only, so that it cannot reach the TURN server relay at port 3478, 5349",
        "alice's network carrier does not let out port 3478, 5349, so that it cannot reach the TURN server relay "
          + "at port 3478, 5349",
      ])
    let blockingUDP: (inout Scenario) -> Void = {
      $0.topology.networks[0].firewall = Topology.Firewall()
      $0.topology.networks[0].firewall?.blockUDP = true
    }
    let open = Self.onTwo { _ in }
    #expect(
      Self.verdict {
        blockingUDP(&$0)
        open(&$0)
      } == [])
    let closed = Self.onTwo {
      $0.firewall = Topology.Firewall()
      $0.firewall?.blockUDP = true
    }
    #expect(
      Self.verdict {
        blockingUDP(&$0)
        closed(&$0)
      } == ["alice's networks block UDP, so that it can use no path but a relay over TCP or TLS"])
  }

  @Test func `a network that link.move takes a peer to leads on, too`() {
    let lines = Self.verdict { scenario in
      Self.onTwo { _ in }(&scenario)
      scenario.peers[0].interfaces.removeLast()
      var entry = Self.fault("move", .linkMove, duration: nil)
      guard case .fault(var fault, _) = entry.effect else { return }
      fault.arguments.entries = [("link", Located(.text("l0"))), ("network", Located(.text("carrier")))]
      entry.effect = .fault(fault, duration: nil)
      scenario.timeline = [entry]
    }
    #expect(lines == [])
  }

  /// Bob's NAT is symmetric, and Alice has two networks.
  @Test func `NATs of several networks are blamed where no pair of them passes`() {
    func lines(_ change: @escaping (inout Topology.Network) -> Void) -> [String] {
      let second = Self.onTwo(change)
      return Self.verdict { scenario in
        scenario.topology.networks[0].firewall = nil
        scenario.topology.networks[1].nat?.map = .addressAndPort
        second(&scenario)
      }
    }
    let whys = lines { $0.nat?.map = .address }
    #expect(
      whys == [
        "alice is behind a NAT (home: mapping by endpoint-independent, filtering by address-and-port) and a symmetric NAT "
          + "(carrier: mapping by address, filtering by address-and-port), bob behind a symmetric NAT (office: mapping by "
          + "address-and-port, filtering by address-and-port)",
        "the symmetric NAT uses a port towards the peer that the other's port filter was not told of, or neither can know "
          + "the port that the other's NAT will use towards it: no direct pair can work, only a relay",
      ])
    #expect(lines { _ in }.last?.hasPrefix("the symmetric NAT uses a port towards the peer that") == true)
    #expect(lines { $0.nat?.filter = .endpointIndependent } == [])
    #expect(lines { $0.nat = nil } == [])
    let blocked = lines {
      $0.nat?.filter = .endpointIndependent
      $0.firewall = Topology.Firewall()
      $0.firewall?.blockUDP = true
    }
    #expect(blocked.last?.hasSuffix("no direct pair can work, only a relay") == true)
  }

  @Test func `peers of whom one is on the other's way out meet before its NAT`() {
    let lines = Self.verdict { scenario in
      scenario.topology.networks[0].firewall = nil
      for index in 0...1 { scenario.topology.networks[index].nat?.map = .addressAndPort }
      scenario.topology.networks[0].uplink = Located("office")
    }
    #expect(lines == [])
  }

  @Test func `where UDP is blocked the ports of TCP and TLS alone count`() {
    let lines = Self.verdict {
      $0.topology.networks[0].firewall?.blockUDP = true
      $0.topology.servers[0].ports = [.init(number: 80, transport: .tcp)]
    }
    #expect(lines.last?.hasSuffix("cannot reach the TURN server relay at port 80, 5349") == true, "\(lines)")
  }

  @Test(arguments: [false, true])
  func `a network that went in the middle of the call is told, unless ICE was restarted`(restarts: Bool) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, networks: [wifi, lte], settings: { ice-restart: \(restarts) } }
        bob: { profile: knotos, network: home }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { id: gone, at: 10s, fault: link.down, link: alice/wifi }
      expect:
        - { never: alice.ice.state == failed }
      run: 40s
      """)
    let lines = result.findings.flatMap(\.explanation)
    let line = "alice: the link alice/wifi is down since 10.00 s: no pair of lte worked, and nobody restarted ICE"
    #expect(lines.contains(line) != restarts, "\(lines)")
  }

  @Test func `faults that are active are told, and those that are over are not`() {
    let bench = JudgeBench(.ends("alice", "local-hangup")) { scenario in
      scenario.timeline = [
        Self.fault("drop", .linkDown, duration: nil), Self.fault("again", .linkUp, duration: nil),
        Self.fault("silence", .stunSilent, duration: .seconds(1)), Self.fault("reboot", .natReboot, duration: nil),
        Self.fault("hole", .linkBlackhole, duration: .seconds(90)),
      ]
    }
    for (index, id) in ["drop", "again", "silence", "reboot", "hole"].enumerated() {
      bench.apply(id, at: 1_000 + Int64(index) * 100)
    }
    bench.clear("silence", at: 2_200)
    bench.end("alice", "ice-failed", at: 9_000)
    #expect(
      bench.finish(at: 10_000).faults == [
        "link.down wifi since 1.00 s", "link.up wifi since 1.10 s", "nat.reboot wifi at 1.30 s",
        "link.blackhole wifi since 1.40 s",
      ])
  }

  @Test func `a fault that another was laid over is told again once the other has ended`() {
    let bench = JudgeBench(.ends("alice", "local-hangup")) { scenario in
      scenario.timeline = [
        Self.fault("drop", .linkDown, duration: nil), Self.fault("again", .linkUp, duration: .seconds(2)),
      ]
    }
    bench.apply("drop", at: 1_000)
    bench.apply("again", at: 2_000)
    bench.clear("again", at: 4_000)
    bench.end("alice", "ice-failed", at: 9_000)
    #expect(bench.finish(at: 10_000).faults == ["link.down wifi since 1.00 s"])
  }

  @Test func `of a fault that began several times each is over when it ended, by itself or not`() {
    let bench = JudgeBench(.ends("alice", "local-hangup")) { scenario in
      scenario.timeline = [Self.fault("flap", .linkFlap, duration: nil)]
    }
    for time in [1_000, 2_000, 3_000] as [Int64] { bench.apply("flap", at: time) }
    for time in [4_000, 5_000] as [Int64] { bench.clear("flap", at: time) }
    bench.end("alice", "ice-failed", at: 12_000)
    #expect(bench.finish(at: 13_000).faults == ["link.flap wifi since 3.00 s"])
  }

  @Test func `the direction of a fault is told once`() {
    let bench = JudgeBench(.ends("alice", "local-hangup")) { scenario in
      var entry = Self.fault("hole", .linkOneWay, duration: nil)
      guard case .fault(var fault, _) = entry.effect else { return }
      fault.arguments.entries.append(("direction", Located(.text("tx"))))
      fault.direction = .transmit
      entry.effect = .fault(fault, duration: nil)
      scenario.timeline = [entry]
    }
    bench.apply("hole", at: 1_000)
    bench.end("alice", "ice-failed", at: 9_000)
    #expect(bench.finish(at: 10_000).faults == ["link.one-way wifi tx since 1.00 s"])
  }

  @Test(arguments: [
    (701, "no answer", "was not reached: no answer"), (401, "Unauthorized", "answered 401: Unauthorized"),
    (0, "nonsense", "answered with an error without a code: nonsense"),
  ])
  func `a server that was not reached is told from one that refused`(code: Int, reason: String, said: String) {
    let bench = JudgeBench(.ends("alice", "local-hangup"))
    bench.at(1_000)
    let trace = bench.trace
    let error = PeerConnectionEvents.serverError
    trace.write(
      error, trace.subject("alice"), Endpoint("192.0.2.7:3478")!, code, reason, "turn:192.0.2.7:3478")
    bench.end("alice", "ice-failed", at: 9_000)
    #expect(bench.finish(at: 10_000).explanation.contains("alice: 192.0.2.7:3478 \(said) at 1.00 s"))
  }

  private static func fault(_ id: String, _ kind: FaultKind, duration: Interval?) -> TimelineEntry {
    var fault = Fault(kind: kind)
    fault.arguments.entries = [("link", Located(.text("wifi")))]
    var entry = TimelineEntry()
    (entry.id, entry.effect) = (id, .fault(fault, duration: duration))
    return entry
  }
}
