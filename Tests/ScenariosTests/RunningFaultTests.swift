import CallCore
import Profiles
import SimNet
import Testing

@testable import Scenarios

/// Faults as files write them, in whole runs.
@Suite struct RunningFaultTests {
  private func run(_ text: String) throws -> RunResult {
    let profiles = ProfileCatalogue.builtIn
    let loaded = ScenarioFile.load(text: text, path: "test.yaml", registry: profiles.registry)
    let file = try #require(loaded.scenario, "\(loaded.report.rendered(as: .text(color: false)))")
    return try SingleRun(cell: file.cells[0], seed: 1, path: "test.yaml", profiles: profiles).execute()
  }

  @Test(arguments: ["udp", "tcp"], [true, false])
  func `DTLS is dropped whatever the transport to the relay`(transport: String, isDropped: Bool) throws {
    let result = try run(
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
    let result = try run(
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

  /// Alice talks with Bob first, then with Carol.
  private func recovery(_ fault: String) throws -> RunResult {
    try run(
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
}
