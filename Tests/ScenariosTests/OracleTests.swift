import CallCore
import Profiles
import SimNet
import Testing
import VirtualPeer

@testable import Scenarios

/// What is judged without asking the app, in whole runs.
@Suite struct OracleTests {
  private func load(_ text: String) -> (scenario: ScenarioFile?, problems: String) {
    let loaded = ScenarioFile.load(text: text, path: "test.yaml", registry: ProfileCatalogue.builtIn.registry)
    return (loaded.scenario, loaded.report.rendered(as: .text(color: false)))
  }

  private func call(topology: String = "", alice: String, bob: String, timeline: String = "", expect: String) -> String
  {
    """
    callsim: 1
    id: test
    \(topology)
    peers:
      alice: { profile: knotos, \(alice) }
      bob: { profile: knotos, \(bob) }
      carol: { profile: knotos, network: home }
    timeline:
      - { at: 1s, do: alice.call, to: bob }
      - { id: accept, when: bob.call.state == ringing, after: 1s, do: bob.accept }
    \(timeline)
    expect:
    \(expect)
    """
  }

  // MARK: The wire

  private static let ways: [(name: String, topology: String, network: String)] = [
    ("NATs", "", "network: home"),
    (
      "a relay over UDP", "topology: { servers: { relay: { kind: turn, transports: [udp] } } }",
      "network: home, ice: { policy: relay }"
    ),
    (
      "a relay over TCP", "topology: { servers: { relay: { kind: turn, transports: [udp, tcp] } } }",
      "network: office/udp-blocked, ice: { turn_transports: [tcp] }"
    ),
    (
      "a relay over TLS 1.3", "topology: { servers: { relay: { kind: turn, transports: [tls], tls: { port: 443 } } } }",
      "network: office/udp-blocked"
    ),
    (
      "a relay over TLS 1.2",
      "topology: { servers: { relay: { kind: turn, transports: [udp, tls], tls: { port: 443, version: 1.2 } } } }",
      "network: office/udp-blocked"
    ),
  ]

  @Test(arguments: ways.map(\.name))
  func `media is known again where it arrives, in both directions`(way: String) throws {
    let (_, topology, network) = try #require(Self.ways.first { $0.name == way })
    let result = try play(
      call(
        topology: topology, alice: network, bob: network,
        timeline: "  - { id: bye, after: 10s, of: bob.connected, do: alice.hangup }",
        expect: """
            - { eventually: "wire.media(from: bob, to: alice) > 400 and wire.media(from: alice, to: bob) > 400", within: 12s, of: accept }
            - { eventually: "wire.media(to: alice) > 400", within: 12s, of: accept }
            - { never: "wire.media(from: alice, to: carol) > 0 or wire.media(to: carol) > 0", until: bye }
            - { never: "wire.media(from: alice, to: alice) > 0", until: bye }
            - { eventually: "wire.packets(from: bob, to: alice) > 400 and wire.bytes(from: bob, to: alice) > 4000", within: 12s, of: accept }
            - { never: "wire.packets(from: bob, to: carol) > 0 or wire.cleartext(from: bob, to: alice) > 0", until: bye }
            - { ends: bob, code: remote-hangup, within: 1s, of: bye }
          """))
    #expect(result.verdict == .pass, "\(way): \(result.findings)")
  }

  /// Bob's link has a name, so that faults can hit it.
  private static let officeBehindAWire = """
    topology:
      networks:
        internet: { cidr: 203.0.113.0/24 }
        office: { cidr: 10.1.0.0/16, nat: { to: internet } }
      links:
        wire: { from: bob, to: office, delay: 5ms }
    """

