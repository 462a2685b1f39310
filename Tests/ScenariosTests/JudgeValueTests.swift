import CallCore
import Testing
import VirtualPeer
import Vocabulary

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

@Suite struct JudgeValueTests {
  @Test func `a second call takes what the first had taken`() throws {
    let result = try play(
      "run: 30s",
      timeline: """
        \(sevenSeconds)
          - { id: again, at: 15s, do: alice.call, to: bob }
          - { id: accept, at: 17s, do: bob.accept }
        """,
      expect: """
          - { sequence: bob.selected.local.candidateType, is: [srflx], between: [again, end] }
          - { sequence: bob.selected.local.candidateType, is: [srflx, srflx] }
          - { sequence: bob.selected.local.networkType, is: [{ state: wifi, by: 5s }], of: accept }
          - { count: alice.ice.state == new, eq: 2 }
        """)
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  /// Alice hangs up by an entry, of which Bob hears.
  @Test func `what a peer does on a message is one event`() throws {
    let natural = ["alice", "bob"].flatMap { peer in
      [
        "always: \(peer).ice.state == connected and \(peer).connections.open == 1, between: [\(peer).connected, \(peer).ended]",
        "never: \(peer).call.state == ended and \(peer).mic.open",
        "never: \(peer).call.state == connected and not \(peer).mic.open",
        "never: \(peer).call.state == ended and \(peer).ice.state != closed",
      ]
    }
    let result = try play(
      "run: 30s",
      timeline: sevenSeconds, expect: natural.map { "  - { \($0) }" }.joined(separator: "\n"))
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `of a closed connection nothing goes on holding`() throws {
    let result = try play(
      "run: 30s\nmedia: real",
      timeline: """
        \(sevenSeconds)
          - { id: later, at: 15s, do: alice.call, to: bob }
        """,
      expect: """
          - { always: "alice.selected.local.candidateType == srflx", between: [5s, bye] }
          - { always: "alice.stats.inbound-rtp.audio.packetsReceived > 10", between: [5s, bye] }
          - { always: "alice.connection.state == closed and alice.ice.state == closed", between: [11s, later] }
          - { always: "alice.signaling.state == closed and alice.dtls.state == closed", between: [11s, later] }
          - { eventually: alice.connection.state == new and alice.ice.state == new, within: 1ms, of: later }
          - { eventually: "alice.selected.local.candidateType == srflx", within: 2s, of: later }
          - { eventually: "alice.stats.outbound-rtp.audio.packetsSent > 10", within: 2s, of: later }
          - { always: "alice.selected.local.candidateType == srflx", between: [11s, 12s] }
          - { eventually: alice.q.mos > 1, within: 1s, of: later }
        """)
    #expect(result.findings.map(\.kind) == [.expectation, .expectation, .expectation, .vacuous], "\(result.findings)")
    #expect(
      result.findings[0].actual
        == "not true by 17.00 s: alice.selected.local.candidateType is unknown since 10.00 s, without a connection")
    #expect(result.findings[3].title.hasSuffix("between: [11s, 12s]"))
  }

  @Test func `a sequence with gaps passes at its last step`() {
    let bench = JudgeBench(.sequence("alice", [("calling", nil), ("connected", nil)]))
    bench.move("alice", to: "calling", at: 1_000)
    bench.move("alice", to: "connecting", at: 1_500)
    bench.move("alice", to: "connected", at: 2_000)
    #expect(bench.judge.isSettled)
    #expect(bench.finish(at: 3_000).verdict == .pass)
  }

  @Test func `a sequence that stops tells how far it got and what came instead`() {
    let bench = JudgeBench(.sequence("alice", [("calling", nil), ("connecting", nil), ("connected", nil)]))
    bench.move("alice", to: "calling", at: 1_000)
    bench.move("alice", to: "connecting", at: 1_500)
    bench.move("alice", to: "ended", at: 2_000)
    let result = bench.finish(at: 3_000)
    #expect(result.verdict == .fail)
    #expect(result.actual == "no connected by 3.00 s; it is ended since 2.00 s")
    #expect(
      result.nearestMiss == "reached calling 1.00 > connecting 1.50, then ended at 2.00 s came and not connected")
  }

