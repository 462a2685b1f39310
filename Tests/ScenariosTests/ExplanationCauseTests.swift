import CallCore
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

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
      first.hasPrefix("alice: the user chose mute at 7.3") && first.hasSuffix(", and did not choose unmute since"))
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
    #expect(late.explanation.first?.contains(", and unmute only at 14.3") == true, "\(late.explanation)")
    let bench = JudgeBench(.always(Predicate.flag("bob", "audible"), from: .time(1_500), to: .time(9_000)))
    bench.set("bob", "audible", true, at: 500)
    bench.act("alice", "mute", at: 1_000)
    bench.act("alice", "unmute", at: 1_200)
    let refused = PeerEvents.actionRefused
    bench.trace.write(
      refused, bench.trace.subject("alice"), "unmute", "there is no call")
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
    let hangup = "alice: the user chose hangup at 22.3"
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

  // MARK: Audio session

  /// The invariant finds the same mistake before the sound is missed.
  private static let withoutInvariant = "invariants: [{ invariant: -audio-configured, why: sound is asked for }]"
  private static let deadUnit = "the audio unit does not run, so that nothing is recorded, sent or played"

  @Test(arguments: [
    ("after", "alice: the app activated the audio session at 0.00 s, only after it had made the peer connection: "),
    ("never", "alice: the app did not activate the audio session for its call: "),
  ])
  func `an audio session that came too late for the audio unit is the cause of silence, and what links lose is not`(
    order: String, line: String
  ) throws {
    let finding = try explained(
      "  - { at: 0s, fault: link.set, link: alice/wifi, loss: 5% }", Self.isHeard,
      alice: "network: wifi, settings: { audio-session: \(order) }", rest: Self.withoutInvariant)
    #expect(finding.explanation == [line + Self.deadUnit])
  }

  @Test func `an audio session of the side that accepts is told, too, and one that records nothing`() throws {
    let late = try explained(
      "", Self.isHeard, bob: "network: wifi, settings: { audio-session: after }", rest: Self.withoutInvariant)
    #expect(late.explanation.count == 1)
    #expect(late.explanation[0].hasPrefix("bob: the app activated the audio session at 2.0"), "\(late.explanation)")
    let bench = JudgeBench(.eventually(.flag("bob", "audible"), within: 3_000))
    bench.activateAudioSession("alice", "playback", at: 500)
    bench.set("alice", "connections.open", 1, at: 600)
    #expect(
      bench.finish(at: 10_000).explanation
        == ["alice: the category of the audio session is playback, which does not record: " + Self.deadUnit])
  }

  @Test func `an audio session that was active in an earlier call alone is told`() {
    let bench = JudgeBench(.eventually(.flag("bob", "audible"), within: 9_000))
    bench.activateAudioSession("alice", "playAndRecord", at: 500)
    bench.set("alice", "connections.open", 1, at: 600)
    bench.set("alice", "speaker.open", true, at: 600)
    bench.set("alice", "connections.open", 0, at: 900)
    bench.activateAudioSession("alice", "playAndRecord", isActive: false, at: 900)
    bench.set("alice", "connections.open", 1, at: 2_000)
    #expect(
      bench.finish(at: 10_000).explanation
        == ["alice: the app did not activate the audio session for its call: " + Self.deadUnit])
  }

  // MARK: Servers

  private static let isConnected = "eventually: alice.call.state == connected, within: 8s, of: start"

  @Test(arguments: [
    (
      "relay: { kind: turn, delay: 1s }", "policy: relay",
      "the TURN server relay answers each request only after 1s (delay: 1s), and a pair with a relay takes several of them"
    ),
    (
      "slow: { kind: stun, delay: 6s }", "policy: all",
      "the STUN server slow answers only after 6s (delay: 6s), so that server-reflexive candidates come late"
    ),
    (
      "talk: { kind: signalling, delay: 3s }", "policy: all",
      "the signalling server talk passes messages on only after 3s (delay: 3s)"
    ),
  ])
  func `a server that makes a call wait is told`(server: String, policy: String, line: String) throws {
    let peer = "network: wifi, ice: { \(policy) }"
    let late = try explained("", Self.isConnected, alice: peer, bob: peer, rest: "topology: { servers: { \(server) } }")
    #expect(late.explanation.contains(line), "\(late.explanation)")
    // It does not bear on what comes once the call stands.
    let after = try explained(
      "", "never: alice.call.state == ended", alice: peer, bob: peer, rest: "topology: { servers: { \(server) } }")
    #expect(!after.explanation.contains(line), "\(after.explanation)")
  }

  @Test func `a relay that does not answer is told, and one that has answered is not`() throws {
    let peer = "network: wifi, ice: { policy: relay }"
    func lines(_ fault: String) throws -> [String] {
      try explained(fault, Self.isConnected, alice: peer, rest: "topology: { turn: true }").explanation
    }
    let silent = try lines("  - { at: 0s, fault: stun.silent, server: turn }")
    #expect(silent.contains { $0.hasPrefix("alice has no relay candidate: it asks the TURN server turn since 0.") })
    let dropped = try lines("  - { at: 0s, fault: signal.drop, message: ice_candidate }")
    #expect(!dropped.contains { $0.contains("has no relay candidate") }, "\(dropped)")
  }

  @Test func `peers that ask no server behind their NATs are told to have host candidates alone`() throws {
    let none = "network: wifi, ice: { servers: [] }"
    let one = try explained("", Self.isConnected, alice: none, rest: "topology: { turn: true }")
    #expect(
      one.explanation.first
        == "alice asks no STUN or TURN server, so that it has host candidates alone: bob is not told its address outside "
        + "its NAT", "\(one.explanation)")
    let both = try explained("", Self.isConnected, alice: none, bob: none)
    #expect(
      both.explanation.first
        == "neither alice nor bob asks a STUN or TURN server, so that they have host candidates alone: neither is told "
        + "the other's address outside its NAT", "\(both.explanation)")
  }

  // MARK: Faults that are over

  @Test func `a fault that is over is told where the trouble began with it, and no other`() throws {
    let finding = try explained(
      """
        - { at: 6s, fault: link.set, link: alice/wifi, loss: 10%, for: 2s }
        - { at: 15s, fault: link.move, link: alice/wifi, network: cell, for: 4s }
      """, "always: alice.ice.state == connected, between: [20s, bye]",
      rest: "topology: { networks: { cell: { profile: lte } } }")
    #expect(finding.faults == ["link.move alice/wifi cell from 15.00 s to 19.00 s"])
  }

  // MARK: Untested expectations

  @Test func `an expectation whose anchor never came is explained as a failure is`() throws {
    let denied = try explained(
      "  - { at: 0s, fault: turn.deny, server: turn }", Self.isHeard, alice: "network: carrier/symmetric",
      rest: "topology: { turn: true }\nrun: 60s")
    #expect(denied.kind == .vacuous)
    #expect(denied.trail.count == 2)
    #expect(denied.explanation.contains { $0.hasPrefix("alice: ended with ice-failed at") }, "\(denied.explanation)")
    #expect(denied.faults == ["turn.deny turn since 0.00 s"])
    let dropped = try explained(
      "  - { at: 0s, fault: signal.drop, message: call_offer }",
      "metric: bob.q.mos, stat: mean, window: [20s, 40s], gte: 3.5", rest: "run: 60s\nmedia: real")
    #expect(dropped.trail.first?.hasPrefix("alice: idle 0.00 > calling") == true, "\(dropped.trail)")
    #expect(dropped.faults == ["signal.drop call_offer since 0.00 s"])
  }

  @Test func `what the file alone keeps from the test is not explained`() {
    for kind: ScenarioFormat.Expectation.Kind in [
      .eventually(.state("alice", "connected"), within: 50_000),
      .eventually(.state("alice", "ended"), within: 50_000, hold: 40_000),
    ] {
      let bench = JudgeBench(kind)
      bench.move("alice", to: "ended", at: 1_000)
      let result = bench.finish(at: 10_000)
      #expect(result.verdict == .vacuous)
      #expect(result.trail + result.faults + result.explanation == [])
    }
  }

  @Test func `of a call that stood, what links lost does not tell why an anchor never came`() throws {
    let finding = try explained(
      "  - { at: 0s, fault: link.set, link: alice/wifi, loss: 5%, for: 20s }",
      "never: alice.audible, between: [alice.ice.restart, bye]")
    #expect(finding.kind == .vacuous)
    #expect(finding.explanation.allSatisfy { !$0.hasPrefix("packets dropped") }, "\(finding.explanation)")
  }

  // MARK: Signalling

  @Test(arguments: [
    ("block_tcp: true", "blocks TCP"), ("block_ports: [443]", "does not let out port 443"),
  ])
  func `a firewall that keeps a peer from the signalling server is told`(rule: String, words: String) throws {
    let finding = try explained(
      "", Self.isConnected, alice: "network: shut",
      rest: "topology: { networks: { shut: { profile: wifi, firewall: { \(rule) } } } }")
    #expect(
      finding.explanation.first
        == "alice's network shut \(words), so that it cannot reach the signalling server signalling at port 443",
      "\(finding.explanation)")
  }

  @Test func `what a firewall does no more is told with the time when it did`() throws {
    let finding = try explained(
      "  - { after: 2s, of: bob.connected, fault: firewall.block, network: alice/wifi, protocol: udp, for: 18s }",
      "eventually: alice.audible, within: 3s, of: 40s", rest: "run: 60s")
    let line = finding.explanation.first { $0.hasPrefix("alice's network blocks UDP") }
    #expect(line?.contains(" (as it was at ") == true, "\(finding.explanation)")
  }
}