  @Test func `what is lost on the way left its sender and reached nobody`() throws {
    let result = try play(
      call(
        topology: Self.officeBehindAWire,
        alice: "network: home", bob: "why: behind a line that fails",
        timeline: """
            - { id: cut, after: 5s, of: bob.connected, fault: link.blackhole, link: wire }
            - { id: bye, after: 5s, of: cut, do: alice.hangup }
          """,
        expect: """
            - { never: "wire.media(from: alice, to: bob) > 350", until: bye }
            - { eventually: "wire.media(from: alice) > 400", within: 5s, of: cut }
          """))
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test(arguments: ["from", "to"])
  func `a puppet is on no wire, and whoever asks is told so`(end: String) {
    let (scenario, problems) = load(
      """
      callsim: 1
      id: test
      peers:
        victim: { profile: knotos, network: home }
        mallory: { stack: puppet }
      timeline:
        - { at: 1s, send: call_offer, from: mallory, to: victim, fields: { callId: m1, offer: "v=0" } }
      expect:
        - { never: "wire.media(\(end): mallory) > 0" }
      """)
    #expect(scenario == nil)
    #expect(problems.contains("the puppet 'mallory' is on no wire"), "\(problems)")
  }

  // MARK: Quiescence

  @Test func `a run that ends while a link is down leaves nothing behind`() throws {
    let result = try play(
      call(
        topology: Self.officeBehindAWire,
        alice: "network: home", bob: "why: at the end of a line",
        timeline: """
            - { id: bye, after: 3s, of: accept, do: alice.hangup }
            - { id: cut, after: 2s, of: bye, fault: link.down, link: wire }
          """,
        expect: "  - { eventually: bob.socket.state != connected, within: 60s, of: cut }"))
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test(arguments: ["nat.reboot", "nat.remap"])
  func `an allocation that the client cannot reach any more is not its fault`(fault: String) throws {
    let result = try play(
      call(
        topology: """
          topology:
            networks:
              internet: { cidr: 203.0.113.0/24 }
              house: { cidr: 192.168.7.0/24, nat: { to: internet, ports: random } }
            links:
              wire: { from: alice, to: house, delay: 5ms }
            servers: { relay: { kind: turn } }
          """,
        alice: "ice: { policy: relay }", bob: "network: home",
        timeline: """
            - { id: lost, after: 5s, of: accept, fault: \(fault), network: house }
            - { id: bye, after: 40s, of: lost, do: alice.hangup }
          """,
        expect: "  - { eventually: alice.call.state == ended, within: 41s, of: lost }"))
    #expect(result.findings.allSatisfy { $0.title != "quiescence" }, "\(result.findings)")
  }

  @Test func `what a call holds is left over until its apps are shut down, each with its owner`() throws {
    let (file, problems) = load(
      call(
        topology: "topology: { servers: { relay: { kind: turn, transports: [tcp] } } }",
        alice: "network: home, ice: { policy: relay }", bob: "network: home, ice: { policy: relay }",
        expect: "  - { eventually: alice.call.state == connected, within: 10s, of: accept }"))
    let scenario = try #require(file?.cells.first?.scenario, "\(problems)")
    let watch = Watch(trace: Trace())
    defer { watch.close() }
    let paths = RelayPaths(watch: watch)
    let simulator = Simulator(trace: watch.trace, random: RandomSource(seed: 1))
    let world = try World(scenario: scenario, simulator: simulator)
    try WorldBuilder(scenario: scenario, profiles: .builtIn, outputs: RunOutputs(), world: world).build()
    try world.start()
    let (alice, bob) = (try #require(world.peer("alice")), try #require(world.peer("bob")))
    simulator.run(until: .zero + .seconds(1))
    alice.perform(UserAction("call", NamedValues([("to", .text("bob"))])))
    simulator.run(until: .zero + .seconds(2))
    bob.perform(UserAction("accept", NamedValues([])))
    simulator.run(until: .zero + .seconds(6))
    let lines = world.leftovers(paths)
    for what in ["timer", "1 peer connection", "socket", "stream", "microphone and speaker", "audio session"] {
      for peer in ["alice", "bob"] {
        #expect(lines.contains { $0.hasPrefix("\(peer): ") && $0.contains(what) }, "\(what) of \(peer): \(lines)")
      }
    }
    #expect(lines.count { $0.hasPrefix("relay: the allocation of ") } == 2, "\(lines)")
    world.shutDownPeers()
    simulator.run(until: .zero + .seconds(16))
    #expect(world.leftovers(paths) == [])
  }

  @Test func `packets that a long queue still holds are nobody's fault`() throws {
    let result = try play(
      call(
        topology: """
          topology:
            networks:
              internet: { cidr: 203.0.113.0/24 }
              office: { cidr: 10.1.0.0/16, nat: { to: internet } }
            links:
              wire: { from: bob, to: office, delay: 5ms, tx: { rate: 20kbps, queue: { time: 60s } } }
          """,
        alice: "network: home", bob: "why: at the end of a slow line",
        timeline: "  - { id: bye, after: 20s, of: accept, do: bob.hangup }",
        expect: "  - { eventually: bob.call.state == ended, within: 1s, of: bye }"))
    #expect(result.findings.allSatisfy { $0.title != "quiescence" }, "\(result.findings)")
  }

  // MARK: Explanations

  @Test func `what a TURN server throws away is in the explanation, with the reason`() throws {
    let result = try play(
      call(
        topology: "topology: { servers: { relay: { kind: turn, permission_lifetime: 30s } } }",
        alice: "network: home, ice: { policy: relay }", bob: "network: home",
        expect: "  - { always: bob.audible, between: [10s, 60s] }"))
    let explanation = result.findings.flatMap(\.explanation).joined(separator: "\n")
    #expect(explanation.contains("at relay (no-permission, last"), "\(explanation)")
  }

  @Test func `a TURN server whose port is not let out is named with the port`() throws {
    let result = try play(
      call(
        topology: """
          topology:
            networks:
              internet: { cidr: 203.0.113.0/24 }
              strict: { cidr: 192.168.7.0/24, nat: { to: internet, map: address-and-port }, firewall: { block_udp: true, allow_ports: [443] } }
            links:
              wire: { from: alice, to: strict, delay: 5ms }
            servers: { relay: { kind: turn, transports: [udp, tcp] } }
          """,
        alice: "why: at work", bob: "network: carrier/symmetric",
        expect: "  - { eventually: alice.call.state == connected, within: 20s, of: accept }"))
    let explanation = result.findings.flatMap(\.explanation).joined(separator: "\n")
    #expect(explanation.contains("lets out to port 443 only"), "\(explanation)")
    #expect(explanation.contains("cannot reach the TURN server relay at port 3478"), "\(explanation)")
  }
}
