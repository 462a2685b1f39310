import CallCore
import DTLS
import Profiles
import SimNet
import Testing
import Vocabulary

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import VirtualPeer

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

  private static let aroundTheHangup: [String] =
    [
      "link.blackhole, link: wire", "link.set, link: wire, loss: 100%", "firewall.block, network: house, protocol: udp",
      "stun.silent, server: relay", "packet.drop, protocol: turn",
    ] + [400, 437, 438, 486, 500].map { "turn.reject, server: relay, code: \($0), request: refresh" }

  private static let overConnections = ["stun.silent, server: relay", "link.blackhole, link: wire"]

  /// Over connections also when the hangup comes long after the fault, between two retransmissions of TCP.
  @Test(
    arguments: aroundTheHangup.map { ($0, "[udp]", "100ms") }
      + overConnections.flatMap { fault in
        ["[tcp]", "[tls]"].flatMap { transport in ["100ms", "12s", "13s"].map { (fault, transport, $0) } }
      })
  func `an allocation that a fault keeps the client from giving back is not its fault`(
    fault: String, transports: String, wait: String
  ) throws {
    let result = try play(
      call(
        topology: """
          topology:
            networks:
              internet: { cidr: 203.0.113.0/24 }
              house: { cidr: 192.168.7.0/24, nat: { to: internet } }
            links:
              wire: { from: alice, to: house, delay: 5ms }
            servers: { relay: { kind: turn, transports: \(transports) } }
          """,
        alice: "ice: { policy: relay }", bob: "network: home",
        timeline: """
            - { id: lost, after: 9900ms, of: accept, fault: \(fault) }
            - { id: bye, after: \(wait), of: lost, do: alice.hangup }
          """,
        expect: "  - { eventually: alice.call.state == ended, within: 1s, of: bye }"))
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  private func relayedCall(_ transports: String) throws -> RelayedCall {
    let (file, problems) = load(
      call(
        topology: "topology: { servers: { relay: { kind: turn, transports: \(transports) } } }",
        alice: "network: home, ice: { policy: relay }", bob: "network: home, ice: { policy: relay }",
        expect: "  - { eventually: alice.call.state == connected, within: 10s, of: accept }"))
    return try RelayedCall(#require(file?.cells.first?.scenario, "\(problems)"))
  }

  @Test func `a client gives back a relay that cannot hear it once it lets go, and not before`() throws {
    let call = try relayedCall("[udp]")
    call.world.turnServer("relay")?.isSilent = true
    call.simulator.run(until: .zero + .seconds(9))
    #expect(call.keptRelays.count == 2, "\(call.keptRelays)")
    call.world.shutDownPeers()
    call.simulator.run(until: .zero + .seconds(19))
    #expect(call.keptRelays == [])
  }

  @Test(arguments: ["[tcp]", "[tls]"])
  func `a relay over a connection is left over while the connection is`(transports: String) throws {
    let call = try relayedCall(transports)
    func streams() -> [String] { call.world.leftovers(call.paths).filter { $0.hasSuffix("streams left") } }
    #expect(streams() == ["alice: 2 streams left", "bob: 2 streams left"])
    #expect(call.keptRelays == [])
    call.world.shutDownPeers()
    call.simulator.run(until: .zero + .seconds(16))
    #expect(streams() == [])
  }

  /// What a client hears of its relay and does for it, and whether the relay is left by it.
  private struct Farewell: CustomTestStringConvertible {
    /// A message, and the second at which it crosses the interface.
    enum Said {
      case allocated
      case renews(UInt64, at: Int64)
      case gives(UInt64)
      case answered(UInt64)
    }

    let testDescription: String
    var isRefused = false
    let said: [Said]
    let isLeft: Bool
  }

  private static let farewells = [
    Farewell(testDescription: "it says nothing", said: [.allocated], isLeft: true),
    Farewell(testDescription: "it was never told of it", said: [], isLeft: false),
    Farewell(
      testDescription: "it says so once, and packets get lost", said: [.allocated, .gives(1)], isLeft: true),
    Farewell(
      testDescription: "it repeats it, and nobody answers", said: [.allocated, .gives(1), .gives(1), .gives(1)],
      isLeft: false),
    Farewell(
      testDescription: "it repeats it, and is answered", said: [.allocated, .gives(1), .gives(1), .answered(1)],
      isLeft: true),
    Farewell(
      testDescription: "it begins anew when it is refused, and nobody answers",
      said: [.allocated, .gives(1), .answered(1), .gives(2), .gives(2)], isLeft: false),
    Farewell(
      testDescription: "it begins anew once only", said: [.allocated, .gives(1), .gives(1), .answered(1), .gives(2)],
      isLeft: true),
    Farewell(
      testDescription: "a fault refuses its Refresh", isRefused: true, said: [.allocated, .renews(1, at: 20)],
      isLeft: false),
    Farewell(
      testDescription: "its renewal is not answered until it gives up",
      said: [.allocated, .renews(1, at: 20), .renews(1, at: 21)], isLeft: false),
    Farewell(
      testDescription: "its renewal is answered",
      said: [.allocated, .renews(1, at: 20), .renews(1, at: 21), .answered(1)], isLeft: true),
    Farewell(
      testDescription: "its renewal is still waited for", said: [.allocated, .renews(1, at: 21), .renews(1, at: 22)],
      isLeft: true),
  ]

  @Test(arguments: farewells)
  private func `a client answers for its relay by what it was told and has sent`(of farewell: Farewell) throws {
    let bench = try RelayBench()
    defer { bench.close() }
    let client = try #require(Endpoint("192.0.2.1:5000"))
    bench.open(for: client)
    for said in farewell.said {
      switch said {
      case .allocated: bench.tell(.allocated, 0, by: client, at: 1)
      case .renews(let transaction, let second):
        bench.tell(.refresh(seconds: nil), transaction, by: client, at: second)
      case .gives(let transaction): bench.tell(.refresh(seconds: 0), transaction, by: client, at: 59)
      case .answered(let transaction): bench.tell(.refreshAnswered, transaction, by: client, at: 60)
      }
    }
    #expect(bench.isLeft(by: client, isRefused: farewell.isRefused) == farewell.isLeft)
  }

  @Test(arguments: [("192.168.1.2:5000", false), ("192.168.1.3:5000", true)])
  func `only the client's own mapping takes its way to the relay, where ports are overloaded`(
    removed: String, isLeft: Bool
  ) throws {
    let bench = try RelayBench()
    defer { bench.close() }
    let outside = try #require(Endpoint("198.51.100.1:40000"))
    let client = try #require(Endpoint("192.168.1.2:5000"))
    let other = try #require(Endpoint("192.168.1.3:5000"))
    let (trace, nat) = (bench.trace, bench.trace.subject("nat"))
    trace.write(NetworkEvents.mappingCreated, nat, "udp", client, outside)
    bench.open(for: outside)
    trace.write(NetworkEvents.mappingCreated, nat, "udp", other, outside)
    bench.tell(.allocated, 0, by: client, at: 1)
    trace.write(NetworkEvents.mappingRemoved, nat, "expired", "udp", try #require(Endpoint(removed)), outside)
    #expect(bench.isLeft(by: outside) == isLeft)
  }

  @Test func `what a call holds is left over until its apps are shut down, each with its owner`() throws {
    let call = try relayedCall("[udp]")
    let lines = call.world.leftovers(call.paths)
    for what in ["timer", "1 peer connection", "socket", "stream", "microphone and speaker", "audio session"] {
      for peer in ["alice", "bob"] {
        #expect(lines.contains { $0.hasPrefix("\(peer): ") && $0.contains(what) }, "\(what) of \(peer): \(lines)")
      }
    }
    #expect(call.keptRelays.count == 2, "\(lines)")
    call.world.shutDownPeers()
    call.simulator.run(until: .zero + .seconds(16))
    #expect(call.world.leftovers(call.paths) == [])
  }

  @Test func `an allocation of which a client hears when its socket is closed is not the client's to answer for`()
    throws
  {
    let result = try play(
      """
      callsim: 1
      id: test
      topology: { servers: { relay: { kind: turn, delay: 3s } } }
      peers:
        alice: { profile: knotos, network: home }
        bob: { profile: knotos, network: home }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { id: bye, at: 5s, do: alice.hangup }
      expect:
        - { ends: alice, code: local-hangup, within: 1s, of: bye }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test(arguments: ["knotos", "connectycube"])
  func `a call by CallKit that stands at the end of the run breaks nothing`(profile: String) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: \(profile), network: internet, settings: { callkit: true } }
        bob: { profile: \(profile), network: internet, settings: { callkit: true } }
      run: 12s
      timeline:
        - { id: call, at: 5s, do: alice.call, to: bob }
        - { after: 2s, of: call, do: bob.accept }
      expect: invariants
      """)
    #expect(result.findings.map(\.actual) == [])
  }

  @Test(arguments: ["missing", "damaged"])
  func `a hangUp that does not say who placed the call ends it all the same`(mutation: String) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: connectycube, network: internet }
        bob: { profile: connectycube, network: internet }
      timeline:
        - { at: 0s, fault: signal.corrupt, message: hangUp, field: callerID, mutation: \(mutation) }
        - { at: 1s, fault: signal.delay, message: call, to: bob, by: 4s }
        - { at: 2s, do: alice.call, to: bob }
        - { at: 3s, do: alice.hangup }
      expect:
        - { never: bob.session.state == pending }
      """)
    #expect(result.findings.map(\.actual) == [])
  }

  @Test(arguments: [("connectycube", "call"), ("knotos", "call_offer")])
  func `an app that is launched anew knows of no call that was over`(profile: String, offer: String) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: \(profile), network: internet }
        bob: { profile: \(profile), network: internet }
      run: 25s
      timeline:
        - { at: 2s, do: alice.call, to: bob }
        - { at: 5s, do: alice.hangup }
        - { at: 7s, fault: device.kill, peer: bob, for: 2s }
        - { at: 15s, send: \(offer), from: alice, to: bob, like: \(offer) }
      expect: invariants
      """)
    #expect(result.findings.map(\.actual) == [])
  }

  @Test func `media that come just before the keys are not those that are taken with them`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: connectycube, video: { size: 160x120 }, network: wifi }
        bob: { profile: connectycube, video: {}, network: wifi }
      timeline:
        - { at: 3s, do: alice.call, to: [bob] }
        - { after: 1s, when: bob.session.state == pending, do: bob.accept }
        - { at: 0s, fault: dtls.drop, flight: 6, count: 1 }
      expect: invariants
      """, seed: 10)
    #expect(result.findings.map(\.actual) == [])
  }

  @Test func `a description is not forgotten behind a thousand messages that are under way`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: connectycube, network: home }
        bob: { profile: connectycube, network: home }
        carol: { profile: connectycube, network: home }
        mallory: { stack: puppet }
      timeline:
        - { at: 1s, do: alice.call, to: [bob, carol] }
        - { when: bob.session.state == pending, do: bob.accept }
        - { when: carol.session.state == pending, after: 1s, do: carol.accept }
        - { at: 2s, fault: link.set, link: bob/home, delay: 2s, for: 4s }
        - of: carol.session.state.connecting
          every: 1ms
          times: 1500
          send: reject
          from: mallory
          to: bob
          like: call
        - { at: 12s, do: alice.hangup }
      expect: invariants
      """)
    #expect(result.findings.map(\.actual) == [])
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