  @Test func `a strict sequence fails at the first value that is not its turn, the initial one aside`() {
    let bench = JudgeBench(.sequence("alice", [("calling", nil), ("connected", nil)], strict: true))
    bench.move("alice", to: "calling", at: 1_000)
    bench.move("alice", to: "connecting", at: 1_500)
    let result = bench.finish(at: 3_000)
    #expect(result.time == .zero + .milliseconds(1_500))
    #expect(result.actual == "connecting at 1.50 s, where connected should have come")
  }

  @Test(arguments: [true, false])
  func `a strict expectation counts the first value of what had none`(isSequence: Bool) {
    var sequence = Expectation.Sequence()
    (sequence.value, sequence.isStrict) = (.of("alice", "callback", .text), true)
    var step = Expectation.Sequence.Step()
    step.value = Located("left")
    sequence.steps = [step]
    var set = Expectation.SetOf()
    (set.value, set.contains, set.isStrict) = (sequence.value, [step.value], true)
    let bench = JudgeBench(isSequence ? .sequence(sequence) : .set(set))
    for (callback, time) in [("came", 1_000), ("left", 2_000)] {
      bench.at(Int64(time))
      bench.trace.write(PeerEvents.value("callback", String.self), bench.trace.subject("alice"), callback)
    }
    let result = bench.finish(at: 3_000)
    #expect(result.verdict == .fail && result.time == .zero + .milliseconds(1_000))
  }

  @Test func `a strict sequence allows nothing after its last step within the window`() {
    let steps: [(String, by: Int64?)] = [("calling", nil), ("ended", nil)]
    let open = JudgeBench(.sequence("alice", steps, strict: true))
    open.move("alice", to: "calling", at: 1_000)
    open.move("alice", to: "ended", at: 1_500)
    #expect(open.judge.isSettled)
    open.move("alice", to: "idle", at: 2_000)
    #expect(open.finish(at: 3_000).actual == "idle at 2.00 s after all steps")
    let window = Window(from: .time(0), to: .time(1_800))
    let closed = JudgeBench(.sequence("alice", steps, strict: true, between: window))
    closed.move("alice", to: "calling", at: 1_000)
    closed.move("alice", to: "ended", at: 1_500)
    closed.move("alice", to: "idle", at: 2_000)
    #expect(closed.finish(at: 3_000).verdict == .pass)
  }

  @Test func `a step that is late fails at its own deadline`() {
    let bench = JudgeBench(.sequence("alice", [("calling", nil), ("connected", 500)], of: .entry("accept")))
    bench.move("alice", to: "calling", at: 1_000)
    bench.fire("accept", at: 2_000)
    bench.move("alice", to: "connected", at: 2_600)
    let result = bench.finish(at: 3_000)
    #expect(result.verdict == .fail)
    #expect(result.time == .zero + .milliseconds(2_500))
    #expect(result.actual == "connected not by 2.50 s; it is calling since 1.00 s")
  }

  @Test func `a sequence within a window counts the value that held when it opened`() {
    let window = Window(from: .entry("drop"), to: .entry("bye"))
    let bench = JudgeBench(.sequence("alice", [("connected", nil), ("ended", nil)], strict: true, between: window))
    bench.move("alice", to: "connected", at: 1_000)
    bench.fire("drop", at: 2_000)
    bench.move("alice", to: "ended", at: 3_000)
    bench.fire("bye", at: 4_000)
    #expect(bench.finish(at: 5_000).verdict == .pass)
  }

  @Test(arguments: [Anchor.entry("bye"), .time(2_000)])
  func `what a value held counts where it changes as the window opens`(from: Anchor) {
    let window = Window(from: from)
    let bench = JudgeBench([
      .sequence("alice", [("connected", nil), ("ended", nil)], between: window),
      .sequence("alice", [("connected", nil), ("ended", nil)], strict: true, between: window),
      .set("alice", ["connected", "ended"], between: window),
    ])
    bench.move("alice", to: "connected", at: 1_000)
    bench.asOneEvent {
      bench.fire("bye", at: 2_000)
      bench.move("alice", to: "ended", at: 2_000)
    }
    bench.fire("later", at: 2_500)
    let results = bench.finishAll(at: 3_000)
    #expect(results.map(\.verdict) == [.pass, .pass, .pass], "\(results.map(\.actual))")
  }

