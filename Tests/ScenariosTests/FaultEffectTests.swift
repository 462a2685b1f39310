import CallCore
import Profiles
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

/// A fault has met something only where its own effect takes place, and only while others leave it one.
@Suite struct `The effect of a fault` {
  /// Two phones at home talk for ten seconds; `bob/wifi` is not lossy by itself, so that what is lost is the fault's.
  private func run(_ faults: [String], rest: String = "", peers: String = "", end: String = "10s") throws -> RunResult {
    let entries = faults.enumerated().map { "  - { id: f\($0.offset + 1), \($0.element) }" }.joined(separator: "\n")
    return try play(
      """
      callsim: 1
      id: test
      run: \(end)
      \(rest)
      peers:
        alice: { profile: knotos, network: wifi/good\(peers) }
        bob: { profile: knotos, network: wifi/good\(peers) }
      timeline:
        - { at: 500ms, do: alice.call, to: bob }
        - { id: accept, when: bob.call.state == ringing, after: 500ms, do: bob.accept }
      \(entries)
      expect:
        - { eventually: bob.call.state == connected, of: accept, within: 3s }
      """)
  }

  /// The entries whose fault met nothing, with why.
  private func vacuous(_ result: RunResult) -> [String] {
    result.findings.filter { $0.kind == .vacuous }.map {
      "\($0.title.filter { $0 != "'" }.replacing("timeline entry ", with: "")): \($0.actual)"
    }
  }

  @Test func `a link that is down is met by an app that cannot connect`() throws {
    let result = try play(
      """
      callsim: 1
      id: test
      peers:
        alice: { profile: twilio, network: home }
      timeline:
        - { at: 0s, fault: link.down, link: alice/home, for: 2s }
        - { id: try, at: 1s, do: alice.connect, room: daily }
      expect:
        - { ends: alice, code: "53000", within: 16s, of: try }
      """)
    #expect(result.findings.map(\.actual) == [])
  }

