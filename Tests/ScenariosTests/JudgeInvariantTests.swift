import CallCore
import PeerSession
import SimNet
import Statistics
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

@Suite struct JudgeInvariantTests {
  private func bench(_ change: (inout Scenario) -> Void = { _ in }) -> JudgeBench { JudgeBench([], change) }

  @Test func `media before the user accepted breaks consent, and after it does not`() {
    let early = bench()
    early.begin("bob", "a1", with: "alice", at: 500)
    early.onWire("bob", .tx, at: 900)
    early.act("bob", "accept", at: 1_000)
    early.set("bob", "user.accepted", true, at: 1_000)
    early.onWire("bob", .tx, at: 1_100)
    early.onWire("alice", .rx, at: 1_100)
    #expect(
      early.findings == ["consent: bob sent media at 0.90 s although its user had neither called nor accepted"])
  }

  @Test func `media after the end of the call breaks consent, whatever the session says of it`() {
    let late = bench()
    late.act("alice", "call", to: "bob", at: 100)
    late.begin("alice", "a1", with: "bob", at: 100)
    late.onWire("alice", .tx, at: 200)
    late.end("alice", "remote-hangup", at: 300)
    late.onWire("alice", .tx, at: 301)
    #expect(late.findings == ["consent: alice sent media at 0.301 s after its call had ended at 0.30 s"])
  }

  @Test func `what was handed to a connection in time may leave it late, and no more than that`() {
    let late = bench()
    late.act("alice", "call", to: "bob", at: 100)
    late.begin("alice", "a1", with: "bob", at: 100)
    for _ in 0..<3 { late.mediaSent("alice", at: 200) }
    late.end("alice", "remote-hangup", at: 300)
    for time in [301, 302, 303] { late.onWire("alice", .tx, at: Int64(time), transport: .tcp) }
    #expect(late.findings.isEmpty)
    late.onWire("alice", .tx, at: 304, transport: .tcp)
    #expect(late.findings == ["consent: alice sent media at 0.304 s after its call had ended at 0.30 s"])
  }

  @Test func `an accept is one of the call that was ringing then`() {
    let bench = bench()
    bench.begin("bob", "a1", with: "alice", at: 500)
    bench.act("bob", "accept", at: 1_000)
    bench.onWire("bob", .tx, at: 1_100)
    #expect(bench.findings.isEmpty)
    bench.begin("bob", "m1", with: "mallory", at: 2_000)
    bench.onWire("bob", .tx, at: 2_100)
    #expect(
      bench.findings == ["consent: bob sent media at 2.10 s although its user had neither called nor accepted"])
  }

  @Test func `a call placed is consent to a call with that peer, whoever's offer wins`() {
    let bench = bench()
    bench.act("alice", "call", to: "bob", at: 100)
    bench.begin("alice", "alice-1", with: "bob", at: 100)
    bench.begin("alice", "bob-1", with: "alice", at: 100)
    bench.begin("alice", "bob-1", with: "bob", at: 200)
    bench.set("alice", "user.accepted", true, at: 200)
    bench.onWire("alice", .tx, at: 300)
    #expect(bench.findings.isEmpty)
  }

  @Test(arguments: ["a1", "c1"]) func `consent to a call beside the one that is shown outlasts the other`(
    _ first: String
  ) {
    let bench = bench()
    let users = ["a1": "alice", "c1": "carol"]
    bench.begin("bob", "a1", with: "alice", at: 500)
    bench.act("bob", "accept", at: 600)
    bench.begin("bob", "c1", with: "carol", beside: "a1", at: 700)
    bench.onWire("bob", .tx, at: 710)
    bench.act("bob", "accept", at: 800)
    let second = first == "a1" ? "c1" : "a1"
    bench.begin("bob", first, with: users[first] ?? "", beside: second, at: 1_000)
    bench.end("bob", "remote-hangup", at: 1_000)
    bench.begin("bob", second, with: users[second] ?? "", beside: "none", at: 1_000)
    bench.set("bob", "user.accepted", true, at: 1_000)
    bench.onWire("bob", .tx, at: 1_100)
    #expect(bench.findings.isEmpty)
    bench.end("bob", "remote-hangup", at: 2_000)
    bench.onWire("bob", .tx, at: 2_100)
    #expect(bench.findings == ["consent: bob sent media at 2.10 s after its call had ended at 2.00 s"])
  }

  @Test func `a call beside that the user did not accept has no consent once it is alone`() {
    let bench = bench()
    bench.begin("bob", "a1", with: "alice", at: 500)
    bench.act("bob", "accept", at: 600)
    bench.begin("bob", "c1", with: "carol", beside: "a1", at: 700)
    bench.begin("bob", "a1", with: "alice", beside: "c1", at: 800)
    bench.end("bob", "remote-hangup", at: 800)
    bench.begin("bob", "c1", with: "carol", beside: "none", at: 800)
    bench.onWire("bob", .tx, at: 900)
    #expect(bench.findings.count == 1)
  }

  @Test func `a call that the other side has beside the one that it shows is no disagreement`() {
    let bench = bench()
    call(bench)
    bench.begin("bob", "c1", with: "carol", beside: "a1", at: 2_000)
    bench.judge.invariants.endOfPhaseTwo(at: .zero + .seconds(9))
    #expect(bench.findings.isEmpty)
  }

  @Test(arguments: ["mute", "hangup"])
  func `another action is no consent`(action: String) {
    let forged = bench()
    forged.begin("bob", "a1", with: "alice", at: 500)
    forged.act("bob", action, at: 900)
    forged.set("bob", "user.accepted", true, at: 1_000)
    #expect(forged.findings == ["consent: bob set user.accepted at 1.00 s, but its user did not"])
  }

  @Test func `a call that the app refused to place is no consent`() {
    let bench = bench()
    bench.act("bob", "call", to: "alice", at: 100)
    bench.refuse("bob", "call", at: 100)
    bench.begin("bob", "a1", with: "alice", at: 500)
    bench.onWire("bob", .tx, at: 600)
    #expect(bench.findings.count == 1)
  }

  @Test func `an action that is refused late takes the consent of no other back`() {
    let bench = bench()
    bench.act("bob", "mute", at: 50)
    bench.act("bob", "call", to: "alice", at: 100)
    bench.refuse("bob", "mute", at: 200)
    bench.begin("bob", "b1", with: "alice", at: 500)
    bench.onWire("bob", .tx, at: 600)
    #expect(bench.findings.isEmpty)
    bench.refuse("bob", "call", at: 700)
    bench.onWire("bob", .tx, at: 800)
    #expect(
      bench.findings == ["consent: bob sent media at 0.80 s although its user had neither called nor accepted"])
  }

  @Test func `an action that is refused late mutes nobody again, and a refused mute mutes nobody`() {
    let bench = bench()
    bench.act("bob", "call", to: "alice", at: 100)
    bench.begin("bob", "b1", with: "alice", at: 100)
    bench.act("bob", "mute", at: 200)
    bench.act("bob", "restart-ice", at: 300)
    bench.act("bob", "unmute", at: 400)
    bench.refuse("bob", "restart-ice", at: 500)
    bench.act("bob", "mute", at: 600)
    bench.refuse("bob", "mute", at: 700)
    bench.mediaSent("bob", at: 1_500, prefix: Self.sound)
    #expect(bench.findings.isEmpty)
    bench.act("bob", "mute", at: 2_000)
    bench.refuse("bob", "restart-ice", at: 2_100)
    bench.mediaSent("bob", at: 2_500, prefix: Self.sound)
    #expect(bench.findings == ["mute: bob sent sound at 2.50 s, although its user muted it at 2.00 s"])
  }

  /// The first bytes of a modelled payload with sound.
  private static let sound = UInt64(SyntheticPayload.magic) << 56 | 20 << 40

  @Test func `the microphone is open only within a call and 200 ms after`() {
    let bench = bench()
    bench.set("bob", "mic.open", true, at: 100)
    bench.set("bob", "mic.open", false, at: 150)
    bench.begin("bob", "a1", with: "alice", at: 150)
    bench.act("bob", "accept", at: 200)
    bench.set("bob", "mic.open", true, at: 300)
    bench.end("bob", "remote-hangup", at: 1_000)
    bench.judge.advance(to: .zero + .milliseconds(1_200))
    #expect(
      bench.findings == [
        "capture-scope: bob opened its microphone at 0.10 s without a call its user wanted",
        "capture-scope: bob's microphone is still open 200ms after its call ended at 1.00 s",
      ])
  }

  @Test func `an invariant that the scenario turns off is not judged`() {
    let silent = bench {
      $0.invariants = [.init(invariant: .consent, isOn: false, why: "attack", span: .builtIn)]
    }
    silent.onWire("bob", .tx, at: 900)
    #expect(silent.findings.isEmpty)
  }

  @Test(arguments: ["bob", "bob/to/alice"])
  func `an illegal transition is always a finding`(subject: String) {
    let bench = bench()
    let kind = PeerEvents.illegalTransition
    let trace = bench.trace
    trace.now = .zero + .seconds(1)
    trace.write(
      kind, trace.subject(subject), "call.state", "ringing", "connected",
      "call_answer")
    #expect(
      bench.findings == [
        "illegal-transition: \(subject)'s call.state was to go from ringing to connected on call_answer at 1.00 s"
      ])
  }

  private func call(_ bench: JudgeBench) {
    bench.begin("alice", "a1", with: "bob", at: 100)
    bench.begin("bob", "a1", with: "alice", at: 200)
    bench.move("alice", to: "connected", at: 1_000)
    bench.move("bob", to: "connected", at: 1_000)
  }

  @Test func `one side connected while the other has ended is a disagreement`() {
    let bench = bench()
    call(bench)
    bench.move("bob", to: "ended", at: 2_000)
    bench.end("bob", "ice-failed", at: 2_000)
    bench.judge.invariants.endOfPhaseTwo(at: .zero + .seconds(9))
    #expect(
      bench.findings == ["agreement: alice is connected, but bob's call ended with ice-failed at 2.00 s"])
  }

  @Test func `one side connected to a call that the other has left for another is a disagreement`() {
    let bench = bench()
    call(bench)
    bench.begin("bob", "c1", with: "carol", at: 2_000)
    bench.judge.invariants.endOfPhaseTwo(at: .zero + .seconds(9))
    #expect(bench.findings == ["agreement: alice is connected to bob, but bob has been in another call since"])
  }

  @Test func `a call that no timeline entry placed is judged as well, and one without names by who placed it`() {
    for isNamed in [true, false] {
      let bench = bench()
      if isNamed {
        call(bench)
      } else {
        bench.act("alice", "call", to: "bob", at: 100)
        bench.move("alice", to: "connected", at: 1_000)
      }
      bench.move("bob", to: "ended", at: 2_000)
      bench.end("bob", "ice-failed", at: 2_000)
      bench.judge.invariants.endOfPhaseTwo(at: .zero + .seconds(9))
      #expect(bench.findings.count == 1)
    }
  }

  @Test func `both sides saying that the other hung up is a disagreement, and one of them is not`() {
    for (mine, yours, expected) in [
      ("remote-hangup", "remote-hangup", 1), ("remote-hangup", "local-hangup", 0), ("declined", "cancelled", 1),
      ("declined", "declined", 0), ("ice-failed", "remote-hangup", 0), ("remote-hangup", "declined", 0),
      ("declined", "remote-hangup", 1),
    ] {
      let bench = bench()
      call(bench)
      bench.move("alice", to: "ended", at: 2_000)
      bench.end("alice", mine, at: 2_000)
      bench.move("bob", to: "ended", at: 2_100)
      bench.end("bob", yours, at: 2_100)
      bench.judge.invariants.endOfPhaseTwo(at: .zero + .seconds(9))
      #expect(bench.findings.count == expected, "\(mine), \(yours)")
    }
  }

  @Test func `a peer that is still on its way after phase two is stuck`() {
    let bench = bench()
    bench.move("alice", to: "calling", at: 200)
    bench.judge.invariants.endOfPhaseTwo(at: .zero + .seconds(9))
    #expect(bench.findings == ["stuck-state: alice is still calling since 0.20 s"])
  }

  // MARK: Statistics

  private func outbound(packets: Int64, bytes: Int64) -> StatsReport {
    StatsReport(entries: [
      StatsReport.Entry(
        id: "O", type: "outbound-rtp", kind: "audio",
        members: [
          ("ssrc", .integer(7)), ("packetsSent", .integer(packets)), ("bytesSent", .integer(bytes - 12 * packets)),
          ("headerBytesSent", .integer(12 * packets)),
        ])
    ])
  }

  private func inbound(packets: Int64, lost: Int64, jitter: Double = 0) -> StatsReport {
    StatsReport(entries: [
      StatsReport.Entry(
        id: "I", type: "inbound-rtp", kind: "audio",
        members: [
          ("ssrc", .integer(7)), ("packetsReceived", .integer(packets)), ("packetsLost", .integer(lost)),
          ("jitter", .real(jitter)),
        ])
    ])
  }

  /// What the invariant says of a report that comes a second after the start.
  private func verdict(
    on report: StatsReport, of peer: String = "bob", after events: @escaping (JudgeBench) -> Void
  ) -> [String] {
    let bench = bench()
    bench.act("alice", "call", to: "bob", at: 0)
    events(bench)
    bench.at(1_000)
    bench.judge.invariants.sampled(report, of: peer, over: peer, at: .zero + .seconds(1))
    return bench.findings
  }

  /// Bob gets the numbers of `arriving`, of which his stack takes those in `taken`.
  private func receive(_ arriving: [UInt16], taken: [UInt16]) -> (JudgeBench) -> Void {
    { bench in
      for sequence in arriving {
        let time = 100 + Int64(sequence) * 20
        bench.onWire("bob", .rx, at: time, sequence: sequence, timestamp: UInt32(sequence) * 960)
        if taken.contains(sequence) { bench.mediaReceived("bob", at: time) }
      }
    }
  }

  @Test func `what a peer says it sent is what left it`() {
    let three = { (bench: JudgeBench) in for number in 0..<3 { bench.onWire("alice", .tx, at: 10 + Int64(number)) } }
    #expect(verdict(on: outbound(packets: 3, bytes: 300), of: "alice", after: three).isEmpty)
    for (packets, bytes) in [(2, 200), (4, 400)] as [(Int64, Int64)] {
      let report = outbound(packets: packets, bytes: bytes)
      #expect(
        verdict(on: report, of: "alice", after: three)
          == ["honest-stats: alice's outbound-rtp says packetsSent \(packets) at 1.00 s, and 3 left it"])
    }
    #expect(verdict(on: outbound(packets: 3, bytes: 299), of: "alice", after: three).count == 1)
  }

  @Test func `what could not leave the device may be counted as sent`() {
    let events = { (bench: JudgeBench) in
      bench.onWire("alice", .tx, at: 10)
      let unsent = PeerConnectionEvents.packetUnsent
      bench.trace.write(unsent, bench.trace.subject("alice"), "no-socket")
    }
    #expect(verdict(on: outbound(packets: 2, bytes: 200), of: "alice", after: events).isEmpty)
    #expect(verdict(on: outbound(packets: 3, bytes: 300), of: "alice", after: events).count == 1)
  }

  @Test(arguments: [0, 1, 2, 3] as [Int64])
  func `packetsLost is held to what is missing, from both sides`(said: Int64) {
    let findings = verdict(on: inbound(packets: 3, lost: said), after: receive([0, 2, 4], taken: [0, 2, 4]))
    #expect(
      findings
        == (said == 2 ? [] : ["honest-stats: bob's inbound-rtp says packetsLost \(said) at 1.00 s, and 2 are missing"]))
  }

  @Test(arguments: [(50, 49), (51, 0), (1_000, 0)])
  func `a step of more than fifty numbers is a restart and no loss, as in libwebrtc`(step: UInt16, lost: Int64) {
    let arriving = [0, 1, 1 + step, 2 + step]
    #expect(verdict(on: inbound(packets: 4, lost: lost), after: receive(arriving, taken: arriving)).isEmpty)
    #expect(
      verdict(on: inbound(packets: 4, lost: Int64(step) - 1), after: receive(arriving, taken: arriving)).count
        == (lost == 0 ? 1 : 0))
  }

  @Test func `packets that never arrived cannot be received`() {
    let findings = verdict(on: inbound(packets: 1, lost: 0)) { bench in
      bench.onWire("bob", .rx, at: 100)
      bench.mediaReceived("bob", at: 100)
      bench.mediaReceived("bob", at: 150)
    }
    #expect(
      findings == ["honest-stats: bob says that it received a packet of source 7 at 0.15 s, when none arrived"])
  }

  @Test func `of two packets at one instant the one that came to a socket that is gone was not taken`() {
    let findings = verdict(on: inbound(packets: 2, lost: 0)) { bench in
      receive([0], taken: [0])(bench)
      bench.onWire("bob", .rx, at: 120, sequence: 9, bytes: 90, timestamp: 960)
      let (old, other) = (Endpoint("192.168.1.2:5000")!, Endpoint("203.0.113.1:40001")!)
      bench.trace.write(NetworkEvents.packetDropped, bench.trace.subject("bob"), "no-socket", 1, other, old, 90)
      bench.onWire("bob", .rx, at: 120, sequence: 1, timestamp: 960)
      bench.mediaReceived("bob", at: 120)
    }
    #expect(findings.isEmpty)
  }

  @Test func `packets that arrived cannot be passed over in silence`() {
    #expect(
      verdict(on: inbound(packets: 1, lost: 0), after: receive([0, 1], taken: [0]))
        == ["honest-stats: bob's inbound-rtp says nothing of 1 packets that arrived at 1.00 s, and it refused 0"])
    let refusing = { (bench: JudgeBench) in
      receive([0, 1], taken: [0])(bench)
      let kind = PeerConnectionEvents.packetDiscarded
      bench.trace.write(
        kind, bench.trace.subject("bob"), "replayed",
        Endpoint(.anyIPv4, port: 9))
    }
    #expect(verdict(on: inbound(packets: 1, lost: 0), after: refusing).isEmpty)
  }

  @Test func `jitter is that of the arrivals`() {
    // The third is thirty milliseconds late: a sixteenth of that counts (RFC 3550 appendix A.8).
    let late = { (bench: JudgeBench) in
      for (sequence, time) in [(0, 100), (1, 120), (2, 170)] as [(UInt16, Int64)] {
        bench.onWire("bob", .rx, at: time, sequence: sequence, timestamp: UInt32(sequence) * 960)
        bench.mediaReceived("bob", at: time)
      }
    }
    #expect(verdict(on: inbound(packets: 3, lost: 0, jitter: 0.030 / 16), after: late).isEmpty)
    #expect(
      verdict(on: inbound(packets: 3, lost: 0), after: late)
        == ["honest-stats: bob's inbound-rtp says jitter 0 s at 1.00 s, and it was 0.001875 s"])
  }

  @Test(arguments: [(8_000, true), (48_000, false)] as [(Int64, Bool)])
  func `jitter may be wrong by two ticks of the media clock`(_ clockRate: Int64, _ isAccepted: Bool) {
    var report = inbound(packets: 3, lost: 0, jitter: 0.000_2)
    report.entries[0].members.append(("codecId", .text("C")))
    report.entries.append(.init(id: "C", type: "codec", members: [("clockRate", .integer(clockRate))]))
    let findings = verdict(on: report) { bench in
      for sequence in 0..<3 as Range<UInt16> {
        bench.onWire(
          "bob", .rx, at: 100 + Int64(sequence) * 20, sequence: sequence,
          timestamp: UInt32(sequence) * UInt32(clockRate / 50))
        bench.mediaReceived("bob", at: 100 + Int64(sequence) * 20)
      }
    }
    #expect(findings.isEmpty == isAccepted)
  }

  private func pair(roundTrip seconds: Double) -> StatsReport {
    StatsReport(entries: [
      StatsReport.Entry(id: "P", type: "candidate-pair", members: [("currentRoundTripTime", .real(seconds))])
    ])
  }

  @Test func `a check through a relay may have waited for a permission, and is never faster than the wire`() {
    let asking = { (bench: JudgeBench) in
      for (direction, time) in [(LinkDirection.tx, 100), (.rx, 150)] {
        let time = Instant.zero + .milliseconds(Int64(time))
        bench.wire.tell(
          WireCheck(
            peer: "bob", direction: direction, isRequest: direction == .tx, isRelayed: true, transaction: 1, time: time)
        )
      }
    }
    for seconds in [0.05, 0.3] { #expect(verdict(on: pair(roundTrip: seconds), after: asking).isEmpty) }
    for seconds in [0.04, 40] { #expect(verdict(on: pair(roundTrip: seconds), after: asking).count == 1) }
  }

  @Test func `a round trip is one that a check took`() {
    let asking = { (bench: JudgeBench) in
      for (direction, isRequest, time) in [(LinkDirection.tx, true, 100), (.tx, true, 600), (.rx, false, 650)] {
        let time = Instant.zero + .milliseconds(Int64(time))
        bench.wire.tell(
          WireCheck(peer: "bob", direction: direction, isRequest: isRequest, transaction: 1, time: time))
      }
    }
    for seconds in [0.05, 0.55] { #expect(verdict(on: pair(roundTrip: seconds), after: asking).isEmpty) }
    #expect(
      verdict(on: pair(roundTrip: 0.04), after: asking)
        == [
          "honest-stats: bob's candidate-pair says currentRoundTripTime 0.04 s at 1.00 s, "
            + "and no check was answered after that time"
        ])
  }

  @Test func `a second connection is found however short it lives`() {
    let bench = bench()
    bench.set("bob", "connections.open", 1, at: 100)
    bench.set("bob", "connections.open", 2, at: 200)
    bench.set("bob", "connections.open", 1, at: 200)
    #expect(bench.findings == ["one-active-call: bob has 2 connections open at 0.20 s"])
  }

  @Test func `what is left after the end is named`() {
    let bench = bench()
    bench.judge.invariants.quiesced(leftovers: ["alice: 2 timers"], at: .zero + .seconds(1))
    #expect(bench.findings == ["quiescence: alice: 2 timers"])
  }

  @Test(arguments: [false, true])
  func `cleartext is found whether the packet or its event comes first`(_ packetFirst: Bool) {
    let prefix: UInt64 = 0x1122_3344_5566_7788
    let bench = bench()
    bench.act("alice", "call", at: 0)
    let detector = CleartextDetector(peers: [.named("alice")], tap: bench.wire, watch: bench.watch)
    if packetFirst { bench.onWire("alice", .tx, at: 10, prefix: prefix) }
    bench.mediaSent("alice", at: 10, prefix: prefix)
    if !packetFirst { bench.onWire("alice", .tx, at: 10, prefix: prefix) }
    #expect(bench.findings == ["no-cleartext: alice sent media in clear at 0.01 s"])
    withExtendedLifetime(detector) {}
  }

  @Test func `a packet in clear is told once, although its payload begins as that of another`() {
    let bench = bench()
    let detector = CleartextDetector(peers: [.named("alice")], tap: bench.wire, watch: bench.watch)
    var told: [UInt64] = []
    detector.listen { told.append($1) }
    for number in 1...3 as ClosedRange<UInt16> {
      bench.mediaSent("alice", at: 10 * Int64(number), prefix: 5)
      bench.onWire("alice", .tx, at: 10 * Int64(number), sequence: number, prefix: 5)
    }
    #expect(told == [1, 2, 3])
    withExtendedLifetime(detector) {}
  }

  @Test func `copies of packets that come with others at one instant are not what the stack took`() throws {
    let result = try play(
      "run: 20s",
      timeline: """
          - { at: 0s, do: alice.call, to: bob }
          - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
          - { at: 5s, fault: link.set, link: alice/wifi, jitter: 200ms, duplicate: 10%, for: 8s }
        """, expect: "  - { metric: alice.stats.inbound-rtp.audio.packetsReceived, stat: delta, gt: 9 }")
    #expect(result.verdict == .pass, "\(result.findings)")
  }
}