  @Test func `an event of a peer that opens a window replaces what held before it`() {
    let window = Window(from: .state("alice", "ended"))
    let bench = JudgeBench([
      .sequence("alice", [("connected", nil), ("ended", nil)], between: window),
      .set("alice", ["connected", "ended"], between: window),
    ])
    bench.move("alice", to: "connected", at: 1_000)
    bench.move("alice", to: "ended", at: 2_000)
    #expect(bench.finishAll(at: 3_000).map(\.verdict) == [.fail, .fail])
  }

  @Test func `a value written before the entry of the same event is what the window opens with`() {
    let window = Window(from: .entry("bye"))
    let bench = JudgeBench(.sequence("alice", [("connected", nil), ("ended", nil)], strict: true, between: window))
    bench.asOneEvent {
      bench.move("alice", to: "connecting", at: 1_000)
      bench.move("alice", to: "connected", at: 1_000)
      bench.fire("bye", at: 1_000)
      bench.move("alice", to: "ended", at: 1_000)
    }
    #expect(bench.finish(at: 2_000).verdict == .pass)
  }

  @Test(arguments: [false, true])
  func `a step with a time is none before the anchor that its time counts from`(isStrict: Bool) {
    let bench = JudgeBench(
      .sequence("alice", [("calling", nil), ("connected", 500)], strict: isStrict, of: .entry("bye")))
    bench.move("alice", to: "calling", at: 1_000)
    bench.move("alice", to: "connected", at: 1_500)
    bench.fire("bye", at: 2_000)
    let result = bench.finish(at: 3_000)
    #expect(result.verdict == .fail)
    if isStrict {
      #expect(result.actual == "connected at 1.50 s, before 'bye'")
    } else {
      #expect(result.actual == "connected not by 2.50 s; it is connected since 1.50 s")
      #expect(result.nearestMiss == "reached calling 1.00; connected came at 1.50 s, before bye")
    }
  }

  @Test func `a step at exactly the time that its own time counts from is in time`() {
    let bench = JudgeBench(.sequence("alice", [("connected", 500)], of: .time(1_500)))
    bench.move("alice", to: "connected", at: 1_500)
    #expect(bench.finish(at: 3_000).verdict == .pass)
  }

  @Test func `a sequence whose anchor never came is vacuous`() {
    for window in [Window(), Window(to: .entry("end"))] {
      let bench = JudgeBench(
        .sequence("alice", [("calling", nil), ("connected", 500)], of: .entry("bye"), between: window))
      bench.move("alice", to: "calling", at: 1_000)
      bench.move("alice", to: "connected", at: 1_200)
      bench.fire("end", at: 2_000)
      let result = bench.finish(at: 3_000)
      #expect(result.verdict == .vacuous)
      let isOpen = window.to == nil
      #expect(result.actual == (isOpen ? "'bye' never came" : "'bye' had not come when the window closed at 2.00 s"))
    }
  }

  @Test func `a set wants every value in any order`() {
    let bench = JudgeBench(.set("alice", ["ended", "calling"]))
    bench.move("alice", to: "calling", at: 1_000)
    #expect(!bench.judge.isSettled)
    bench.move("alice", to: "ended", at: 2_000)
    #expect(bench.finish(at: 3_000).actual == "all by 2.00 s")
    let missing = JudgeBench(.set("alice", ["ended", "calling"]))
    missing.move("alice", to: "calling", at: 1_000)
    let result = missing.finish(at: 3_000)
    #expect(result.actual == "ended not seen by 3.00 s")
    #expect(result.nearestMiss == "seen: calling 1.00")
  }

