import CallCore
import Profiles
import SimNet
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// Faults as files write them, in whole runs.
@Suite struct RunningFaultTests {
  @Test(arguments: ["udp", "tcp"], [true, false])
  func `DTLS is dropped whatever the transport to the relay`(transport: String, isDropped: Bool) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: home, ice: { policy: relay, turn_transports: [\(transport)] } }
        bob: { profile: knotos, network: home }
      topology:
        servers: { turn: { kind: turn, transports: [udp, tcp] } }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { id: accept, when: bob.call.state == ringing, after: 1s, do: bob.accept }
        \(isDropped ? "- { at: 0s, fault: dtls.drop, from: alice }" : "")
      expect:
        - { eventually: alice.call.state == connected, within: 20s, of: accept }
      """)
    #expect(result.verdict == (isDropped ? .fail : .pass), "\(result.findings)")
  }

  @Test(arguments: ["udp", "tcp"])
  func `packets from one peer to another are dropped behind a relay, too`(transport: String) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: home, ice: { policy: relay, turn_transports: [\(transport)] } }
        bob: { profile: knotos, network: home, ice: { policy: relay, turn_transports: [\(transport)] } }
      topology:
        servers: { turn: { kind: turn, transports: [udp, tcp] } }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { id: hole, at: 8s, fault: packet.drop, protocol: rtp, from: alice, to: bob, for: 2s }
        - { at: 20s, do: alice.hangup }
      expect:
        - { recovers: hole, to: media-both-ways, within: 4s }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  /// Timelines that ask for one address more than a prefix has, with that prefix and one that has enough.
  private static let tight: [(timeline: String, prefix: String, enough: String)] = [
    ("link.move, link: lb, network: spot", "10.1.0.0/30", "10.1.0.0/29"),
    ("link.move, link: lb, network: spot", "fd00:1::/127", "fd00:1::/126"),
    (
      "link.move, link: la, network: den }\n  - { at: 6s, fault: link.move, link: lb, network: spot", "10.1.0.0/30",
      "10.1.0.0/29"
    ),
    ("nat.reboot, network: den, address: new", "203.0.113.0/29", "203.0.113.0/28"),
    ("clock.jump, peer: alice, by: 1s", "203.0.113.0/30", "203.0.113.0/29"),
  ]

  @Test(arguments: tight) func `a network has an address for everybody who is ever on it, or the file is refused`(
    timeline: String, prefix: String, enough: String
  ) throws {
    func text(_ wanted: String) -> String {
      let text = """
        callsim: 1
        id: test
        run: 12s
        topology:
          turn: true
          networks:
            internet: { cidr: 203.0.113.0/24 }
            spot: { cidr: [10.1.0.0/24, "fd00:1::/64"], nat: { to: internet } }
            den: { cidr: [10.2.0.0/24, "fd00:2::/64"], nat: { to: internet } }
          links:
            la: { from: alice, to: spot }
            lb: { from: bob, to: den }
        peers:
          alice: { profile: knotos }
          bob: { profile: knotos }
        timeline:
          - { at: 1s, do: alice.call, to: bob }
          - { at: 2s, do: bob.accept }
          - { at: 5s, fault: \(timeline) }
        expect:
          - { eventually: bob.call.state == connected }
        """
      let given = ["203.0.113.0/24", "10.1.0.0/24", "fd00:1::/64"].first { $0.hasPrefix(wanted.prefix(6)) } ?? ""
      return text.replacing(given, with: wanted)
    }
    let registry = ProfileCatalogue.builtIn.registry
    let refused = ScenarioFile.load(text: text(prefix), path: "test.yaml", registry: registry).report
    #expect(refused.diagnostics.map(\.code) == [.tooFewAddresses])
    #expect(try play(text(enough)).findings.filter { $0.kind != .vacuous } == [])
  }

  /// The file says so where nothing else on the timeline moves addresses, and the run where something does.
  @Test(arguments: 2...7) func `a router is given no address that another has`(number: Int) throws {
    let isTaken = [3, 4, 5].contains(number)
    for rest in ["", "- { at: 9s, fault: nat.reboot, network: bob/wifi, address: new }"] {
      let text = """
        callsim: 1
        id: test
        topology: { networks: { internet: { cidr: 203.0.113.0/24 } } }
        peers:
          alice: { profile: knotos, network: wifi }
          bob: { profile: knotos, network: wifi }
        timeline:
          - { at: 1s, do: alice.call, to: bob }
          - { at: 2s, do: bob.accept }
          - { id: moved, at: 5s, fault: nat.reboot, network: alice/wifi, address: 203.0.113.\(number) }
          \(rest)
          - { at: 12s, do: alice.hangup }
        expect:
          - { eventually: bob.call.state == connected }
        """
      if rest.isEmpty {
        let loaded = ScenarioFile.load(text: text, path: "test.yaml", registry: ProfileCatalogue.builtIn.registry)
        #expect(loaded.diagnostics.map(\.code) == (isTaken ? [.wrongRouter] : []), "\(loaded.diagnostics)")
        if isTaken { continue }
      }
      let result = try play(text)
      #expect(result.verdict == (isTaken ? .vacuous : .pass), "\(result.findings)")
      guard isTaken else { continue }
      #expect(result.findings.map(\.location) == ["test.yaml:10:11"])
      let remedy = "name one that is free then, or write address: new"
      #expect(result.findings.map(\.actual) == ["that address is taken at 5.00 s: \(remedy)"])
    }
  }

  @Test func `turn: true adds a relay by UDP, whatever other relays there are`() throws {
    for (servers, peer) in [
      ("", ""), (", servers: { relay: { kind: turn, transports: [tls] } }", ""),
      (", servers: { relay: { kind: turn, transports: [tcp] } }", "[turn]"),
    ] {
      let own = peer.isEmpty ? "" : ", servers: \(peer)"
      let result = try play(
        """
        callsim: 1
        id: test
        topology: { turn: true\(servers) }
        peers:
          alice: { profile: knotos, network: home, ice: { policy: relay\(own) } }
          bob: { profile: knotos, network: home }
        timeline:
          - { at: 1s, do: alice.call, to: bob }
          - { id: accept, at: 2s, do: bob.accept }
          - { at: 12s, do: alice.hangup }
        expect:
          - { eventually: alice.selected.relayProtocol == udp, of: accept, within: 5s }
        """)
      #expect(result.verdict == .pass, "\(result.findings)")
    }
  }

  private static let ways = ["direct", "udp", "tcp"]

  /// Alice talks with Bob, directly or through relays on both sides.
  private func talk(_ way: String, _ faults: [String], expect: [String]) throws -> RunResult {
    let policy = way == "direct" ? "" : ", ice: { policy: relay, turn_transports: [\(way)] }"
    return try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: home\(policy) }
        bob: { profile: knotos, network: home\(policy) }
      topology:
        servers: { turn: { kind: turn, transports: [udp, tcp] } }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { at: 2s, do: bob.accept }
      \(faults.map { "  - { at: 5s, fault: packet.drop, protocol: rtp, from: alice, \($0) }" }.joined(separator: "\n"))
        - { at: 12s, do: alice.hangup }
      expect:
      \(expect.map { "  - { \($0) }" }.joined(separator: "\n"))
      """)
  }

  private static func lost(_ number: Int) -> String {
    "metric: bob.stats.inbound-rtp.audio.packetsLost, stat: last, window: [4s, 10s], eq: \(number)"
  }

  @Test(arguments: ways) func `a fault whose packets an older one drops meets nothing`(way: String) throws {
    let result = try talk(way, ["nth: 1", "id: second, nth: 1"], expect: [Self.lost(1)])
    #expect(result.verdict == .vacuous)
    #expect(result.findings.map(\.title) == ["timeline entry 'second'"])
    #expect(
      result.findings.allSatisfy { $0.actual.contains("an older fault dropped its packets") }, "\(result.findings)")
  }

  @Test(arguments: ways) func `what a rule drops at its receiver has not reached it`(way: String) throws {
    let window = "stat: delta, window: [5s, 6s], eq:"
    let result = try talk(
      way, ["to: bob, count: 10"],
      expect: [
        Self.lost(10), "metric: \"wire.media(from: alice, to: bob)\", \(window) 40",
        "metric: \"wire.media(to: bob)\", \(window) 40", "metric: \"wire.media(from: alice)\", \(window) 50",
      ])
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  /// Alice talks with Bob first, then with Carol.
  private func recovery(_ fault: String) throws -> RunResult {
    try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
        carol: { profile: knotos, network: wifi }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { at: 8s, do: alice.hangup }
        - { at: 12s, do: alice.call, to: carol }
        - { when: carol.call.state == ringing, after: 1s, do: carol.accept }
        - { id: hole, at: 20s, fault: link.blackhole, link: alice/wifi, for: 2s }
        - { at: 30s, do: alice.hangup }
        \(fault)
      expect:
        - { recovers: hole, to: media-both-ways, within: 6s }
      """)
  }

  @Test func `media both ways are those of the call that there is, not of one before`() throws {
    let result = try recovery("")
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `media that one side of the call never got are not there to be lost`() throws {
    let result = try recovery("- { at: 11s, fault: packet.drop, protocol: rtp, from: alice, to: carol }")
    #expect(result.verdict == .vacuous)
    #expect(result.findings.contains { $0.actual.contains("carol never received media") }, "\(result.findings)")
  }

  @Test func `a router with a NAT lets IPv6 in as an answer only, unless the file says otherwise`() {
    var network = Topology.Network()
    network.nat = Topology.NAT()
    network.prefixes = [Located(IPPrefix("192.168.1.0/24")!)]
    #expect(FirewallRules(of: network) == nil)
    network.prefixes.append(Located(IPPrefix("2001:db8:1::/64")!))
    #expect(FirewallRules(of: network) == .statefulIPv6)
    network.firewall = Topology.Firewall()
    #expect(FirewallRules(of: network) == .stateful)
    network.firewall?.inbound = .everything
    #expect(FirewallRules(of: network) == .open)
    network.firewall = nil
    network.nat = nil
    #expect(FirewallRules(of: network) == nil)
  }

  @Test func `a relay whose client was refused for its credentials is no leftover`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      topology:
        networks:
          alice/home: { cidr: 192.168.1.0/24, nat: {} }
          bob/home: { cidr: 192.168.2.0/24, nat: {} }
        links:
          alice/home: { from: alice, to: alice/home }
          bob/home: { from: bob, to: bob/home }
        servers: { turn: { kind: turn } }
      peers: { alice: { profile: knotos }, bob: { profile: knotos } }
      timeline:
        - { at: 0s, fault: turn.reject, server: turn, request: create-permission, code: 401, for: 5s }
        - { at: 1s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, do: bob.accept }
        - { at: 10s, do: alice.hangup }
      expect: invariants
      """)
    #expect(!result.findings.contains { $0.title == "quiescence" }, "\(result.findings)")
  }

  @Test func `a relay whose release is refused when the client has gone is no leftover`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      topology:
        networks:
          alice/home: { cidr: 192.168.1.0/24, nat: {} }
          bob/home: { cidr: 192.168.2.0/24 }
        links:
          alice/home: { from: alice, to: alice/home }
          bob/home: { from: bob, to: bob/home }
        servers: { turn: { kind: turn } }
      peers: { alice: { profile: knotos }, bob: { profile: knotos } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, do: bob.accept }
        - { after: 0s, of: bob.call.state.connected, do: alice.hangup }
        - { at: 0s, fault: link.set, link: alice/home, delay: 1s }
        - { after: 0s, of: alice.call.state.connected, fault: turn.stale-nonce, server: turn }
      expect: invariants
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test(arguments: ["stun", "dtls", "rtp", "rtcp"], ["wifi", "home"])
  func `packets of a stranger change nothing`(content: String, network: String) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers: { alice: { profile: knotos, network: \(network) }, bob: { profile: knotos, network: \(network) } }
      timeline:
        - { at: 0s, fault: packet.forge, protocol: \(content), to: bob }
        - { at: 0s, do: alice.call, to: bob }
        - { id: accept, when: bob.call.state == ringing, do: bob.accept }
        - { at: 12s, do: alice.hangup }
      expect:
        - { eventually: alice.call.state == connected and bob.call.state == connected, within: 1s, of: accept }
        - { ends: bob, code: remote-hangup }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `a forged packet that is lost meets nothing`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers: { alice: { profile: knotos, network: home }, bob: { profile: knotos, network: home } }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, do: bob.accept }
        - { at: 5s, fault: packet.forge, protocol: rtp, to: bob, count: 1, for: 50ms }
        - { at: 5001ms, fault: link.set, link: bob/home, direction: rx, loss: 100%, for: 100ms }
        - { at: 9s, do: alice.hangup }
      expect:
        - { eventually: alice.call.state == connected, within: 5s }
      """)
    #expect(result.verdict == .vacuous, "\(result.findings)")
  }
}