/// A call of two peers with relays only, four seconds after it was accepted.
private final class RelayedCall {
  let simulator: Simulator
  let world: World
  let paths: RelayPaths
  private let watch = Watch(trace: Trace())
  private let wire = WireTap()

  init(_ scenario: Scenario) throws {
    let secrets = TLSSecrets()
    paths = RelayPaths(watch: watch, wire: wire)
    simulator = Simulator(trace: watch.trace, random: RandomSource(seed: 1))
    world = try World(scenario: scenario, simulator: simulator)
    var outputs = RunOutputs()
    outputs.tap = WireReader(wire, peers: ["alice", "bob"], secrets: secrets)
    try WorldBuilder(scenario: scenario, profiles: .builtIn, outputs: outputs, secrets: secrets, world: world).build()
    try world.start()
    simulator.run(until: .zero + .seconds(1))
    try #require(world.peer("alice")).perform(UserAction("call", NamedValues([("to", .text("bob"))])))
    simulator.run(until: .zero + .seconds(2))
    try #require(world.peer("bob")).perform(UserAction("accept", NamedValues([])))
    simulator.run(until: .zero + .seconds(6))
  }

  deinit {
    wire.close()
    watch.close()
  }

  /// What is left over of relays.
  var keptRelays: [String] { world.leftovers(paths).filter { $0.hasPrefix("relay: the allocation of ") } }
}