  @Test func `a strict set refuses other values`() {
    let bench = JudgeBench(.set("alice", ["calling"], strict: true))
    bench.move("alice", to: "calling", at: 1_000)
    bench.move("alice", to: "ended", at: 2_000)
    #expect(bench.finish(at: 3_000).actual == "ended at 2.00 s, which is none of them")
  }

  @Test func `count counts an event in its window, and fails as soon as it is too often`() {
    let kind = Wanted.Kind.count(
      .event("alice", "ice.restart"), .exactly(.count(1)), from: .entry("drop"), to: .entry("bye"))
    let bench = JudgeBench(kind)
    bench.restartICE("alice", at: 500)
    bench.fire("drop", at: 1_000)
    bench.restartICE("alice", at: 1_500)
    bench.fire("bye", at: 2_000)
    bench.restartICE("alice", at: 2_500)
    #expect(bench.finish(at: 3_000).actual == "once: at 1.50 s")
    let often = JudgeBench(kind)
    often.fire("drop", at: 1_000)
    often.restartICE("alice", at: 1_500)
    often.restartICE("alice", at: 1_600)
    let result = often.finish(at: 3_000)
    #expect(result.time == .zero + .milliseconds(1_600))
    #expect(result.actual == "twice: at 1.50 s, 1.60 s")
  }

  @Test func `a user's action counts by its name, and a flag every time it becomes true`() {
    let bench = JudgeBench([
      .count(.event("alice", "user.mute"), .exactly(.count(1))),
      .count(.becomes("alice", "mic.muted"), .exactly(.count(2))),
    ])
    bench.act("alice", "mute", at: 1_000)
    bench.act("alice", "unmute", at: 1_100)
    for (index, value) in [true, false, true, true].enumerated() {
      bench.set("alice", "mic.muted", value, at: 2_000 + Int64(index))
    }
    #expect(bench.finishAll(at: 3_000).map(\.verdict) == [.pass, .pass])
  }

  @Test func `sometimes is for all runs to decide`() {
    let kind = Wanted.Kind.sometimes(.state("alice", "connected"))
    let missed = JudgeBench(kind)
    #expect(missed.judge.isSettled)
    let first = missed.finish(at: 1_000)
    #expect(first.verdict == .shared)
    let reached = JudgeBench(kind)
    reached.move("alice", to: "connected", at: 500)
    let second = reached.finish(at: 1_000)
    let together = AcrossSeeds.judge([first, second])
    #expect(together?.verdict == .pass)
    #expect(together?.actual == "reached in 1 of 2 runs")
    #expect(AcrossSeeds.judge([first])?.verdict == .fail)
    let unset = JudgeBench(.sometimes(.flag("alice", "audible"))).finish(at: 1_000)
    #expect(AcrossSeeds.judge([unset])?.verdict == .vacuous)
    #expect(AcrossSeeds.judge([unset, first, second])?.actual == "reached in 1 of 3 runs")
  }

  @Test func `a share counts the runs in which an expectation held`() throws {
    func result(_ code: String?) -> ExpectationResult {
      let bench = JudgeBench(.ends("alice", "ice-failed", within: 1_000, of: .entry("accept"))) {
        $0.expectations[0].share = [.atLeast(.percentage(0.4)), .less(.percentage(0.6))]
      }
      if let code {
        bench.fire("accept", at: 100)
        bench.end("alice", code, at: 500)
      }
      return bench.finish(at: 2_000)
    }
    let (held, broke, untested) = (result("ice-failed"), result("local-hangup"), result(nil))
    #expect([held, broke, untested].map(\.verdict) == [.shared, .shared, .shared])
    #expect(held.expected.hasSuffix("in at least 40% and less than 60% of the runs"))
    let half = try #require(AcrossSeeds.judge([held, broke, untested]))
    #expect(half.verdict == .pass)
    #expect(half.actual == "it held in 1 of 2 runs, 50%")
    #expect(AcrossSeeds.judge([held, held, broke])?.verdict == .fail)
    #expect(AcrossSeeds.judge([untested])?.verdict == .vacuous)
  }
}
