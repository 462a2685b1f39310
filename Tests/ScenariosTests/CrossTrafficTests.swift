import CallCore
import Testing

@testable import ScenarioJudge
@testable import ScenarioRun

/// What other apps of a device load and send beside its calls.
@Suite struct CrossTrafficTests {
  /// Plays a call of ten seconds on a link of 2 Mbit/s, with other apps of Alice's device from 5 s on.
  private func play(
    _ traffic: String, on network: String = "wifi", timeline: String = "", expect: String
  ) throws -> RunResult {
    try ScenariosTests.play(
      """
      callsim: 1
      id: t
      media: synthetic
      peers:
        alice: { profile: knotos, network: \(network) }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 0s, fault: link.set, link: alice/\(network), rate: 2Mbps, queue: 300ms }
        - { at: 1s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 500ms, do: bob.accept }
        - { id: traffic, at: 5s, fault: device.traffic, peer: alice, \(traffic) }
        - { mark: full, at: 8s }
      \(timeline)
        - { id: bye, at: 15s, do: alice.hangup }
      expect:
      \(expect)
      """)
  }

  @Test(arguments: [("tx", "bob"), ("rx", "alice")])
  func `several connections without end fill the queue in their direction alone`(direction: String, hearer: String)
    throws
  {
    let other = hearer == "bob" ? "alice" : "bob"
    let result = try play(
      "direction: \(direction), flows: 3",
      expect: """
          - { metric: \(hearer).q.mouth_to_ear, stat: p50, window: [full, bye], gt: 200ms }
          - { metric: \(other).q.mouth_to_ear, stat: p50, window: [full, bye], lt: 200ms }
        """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test(arguments: ["wifi", "carrier/symmetric", "office/udp-blocked"])
  func `it crosses NATs and firewalls`(network: String) throws {
    let result = try play(
      "direction: tx, size: 200kB", on: network, expect: "  - { eventually: bob.call.state == ended }")
    #expect(!result.findings.contains { $0.title == "timeline entry 'traffic'" }, "\(result.findings)")
  }

  @Test func `it goes by IPv6 where there is nothing else`() throws {
    let result = try ScenariosTests.play(
      """
      callsim: 1
      id: t
      topology:
        networks:
          internet: { cidr: "2001:db8::/64" }
          flat: { cidr: "2001:db8:1::/64", to: internet }
      peers:
        alice: { profile: knotos, network: flat }
        bob: { profile: knotos, network: internet }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { id: traffic, at: 2s, fault: device.traffic, peer: alice, direction: rx, for: 3s }
        - { at: 8s, do: alice.hangup }
      expect:
        - { metric: "wire.bytes(to: alice)", stat: rate, window: [3s, 5s], gt: 1Mbps }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `a size and a pause load so much, again and again`() throws {
    let result = try play(
      "direction: rx, flows: 4, size: 20kB, pause: 2s",
      expect: "  - { metric: \"wire.bytes(to: alice)\", stat: rate, window: [traffic, bye], gt: 150kbps, lt: 800kbps }")
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `it goes on while the app is suspended, and ends with the fault`() throws {
    let result = try play(
      "direction: rx, for: 5s",
      timeline: """
          - { id: away, at: 6s, fault: device.suspend, peer: alice, for: 3s }
          - { mark: late, at: 11s }
        """,
      expect: """
          - { metric: "wire.bytes(to: alice)", stat: rate, window: [away, 9s], gt: 1Mbps }
          - { metric: "wire.bytes(to: alice)", stat: rate, window: [late, bye], lt: 200kbps }
        """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `a connection that fails is tried again`() throws {
    let result = try play(
      "direction: rx",
      timeline:
        "  - { at: 4s, fault: firewall.block, network: alice/wifi, protocol: tcp, for: 5s }\n  - { mark: open, at: 11s }",
      expect: "  - { metric: \"wire.bytes(to: alice)\", stat: rate, window: [open, bye], gt: 1Mbps }")
    #expect(!result.findings.contains { $0.title.hasPrefix("metric") }, "\(result.findings)")
  }
}