/// A relay of Alice's, and what judges whose doing it is that it is still there.
private struct RelayBench {
  let trace = Trace()
  private let watch: Watch
  private let wire = WireTap()
  private let paths: RelayPaths
  private let server: Endpoint
  private let relayed: Endpoint

  init() throws {
    watch = Watch(trace: trace)
    paths = RelayPaths(watch: watch, wire: wire)
    server = try #require(Endpoint("203.0.113.2:3478"))
    relayed = try #require(Endpoint("203.0.113.2:50000"))
  }

  func close() {
    wire.close()
    watch.close()
  }

  /// The server opens the relay for whom it sees.
  func open(for client: Endpoint) {
    let opened = ServerEvents.relayOpened
    trace.write(opened, trace.subject("relay"), relayed, client, "alice")
  }

  /// The wire carries a message between the device and the server.
  func tell(_ message: WireAllocation.Message, _ transaction: UInt64, by device: Endpoint, at second: Int64) {
    wire.tell(
      WireAllocation(
        message: message, client: device, server: server, transaction: transaction, time: .zero + .seconds(second)))
  }

  /// Whether the client has left the relay, after a minute.
  func isLeft(by client: Endpoint, isRefused: Bool = false) -> Bool {
    var allocation = TURNServerHost.Allocation(
      relay: relayed, client: client, server: server, isUDP: true, username: "alice")
    allocation.isRefreshRefusedByFault = isRefused
    return paths.isLeftByClient(allocation, at: .zero + .seconds(60))
  }
}