  @Test func `nothing is met on a link that is down`() throws {
    let link = "link: bob/wifi/good"
    let result = try run([
      "at: 4s, fault: link.down, \(link), for: 4s", "at: 5s, fault: link.set, \(link), loss: 50%, for: 1s",
      "at: 5s, fault: link.set, \(link), delay: 1s, for: 1s", "at: 5s, fault: link.blackhole, \(link), for: 1s",
      "at: 5s, fault: link.one-way, \(link), direction: tx, for: 1s",
      "at: 5s, fault: link.down, \(link), for: 1s",
      "at: 5s, fault: packet.drop, protocol: rtp, from: bob, for: 1s",
      "at: 5s, fault: link.flap, \(link), down: 100ms, up: 100ms, cycles: 3",
    ])
    #expect(
      vacuous(result) == [
        "f2: it met nothing: the link carried nothing", "f3: it met nothing: the link carried nothing",
        "f4: it met nothing: the link carried nothing", "f5: it met nothing: an older fault did so already",
        "f6: it met nothing: an older fault did so already", "f7: it met nothing: no packet was like this",
        "f8: it met nothing: an older fault did so already",
      ])
  }

  @Test func `what overlaps meets something while the other is over`() throws {
    let link = "link: bob/wifi/good"
    let result = try run([
      "at: 4s, fault: link.down, \(link), for: 1s", "at: 4500ms, fault: link.down, \(link), for: 1s",
      "at: 6s, fault: link.blackhole, \(link), for: 500ms", "at: 6200ms, fault: link.blackhole, \(link), for: 600ms",
      "at: 7s, fault: link.set, \(link), delay: 50ms, for: 1s", "at: 7s, fault: link.set, \(link), loss: 40%, for: 1s",
    ])
    #expect(vacuous(result) == [])
  }

  @Test func `of two that say the same of a link the later one meets what there is`() throws {
    let link = "link: bob/wifi/good"
    let result = try run([
      "at: 4s, fault: link.set, \(link), delay: 100ms, for: 2s",
      "at: 5s, fault: link.set, \(link), delay: 100ms, for: 500ms",
      "at: 7s, fault: link.set, \(link), delay: 200ms, for: 1s",
      "at: 7s, fault: link.set, \(link), delay: 60ms, for: 1s",
    ])
    #expect(
      vacuous(result) == [
        "f2: it met nothing: an older fault did so already", "f3: it met nothing: no packet was treated otherwise",
      ])
  }

  @Test func `what an older fault takes is told so, also where both end at one time`() throws {
    let link = "link: bob/wifi/good"
    let result = try run([
      "at: 4s, fault: link.blackhole, \(link), for: 3s", "at: 5s, fault: link.blackhole, \(link), for: 2s",
      "at: 8s, fault: signal.drop, message: call_hangup", "at: 8s, fault: signal.drop, message: call_hangup",
      "at: 9s, do: alice.hangup",
    ])
    #expect(
      vacuous(result) == [
        "f2: it met nothing: an older fault did so already", "f4: it met nothing: another fault took its messages",
      ])
    let silent = try run([
      "at: 8s, fault: signal.blackhole", "at: 8s, fault: signal.blackhole",
      "at: 8s, fault: signal.drop, message: call_hangup", "at: 9s, do: alice.hangup",
    ])
    #expect(
      vacuous(silent) == [
        "f2: it met nothing: another fault took its messages", "f3: it met nothing: another fault took its messages",
      ])
  }

  @Test func `each part of a link is met by what it does`() throws {
    let link = "link: bob/wifi/good, for: 2s"
    let result = try run([
      "at: 4s, fault: link.set, \(link), duplicate: 20%", "at: 4s, fault: link.set, \(link), reorder: 20%",
      "at: 4s, fault: link.set, \(link), corrupt: 20%", "at: 4s, fault: link.set, \(link), rate: 100kbps",
      "at: 4s, fault: link.set, \(link), jitter: 9ms",
      "at: 4s, fault: link.set, \(link), loss: { kind: script, packets: [3] }",
      "at: 7s, fault: link.set, \(link), loss: { kind: script, packets: [100000] }",
      "at: 7s, fault: link.set, \(link), loss: { kind: script, times: [[1900ms, 1950ms]] }",
      "at: 7s, fault: link.set, \(link), loss: { kind: script, times: [[3s, 4s]] }",
    ])
    // The eighth and ninth lie over the seventh, and the ninth over both.
    #expect(
      vacuous(result) == [
        "f7: it met nothing: no packet was treated otherwise", "f8: it met nothing: no packet was treated otherwise",
        "f9: it met nothing: no packet was treated otherwise",
      ])
  }

  @Test func `permissions and channels are missed only by who sends through the relay`() throws {
    let faults = [
      "at: 5s, fault: turn.expire-channels, server: turn", "at: 7s, fault: turn.expire-permissions, server: turn",
      "at: 7500ms, fault: turn.stale-nonce, server: turn",
    ]
    let direct = try run(faults, rest: "topology: { turn: true }")
    #expect(
      vacuous(direct) == [
        "f1: it met nothing: the relay had no channel", "f2: it met nothing: nobody missed a permission",
        "f3: it met nothing: nobody used such a nonce again",
      ])
    // Who has lost the channel cannot miss the permission, too.
    for fault in faults.prefix(2) {
      let relayed = try run([fault], rest: "topology: { turn: true }", peers: ", ice: { policy: relay }")
      #expect(vacuous(relayed) == [])
    }
  }

  @Test func `a firewall's rule is met by what no other rule forbids`() throws {
    let wall = "network: bob/wifi/good"
    let result = try run([
      "at: 4s, fault: firewall.block, \(wall), protocol: udp, for: 1s",
      "at: 4200ms, fault: firewall.block, \(wall), for: 500ms",
      "at: 4200ms, fault: firewall.block, \(wall), protocol: udp, for: 500ms",
      "at: 4800ms, fault: firewall.block, \(wall), protocol: udp, for: 500ms",
    ])
    #expect(!vacuous(result).contains { $0.hasPrefix("f1") || $0.hasPrefix("f4") })
    #expect(
      vacuous(result).filter { $0.hasPrefix("f3") } == [
        "f3: it met nothing: an older fault did so already"
      ])
  }

  @Test func `a quota is met when somebody reaches it`() throws {
    for (quota, met) in [(1, true), (40, false)] {
      let result = try run(["at: 100ms, fault: nat.set, network: alice/wifi/good, quota: \(quota)"])
      #expect(vacuous(result).isEmpty == met, "\(quota): \(result.findings)")
    }
  }

  @Test func `what the end of the run cuts short is told`() throws {
    let link = "link: bob/wifi/good"
    let result = try run([
      "after: 3s, of: bob.connected, fault: link.set, \(link), delay: 50ms, for: 6s",
      "after: 3s, of: bob.connected, fault: link.flap, \(link), down: 10ms, up: 3s, cycles: 3",
      "after: 3s, of: bob.connected, fault: signal.delay, message: call_hangup, by: 6s",
      "after: 4s, of: bob.connected, do: bob.hangup",
      "after: 3s, of: bob.connected, fault: link.set, \(link), rate: 10Mbps",
      "every: 2s, of: bob.connected, fault: link.set, \(link), jitter: 3ms, for: 1s",
    ])
    let told = vacuous(result)
    #expect(told.count == 3, "\(told)")
    #expect(told[0].contains("f1: it was to last until 10"), "\(told)")
    #expect(told[1] == "f2: it went down and up 2 of 3 times")
    #expect(told[2].hasPrefix("f3: call_hangup from bob to alice was to come at 11."), "\(told)")
  }

  @Test func `without an end of its own the run waits for faults that end by themselves`() throws {
    let result = try play(
      timeline: """
          - { id: call, at: 500ms, do: alice.call, to: bob }
          - { id: slow, at: 510ms, fault: link.set, link: bob/wifi, delay: 50ms, for: 21s }
        """, expect: "  - { eventually: bob.call.state == ringing, within: 3s, of: call }")
    #expect(result.verdict == .pass, "\(result.findings)")
    #expect(result.virtualDuration.seconds >= 21)
  }

  @Test func `a link that another fault holds up goes down for nobody`() throws {
    let link = "link: bob/wifi/good"
    for down in ["link.down, \(link)", "link.flap, \(link), down: 200ms, up: 200ms"] {
      let held = try run(["at: 0s, fault: \(down), for: 3s", "at: 0s, fault: link.up, \(link), for: 3s"])
      #expect(vacuous(held) == ["f1: it met nothing: no packet was treated otherwise"])
      let free = try run(["at: 0s, fault: \(down), for: 400ms", "at: 3s, fault: \(down), for: 1s"])
      #expect(vacuous(free).filter { !$0.contains("once only") } == [])
    }
  }

  @Test func `a move is met only by what goes by the new place`() throws {
    let link = "link: bob/wifi/good"
    let down = try run([
      "at: 4s, fault: link.down, \(link), for: 3s", "at: 5s, fault: link.move, \(link), network: internet, for: 1s",
    ])
    #expect(vacuous(down) == ["f2: it met nothing: no packet was offered to the link"])
    let replaced = try run([
      "at: 0s, fault: link.move, \(link), network: alice/wifi/good, for: 400ms",
      "at: 0s, fault: link.move, \(link), network: internet, for: 400ms",
    ])
    #expect(vacuous(replaced) == ["f1: it met nothing: no packet was treated otherwise"])
    let lasting = try run(["at: 4s, fault: link.move, \(link), network: internet, for: 1s"])
    #expect(vacuous(lasting) == [])
  }

  @Test func `of two that say the same of a device or a server the covered one meets nothing`() throws {
    let late = try run([
      "at: 4s, fault: device.audio-late, peer: bob, by: 30ms, for: 2s",
      "at: 4s, fault: device.audio-late, peer: bob, by: 60ms, for: 2s",
      "at: 7s, fault: device.audio-late, peer: bob, by: 30ms, for: 2s",
      "at: 8s, fault: device.audio-late, peer: bob, by: 60ms, for: 500ms",
    ])
    #expect(vacuous(late) == ["f1: it met nothing: none of its audio was so late"])
    let shown = try run(
      [
        "at: 0s, fault: turn.certificate, server: relay, certificate: expired",
        "at: 0s, fault: turn.certificate, server: relay, certificate: wrong-name",
      ], rest: "topology: { servers: { relay: { kind: turn, transports: [tls] } } }",
      peers: ", ice: { policy: relay }")
    #expect(vacuous(shown) == ["f1: it met nothing: nobody was shown it"])
  }

  @Test func `a flap that is cleared early is not all that it says`() throws {
    let flap = "link.flap, link: bob/wifi/good, down: 100ms, up: 200ms"
    for (cycles, lack) in [
      (", cycles: 5", ["f1: it went down and up 2 of 5 times"]), (", cycles: 2", []), ("", []),
    ] {
      let result = try run(["at: 4s, fault: \(flap)\(cycles)", "at: 4550ms, clear: f1"])
      #expect(vacuous(result) == lack, "\(cycles)")
    }
  }

  @Test func `the age of an answer matters where answers change a timer`() throws {
    let lack = ["f1: it met nothing: the NAT treated nothing otherwise"]
    for (more, expected) in [("", lack), (", udp_unanswered: 60s", [])] {
      let result = try run(["at: 4s, fault: nat.set, network: bob/wifi/good, udp_answered_age: 5s\(more)"])
      #expect(vacuous(result) == expected, "\(more)")
    }
  }

  private static let scripts = [
    // Each firing begins the script anew, over those before it.
    ("", "every: 2s, of: bob.connected, times: 5", "", "", "window: [f, bye], eq: 25"),
    ("", "every: 2s, of: bob.connected, times: 5", ", for: 3s", "", "window: [f, bye], eq: 25"),
    (
      "", "after: 1s, of: bob.connected", ", for: 3s", "after: 3s, of: bob.connected|SCRIPT", "window: [f, bye], eq: 10"
    ),
    // What lies over a script for a time changes nothing in its count.
    ("", "at: 5s", "", "at: 5010ms|loss: 100%, for: 20ms", "window: [5080ms, 6s], eq: 5"),
    ("5100ms, 5200ms", "at: 4s", ", for: 60ms", "at: 5s|delay: 20ms, for: 90ms", "window: [4500ms, 6s], eq: 5"),
  ]

  @Test(arguments: scripts)
  func `a script of losses counts from when its own fault began`(
    base: String, trigger: String, rest: String, other: String, bound: String
  ) throws {
    func loss(_ span: String) -> String { "loss: { kind: script, times: [[\(span)]] }" }
    let script = loss("100ms, 200ms")
    let parts = other.replacing("SCRIPT", with: script).split(separator: "|")
    let set = "fault: link.set, link: l, direction: tx"
    let second = parts.isEmpty ? "" : "- { \(parts[0]), \(set), \(parts[1]) }"
    let first = base.isEmpty ? script : "loss: 100%"
    let result = try play(
      """
      callsim: 1
      id: test
      topology:
        networks: { lan: { cidr: 10.0.0.0/24, nat: { to: internet } }, internet: { cidr: 203.0.113.0/24 } }
        links: { l: { from: alice, to: lan, tx: { delay: 8ms\(base.isEmpty ? "" : ", " + loss(base)) } } }
      peers:
        alice: { profile: knotos }
        bob: { profile: knotos, network: home }
      timeline:
        - { id: call, at: 1s, do: alice.call, to: bob }
        - { id: accept, when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { id: f, \(trigger), \(set), \(first)\(rest) }
        \(second)
        - { id: bye, after: 20s, of: bob.connected, do: alice.hangup }
      expect:
        - { metric: bob.stats.inbound-rtp.audio.packetsLost, stat: delta, \(bound) }
      """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `a cell that changes nothing is there to compare with`() throws {
    let text = """
      callsim: 1
      id: test
      run: 5s
      matrix: { loss: [0%, 60%] }
      peers:
        alice: { profile: knotos, network: wifi/good }
        bob: { profile: knotos, network: wifi/good }
      timeline:
        - { id: call, at: 500ms, do: alice.call, to: bob }
        - { at: 100ms, fault: link.set, link: bob/wifi/good, loss: "${loss}" }
      expect:
        - { eventually: alice.call.state == calling, within: 3s, of: call }
      """
    #expect(try play(text).verdict == .pass)
    let both = ScenarioFile.load(
      text: text.replacing("60%", with: "0ppm"), path: "t.yaml", registry: ProfileCatalogue.builtIn.registry)
    #expect(both.diagnostics.map(\.code) == [.changesNothing])
  }
}
