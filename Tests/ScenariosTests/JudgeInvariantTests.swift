import CallCore
import CallSession
import SimNet
import Testing

@testable import Scenarios

@Suite struct JudgeInvariantTests {
  private func bench(_ change: (inout Scenario) -> Void = { _ in }) -> JudgeBench { JudgeBench([], change) }

  @Test func `media before the user accepted breaks consent, and after it does not`() {
    let early = bench()
    early.mediaSent("bob", at: 900)
    early.act("bob", "accept", at: 1_000)
    early.set("bob", "user.accepted", true, at: 1_000)
    early.mediaSent("bob", at: 1_100)
    #expect(
      early.findings == ["consent: bob sent media at 0.90 s although its user had neither called nor accepted"])
  }

  @Test func `media after the end of the call breaks consent`() {
    let late = bench()
    late.act("alice", "call", at: 100)
    late.set("alice", "user.called", true, at: 100)
    late.mediaSent("alice", at: 200)
    late.end("alice", "remote-hangup", at: 300)
    late.mediaSent("alice", at: 301)
    #expect(late.findings == ["consent: alice sent media at 0.301 s after its call had ended at 0.30 s"])
  }

  @Test func `an accept that no user gave is no consent`() {
    let forged = bench()
    forged.set("bob", "user.accepted", true, at: 1_000)
    #expect(forged.findings == ["consent: bob set user.accepted at 1.00 s, but its user did nothing"])
  }

  @Test func `the microphone is open only within a call and 200 ms after`() {
    let bench = bench()
    bench.set("bob", "mic.open", true, at: 100)
    bench.set("bob", "mic.open", false, at: 150)
    bench.act("bob", "accept", at: 200)
    bench.set("bob", "user.accepted", true, at: 200)
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
    silent.mediaSent("bob", at: 900)
    #expect(silent.findings.isEmpty)
  }

  @Test func `an illegal transition is always a finding`() {
    let bench = bench()
    let kind = bench.trace.declare(
      "illegal-transition", TraceField("machine", .symbol), TraceField("from", .symbol), TraceField("to", .symbol),
      TraceField("event", .symbol))
    let trace = bench.trace
    trace.now = .zero + .seconds(1)
    trace.write(
      kind, trace.subject("bob"), trace.value("call.state"), trace.value("ringing"), trace.value("connected"),
      trace.value("call_answer"))
    #expect(
      bench.findings == [
        "illegal-transition: bob's call.state was to go from ringing to connected on call_answer at 1.00 s"
      ])
  }

  private func call(_ bench: JudgeBench) {
    bench.fire("dial", at: 100)
    bench.move("alice", to: "connected", at: 1_000)
    bench.move("bob", to: "connected", at: 1_000)
  }

  private static func dialing(_ scenario: inout Scenario) {
    var entry = TimelineEntry()
    entry.id = "dial"
    var arguments = Arguments()
    arguments.entries = [("to", Located(.text("bob")))]
    entry.effect = .action(peer: "alice", name: "call", arguments: arguments)
    scenario.timeline = [entry]
  }

  @Test func `one side connected while the other has ended is a disagreement`() {
    let bench = bench(Self.dialing)
    call(bench)
    bench.move("bob", to: "ended", at: 2_000)
    bench.end("bob", "ice-failed", at: 2_000)
    bench.judge.invariants.endOfPhaseTwo(at: .zero + .seconds(9))
    #expect(
      bench.findings == ["agreement: alice is connected, but bob's call ended with ice-failed at 2.00 s"])
  }

  @Test func `both sides saying that the other hung up is a disagreement, and one of them is not`() {
    for (code, expected) in [("remote-hangup", 1), ("local-hangup", 0)] {
      let bench = bench(Self.dialing)
      call(bench)
      bench.move("alice", to: "ended", at: 2_000)
      bench.end("alice", "remote-hangup", at: 2_000)
      bench.move("bob", to: "ended", at: 2_100)
      bench.end("bob", code, at: 2_100)
      bench.judge.invariants.endOfPhaseTwo(at: .zero + .seconds(9))
      #expect(bench.findings.count == expected)
    }
  }

  @Test func `a peer that is still on its way after phase two is stuck`() {
    let bench = bench(Self.dialing)
    bench.fire("dial", at: 100)
    bench.move("alice", to: "calling", at: 200)
    bench.judge.invariants.endOfPhaseTwo(at: .zero + .seconds(9))
    #expect(bench.findings == ["stuck-state: alice is still calling since 0.20 s"])
  }

  @Test func `statistics are held to what was sent, received and lost`() {
    let bench = bench()
    bench.act("alice", "call", at: 0)
    bench.set("alice", "user.called", true, at: 0)
    for _ in 0..<3 { bench.mediaSent("alice", at: 10, bytes: 100) }
    for _ in 0..<2 { bench.mediaReceived("bob", at: 20) }
    let outbound = StatsReport.Entry(
      id: "O", type: "outbound-rtp", kind: "audio",
      members: [
        ("ssrc", .integer(7)), ("packetsSent", .integer(3)), ("bytesSent", .integer(264)),
        ("headerBytesSent", .integer(36)),
      ])
    bench.judge.invariants.sampled(
      StatsReport(entries: [outbound]), openConnections: 1, of: "alice", at: .zero + .seconds(1))
    #expect(bench.findings.isEmpty)
    let inbound = StatsReport.Entry(
      id: "I", type: "inbound-rtp", kind: "audio",
      members: [("ssrc", .integer(7)), ("packetsReceived", .integer(3)), ("packetsLost", .integer(2))])
    bench.judge.invariants.sampled(
      StatsReport(entries: [inbound]), openConnections: 2, of: "bob", at: .zero + .seconds(1))
    #expect(
      bench.findings == [
        "one-active-call: bob has 2 connections open at 1.00 s",
        "honest-stats: bob's inbound-rtp says packetsReceived 3 at 1.00 s, and it was 2",
        "honest-stats: bob's inbound-rtp says packetsLost 2 at 1.00 s, and it was at most 1",
      ])
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
    bench.set("alice", "user.called", true, at: 0)
    let detector = CleartextDetector(peers: ["alice"], watch: bench.watch)
    bench.at(10)
    if packetFirst { show(prefix, to: detector) }
    bench.mediaSent("alice", at: 10, prefix: prefix)
    if !packetFirst { show(prefix, to: detector) }
    #expect(bench.findings == ["no-cleartext: alice sent media in clear at 0.01 s"])
  }

  /// Sends an RTP packet whose payload begins with the prefix, through a TURN channel.
  private func show(_ prefix: UInt64, to detector: CleartextDetector) {
    var bytes: [UInt8] = [0x40, 0, 0, 20, 0x80, 111] + Array(repeating: 0, count: 10)
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: prefix >> UInt64(shift)))
    }
    let found = CleartextDetector.mediaPrefix(bytes.span.bytes)
    #expect(found == prefix)
    detector.saw(prefix, of: "alice")
  }
}
