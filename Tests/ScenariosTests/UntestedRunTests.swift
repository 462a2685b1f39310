import CallCore
import Testing

@testable import ScenarioJudge
@testable import ScenarioRun

@Suite struct `What was not put to the test` {
  private let call = "  - { at: 1s, do: alice.call, to: bob }"

  @Test func `an action that the app refuses fails the run, with the reason`() throws {
    let result = try play(
      timeline: """
        \(call)
          - { id: early, at: 2s, do: alice.accept }
          - { id: bye, at: 5s, do: alice.hangup }
        """, expect: "  - { ends: alice, code: local-hangup, within: 1s, of: bye }")
    #expect(result.verdict == .fail)
    let finding = try #require(result.findings.first)
    #expect(finding.title == "timeline entry 'early'")
    #expect(
      finding.actual == "it refused at 2.00 s: nothing is ringing (if it should, write refused: nothing is ringing)")
    #expect(finding.location == "test.yaml:9:11")
  }

  @Test func `a message that a puppet sends to whom the server has lost was not tested`() throws {
    let text = """
      callsim: 1
      id: t
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
        mallory: { stack: puppet }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { at: 2s, fault: signal.disconnect, peer: bob }
        - { id: lost, at: 2001ms, send: call_hangup, from: mallory, to: bob, fields: { callId: z } }
        - { id: bye, at: 5s, do: alice.hangup }
      expect:
        - { ends: alice, code: local-hangup, within: 1s, of: bye }
      """
    let result = try play(text)
    #expect(result.verdict == .vacuous)
    let finding = try #require(result.findings.first)
    #expect(finding.title == "timeline entry 'lost'")
    #expect(finding.actual == "bob was not connected to the server at 2.001 s")
  }

  @Test func `a refused action tells why, as an expectation does`() throws {
    let result = try play(
      timeline: """
        \(call)
          - { at: 2s, do: bob.accept }
          - { id: dead, at: 6s, fault: link.down, link: alice/wifi, for: 50s }
          - { id: bye, at: 60s, do: alice.hangup }
        """, expect: "  - { eventually: bob.call.state == connected, within: 5s }")
    let finding = try #require(result.findings.first)
    #expect(finding.title == "timeline entry 'bye'")
    #expect(finding.trail.first?.hasPrefix("alice: idle 0.00 > calling 1.00 > ") == true)
    #expect(finding.explanation.contains { $0.contains("ice-failed") }, "\(finding.explanation)")
  }

  @Test func `what failed is told before what was not put to the test`() throws {
    let result = try play(
      timeline: "\(call)\n  - { id: never, when: alice.call.state == connected, do: alice.hangup }",
      expect: """
          - { ends: alice, code: local-hangup, within: 1s, of: never }
          - { eventually: bob.call.state == connected, within: 5s, severity: warn }
          - { eventually: bob.call.state == connecting, within: 5s }
        """)
    #expect(result.findings.map(\.kind) == [.expectation, .expectation, .vacuous, .warning], "\(result.findings)")
  }

  @Test func `an action that is expected to be refused passes, and fails when the app does it`() throws {
    for (action, verdict) in [("accept", Verdict.pass), ("hangup", .fail)] {
      let result = try play(
        timeline: """
          \(call)
            - { at: 2s, do: alice.\(action), refused: true }
            - { mark: over, at: 3s }
          """, expect: "  - { eventually: bob.call.state == ringing }")
      #expect(result.verdict == verdict, "\(result.findings)")
    }
  }

  @Test func `a refusal for another reason than the expected one fails, with both`() throws {
    for (reason, verdict) in [("nothing is ringing", Verdict.pass), ("no connected call", .fail)] {
      let result = try play(
        timeline: """
          \(call)
            - { at: 2s, do: alice.accept, refused: \(reason) }
            - { mark: over, at: 3s }
          """, expect: "  - { eventually: bob.call.state == ringing }")
      #expect(result.verdict == verdict, "\(result.findings)")
      guard verdict == .fail else { continue }
      #expect(result.findings.map(\.expected) == ["the app refuses alice.accept: no connected call"])
      #expect(result.findings.map(\.actual) == ["it refused at 2.00 s: nothing is ringing"])
    }
  }

  @Test func `a mark does nothing and names a time`() throws {
    let timeline = { (mark: String) in
      "\(self.call)\n\(mark)  - { id: bye, at: 9s, do: alice.hangup }"
    }
    let result = try play(
      timeline: timeline("  - { mark: half, after: 4s, of: alice.calling }\n"),
      expect: "  - { always: alice.call.state == calling, between: [half, bye] }")
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `a run without expectations is vacuous and says so`() throws {
    let result = try play(timeline: call, expect: "  []")
    #expect(result.verdict == .vacuous)
    #expect(result.findings.map(\.actual) == ["nothing is expected: only the invariants were checked"])
  }

  private static let faults = [
    ("dtls.drop, nth: 9", "no packet was like this"),
    ("packet.drop, protocol: stun, nth: [1, 99999, 88888]", "no packet 99999 and no 88888 of this kind came"),
    ("packet.drop, protocol: turn", "no packet was like this"),
    ("signal.drop, message: call_busy", "no message was like this"),
    ("link.blackhole, link: alice/wifi, larger_than: 1400B", "no packet was treated otherwise"),
    ("link.set, link: spare, delay: 200ms", "no packet was offered to the link"),
    ("link.blackhole, link: spare, direction: tx", "no packet was offered to the link"),
    ("link.one-way, link: spare, direction: rx", "no packet was offered to the link"),
    ("link.flap, link: spare, down: 100ms, up: 100ms, cycles: 2", "the link was down already"),
    ("link.set, link: alice/wifi, corrupt: 1ppm", "no packet was treated otherwise"),
    ("link.set, link: alice/wifi, queue: 10s", "no packet was treated otherwise"),
    ("nat.set, network: alice/wifi, quota: 1000", "the NAT treated nothing otherwise"),
    ("nat.set, network: alice/wifi, tcp_reset: 1s, for: 1s", "the NAT treated nothing otherwise"),
    ("nat.set, network: alice/wifi, hairpin: true", "the NAT treated nothing otherwise"),
    ("nat.set, network: alice/wifi, adopt_tcp: false", "the NAT treated nothing otherwise"),
    ("nat.set, network: alice/wifi, ports_if_taken: sequential", "the NAT treated nothing otherwise"),
    ("clock.jump, peer: carol, by: 1h", "carol made no connection afterwards, and no token"),
    ("dtls.fail, peer: alice", "alice had no connection with DTLS"),
    ("data-channel.fail, peer: alice", "alice had opened no data channel"),
    ("nat.remap, network: empty", "the NAT had no mapping"),
    ("nat.set, network: empty, udp_idle: 5s", "no packet crossed the router"),
    ("firewall.block, network: alice/wifi, ports: [9999]", "the firewall dropped no packet"),
    ("turn.expire-channels, server: relay", "the relay had no allocation"),
    ("turn.disconnect, server: relay", "the relay had no connection"),
    ("turn.reject, server: relay, code: 486", "nobody asked the relay for it"),
    ("stun.silent, server: relay", "nobody asked the server"),
    ("signal.disconnect, peer: carol", "carol had no connection, and made none"),
    ("device.audio-late, peer: carol, by: 50ms", "none of its audio was so late"),
    ("device.memory-pressure, peer: alice", "nothing of the app changed"),
    ("device.camera-interruption, peer: alice, reason: video-in-use", "nothing of the app changed"),
    ("device.traffic, peer: carol, direction: tx", "no byte of it arrived"),
  ]

  private func run(fault: String, for duration: String) throws -> RunResult {
    try play(
      """
      callsim: 1
      id: test
      topology:
        networks:
          internet: { cidr: 203.0.113.0/24 }
          empty: { cidr: 192.168.77.0/24, nat: { to: internet } }
        links: { spare: { from: carol, to: empty, start: down } }
        servers: { relay: { kind: turn, transports: [tcp] } }
      peers:
        alice: { profile: knotos, network: wifi, ice: { servers: [] } }
        bob: { profile: knotos, network: wifi, ice: { servers: [] } }
        carol: { profile: knotos, ice: { servers: [] } }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { id: fault, at: 500ms, fault: \(fault)\(duration) }
        - { id: accept, when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { id: bye, at: 10s, do: alice.hangup }
      expect:
        - { eventually: bob.call.state == connecting, of: accept, within: 5s }
      """)
  }

  @Test(arguments: faults) func `a fault that met nothing makes the run vacuous`(fault: String, lack: String) throws {
    let result = try run(fault: fault, for: "")
    #expect(result.verdict == .vacuous, "\(result.findings)")
    #expect(result.findings.map(\.title) == ["timeline entry 'fault'"])
    #expect(result.findings.map(\.actual) == ["it met nothing: \(lack)"])
  }

  @Test(arguments: [
    "packet.drop, protocol: stun, count: 1", "signal.delay, by: 100ms", "link.set, link: alice/wifi, delay: 20ms",
    "link.blackhole, link: alice/wifi, direction: tx, for: 2s", "link.one-way, link: bob/wifi, direction: rx, for: 1s",
    "link.down, link: alice/wifi, for: 2s", "link.flap, link: alice/wifi, down: 200ms, up: 1s, cycles: 1",
    "nat.set, network: alice/wifi, udp_idle: 60s", "nat.remap, network: alice/wifi",
    "firewall.block, network: alice/wifi, protocol: udp, for: 3s", "signal.disconnect, peer: alice, for: 400ms",
    "clock.jump, peer: alice, by: 1h", "nat.set, network: alice/wifi, quota: 1",
    "device.audio-late, peer: bob, by: 20ms", "device.background, peer: alice, for: 1s",
    "device.kill, peer: bob, for: 100ms", "device.route-change, peer: bob, accessory: headset, for: 1s",
    "device.traffic, peer: alice, direction: tx",
    "device.traffic, peer: bob, direction: rx, flows: 2, size: 5kB, for: 3s",
    "device.audio-interruption, peer: bob, for: 3s", "device.phone-call, peer: bob, answered: false, for: 1s",
  ])
  func `a fault that met something is fine`(fault: String) throws {
    let result = try run(fault: fault, for: "")
    #expect(!result.findings.contains { $0.title == "timeline entry 'fault'" }, "\(result.findings)")
  }

  @Test(arguments: ["expire-permissions", "expire-channels"])
  func `what a relay has lost already it does not lose again`(event: String) throws {
    let result = try play(
      """
      callsim: 1
      id: test
      topology: { turn: true }
      peers:
        alice: { profile: knotos, network: wifi, ice: { policy: relay } }
        bob: { profile: knotos, network: wifi, ice: { policy: relay } }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { id: one, at: 8s, fault: turn.\(event), server: turn }
        - { id: two, at: 10s, fault: turn.\(event), server: turn }
        - { id: bye, at: 15s, do: alice.hangup }
      expect:
        - { eventually: bob.audible, within: 8s, of: 1s }
      """)
    #expect(result.findings.map(\.title) == ["timeline entry 'two'"], "\(result.findings)")
  }

  @Test func `ending a fault that is not in force is vacuous`() throws {
    let result = try play(
      timeline: """
        \(call)
          - { id: slow, at: 1s, fault: link.set, link: alice/wifi, delay: 100ms, for: 2s }
          - { id: again, at: 5s, clear: slow }
          - { id: bye, at: 9s, do: alice.hangup }
        """, expect: "  - { ends: alice, code: local-hangup, within: 1s, of: bye }")
    #expect(result.verdict == .vacuous)
    #expect(result.findings.map(\.actual) == ["it was not in force at 5.00 s"])
  }

  @Test func `what only warns does not fail the run when it was not put to the test`() throws {
    let result = try play(
      timeline: "\(call)\n  - { mark: over, at: 3s }",
      expect: """
          - { eventually: bob.call.state == ringing }
          - { never: alice.selected.local.candidateType == relay, severity: warn }
        """)
    #expect(result.verdict == .pass, "\(result.findings)")
    #expect(result.findings.map(\.kind) == [.warning])
  }
}
