import CallCore
import Testing

@testable import Scenarios

/// What an explanation names first: people, then what the network did beyond what every call meets.
@Suite struct ExplanationCauseTests {
  private func explained(
    _ extra: String, _ expect: String, alice: String = "network: wifi", bob: String = "network: wifi", rest: String = ""
  )
    throws -> Finding
  {
    let result = try play(
      """
      callsim: 1
      id: test
      \(rest)
      peers:
        alice: { profile: knotos, \(alice) }
        bob: { profile: knotos, \(bob) }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 2s, do: bob.accept }
        - { after: 4s, of: bob.connected, mark: talk }
        - { id: bye, after: 20s, of: bob.connected, do: alice.hangup }
      \(extra)
      expect:
        - { \(expect) }
      """)
    return try #require(result.findings.first)
  }

  private static let isHeard = "eventually: alice.audible and bob.audible, within: 3s, of: bob.connected"

  @Test func `who muted is named before what the network lost, and above the faults`() throws {
    let finding = try explained(
      """
        - { id: lossy, after: 3s, of: bob.connected, fault: link.set, link: alice/wifi, loss: 3% }
        - { after: 1s, of: bob.connected, fault: signal.delay, message: call_hangup, by: 1s }
        - { after: 5s, of: bob.connected, do: alice.mute }
      """, "always: bob.audible, between: [lossy, bye]")
    let first = try #require(finding.explanation.first)
    #expect(
      first.hasPrefix("alice: the user chose mute at 8.3") && first.hasSuffix(", and did not choose unmute since"))
    #expect(finding.faults.count == 2)
    #expect(finding.faults.first?.hasPrefix("link.set alice/wifi since") == true)
    #expect(finding.faults.last?.hasSuffix(", which no media passes") == true, "\(finding.faults)")
  }

  @Test
  func `a mute that was taken back is told with both times, and one that the app refused to take back is in force`()
    throws
  {
    let late = try explained(
      """
        - { after: 5s, of: bob.connected, do: alice.mute }
        - { id: back, after: 12s, of: bob.connected, do: alice.unmute }
      """, "always: bob.audible, between: [back, bye]")
    #expect(late.explanation.first?.contains(", and unmute only at 15.3") == true, "\(late.explanation)")
    let bench = JudgeBench(.always(Predicate.flag("bob", "audible"), from: .time(1_500), to: .time(9_000)))
    bench.set("bob", "audible", true, at: 500)
    bench.act("alice", "mute", at: 1_000)
    bench.act("alice", "unmute", at: 1_200)
    let refused = bench.trace.declare(
      "action-refused", TraceField("action", .symbol), TraceField("reason", .symbol))
    bench.trace.write(
      refused, bench.trace.subject("alice"), bench.trace.value("unmute"), bench.trace.value("there is no call"))
    bench.set("bob", "audible", false, at: 3_000)
    #expect(
      bench.finish(at: 10_000).explanation.first
        == "alice: the user chose mute at 1.00 s, and did not choose unmute since")
  }

  @Test(arguments: [
    (
      "permission: denied",
      "alice: the user keeps the app from the microphone (permission: denied), so that it sends silence"
    ),
    ("mic: silence", "alice: the microphone hears nothing (mic: silence)"),
  ])
  func `a microphone that hears nothing is the cause where nothing is heard`(device: String, line: String) throws {
    let finding = try explained("", Self.isHeard, alice: "network: wifi, devices: { \(device) }")
    #expect(finding.explanation == [line])
  }

  @Test func `who hung up is named where the call should have gone on, and not where it ends a measurement`() throws {
    let hangup = "alice: the user chose hangup at 23.3"
    let gone = try explained("", "never: bob.call.state == ended")
    #expect(gone.explanation.first?.hasPrefix(hangup) == true, "\(gone.explanation)")
    let measured = try explained(
      "", "metric: bob.stats.inbound-rtp.audio.packetsReceived, stat: delta, window: [talk, bye], gte: 100000")
    #expect(!measured.explanation.contains { $0.hasPrefix(hangup) }, "\(measured.explanation)")
  }

  @Test func `what every call loses before it is connected is not told as a cause`() throws {
    let finding = try explained("", "never: alice.audible")
    #expect(finding.explanation == [])
  }

  @Test func `what the network begins to drop in the call is told, without the checks that go on`() throws {
    let finding = try explained(
      "  - { after: 5s, of: bob.connected, fault: link.down, link: bob/wifi }",
      "always: bob.audible, between: [talk, bye]")
    let drops = try #require(finding.explanation.last)
    #expect(drops.contains("at link/bob/wifi/rx (link-down") && !drops.contains("no-route"), "\(drops)")
  }

  @Test func `a relay whose port a firewall closes is told for a call that may use relays alone`() throws {
    let finding = try explained(
      "", "eventually: alice.call.state == connected, within: 30s, of: start",
      alice: "network: office/udp-blocked, ice: { policy: relay }", bob: "network: wifi, ice: { policy: relay }",
      rest: "topology: { servers: { relay: { kind: turn, transports: [tcp], port: 5000 } } }")
    #expect(
      finding.explanation.contains(
        "alice's network alice/office/udp-blocked lets out to port 80, 443, 3478 only, so that it cannot reach the TURN "
          + "server relay at port 5000"), "\(finding.explanation)")
  }

  @Test func `a firewall that closes in the call is told before ICE notices`() throws {
    let finding = try explained(
      "  - { after: 5s, of: bob.connected, fault: firewall.block, network: alice/wifi, protocol: udp }",
      "always: bob.audible, between: [talk, bye]")
    #expect(
      finding.explanation.first
        == "alice's network blocks UDP, so that it can use no path but a relay over TCP or TLS, "
        + "and the scenario has no TURN server", "\(finding.explanation)")
  }

  @Test(arguments: ["all", "relay"])
  func `NATs are not blamed for the loss of a relay that carried the call`(policy: String) throws {
    let finding = try explained(
      "  - { after: 500ms, of: bob.connected, fault: turn.disconnect, server: relay }",
      "never: bob.call.state == ended, until: bye", alice: "network: carrier/symmetric, ice: { policy: \(policy) }",
      bob: "network: carrier/symmetric, ice: { policy: \(policy) }",
      rest: "topology: { servers: { relay: { kind: turn, transports: [tcp], port: 443 } } }")
    #expect(!finding.explanation.isEmpty)
    #expect(!finding.explanation.contains { $0.contains("no direct pair") || $0.contains("to another port") })
  }
}
