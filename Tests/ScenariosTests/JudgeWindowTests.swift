import CallCore
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun

@Suite struct JudgeWindowTests {
  private let connected = Predicate.state("alice", "connected")

  @Test func `always holds from the event that opens the window to the one that closes it`() {
    let bench = JudgeBench(
      .always(connected, from: .state("alice", "connected"), to: .state("alice", "ended")))
    bench.move("alice", to: "connected", at: 1_000)
    bench.move("alice", to: "ended", at: 5_000)
    #expect(bench.judge.isSettled)
    let result = bench.finish(at: 6_000)
    #expect(result.verdict == .pass)
    #expect(result.time == .zero + .seconds(5))
    #expect(result.expected == "always alice.call.state == connected, between alice.connected and alice.ended")
  }

  @Test func `always fails at the first moment at which it is false, with the value that broke it`() {
    let bench = JudgeBench(.always(connected, from: .state("alice", "connected"), to: .entry("bye")))
    bench.move("alice", to: "connected", at: 1_000)
    bench.move("alice", to: "ended", at: 2_340)
    bench.fire("bye", at: 3_000)
    let result = bench.finish(at: 4_000)
    #expect(result.verdict == .fail)
    #expect(result.actual == "false at 2.34 s: alice.call.state is ended since 2.34 s")
    #expect(
      result.trail == ["alice: idle 0.00 > connected 1.00 > ended 2.34", "bob: idle 0.00"])
  }

  /// Of a call: the state, then that the user accepted; of a hangup: the microphone, then the state.
  @Test(arguments: [
    ("alice.call.state == calling and not alice.user.accepted", true),
    ("alice.call.state == connected and not alice.mic.open", true),
    ("alice.call.state == connected and not alice.mic.open or alice.call.state == ended", false),
  ])
  func `nobody sees what is so only in the midst of what an entry does`(_ predicate: String, _ isHidden: Bool) throws {
    let result = try play(
      "run: 20s\ndefine: { half: \"\(predicate)\" }",
      timeline: """
        \(sevenSeconds)
          - { mark: anchor, after: 1s, of: half }
          - { mark: trigger, when: half }
        """,
      expect: """
          - { count: "\(predicate)", between: [5s, end], eq: 0 }
          - { count: half, between: [5s, end], eq: 0 }
          - { never: half, between: [5s, end] }
        """)
    let unfired = result.findings.filter { $0.title.hasPrefix("timeline entry") }.count
    let broken = result.findings.filter { $0.kind == .expectation }.count
    #expect((unfired, broken) == (isHidden ? (2, 0) : (0, 3)), "\(result.findings)")
  }

  @Test(arguments: [
    "always: bob.call.state == connected, between: [bob.connected, over]",
    "never: bob.audible, between: [start, bob.audible]", "never: bob.audible, between: [start, loud]",
    "set: bob.call.state, contains: [connected], strict: true, between: [up, over]",
    "count: bob.connected, between: [up, 9s], eq: 1", "count: bob.ended, between: [up, over], eq: 0",
  ])
  func `a border comes before whoever looks, whatever else asks for it`(_ expectation: String) throws {
    let others = ["over", "up", "loud", "bob.audible", "bob.connected"].map {
      "eventually: true, within: 1s, of: \($0)"
    }
    let both = [others + [expectation], [expectation] + others]
    for expectations in both {
      let result = try play(
        """
        run: 20s
        define:
          over: bob.call.state == ended
          up: bob.call.state == connected
          loud: bob.audible
        """,
        timeline: sevenSeconds,
        expect: expectations.map {
          "  - { \($0.replacing("eventually: true", with: "eventually: alice.socket.state == connected")) }"
        }
        .joined(separator: "\n"))
      #expect(result.verdict == .pass, "\(result.findings)")
    }
  }

  @Test func `a window whose beginning never came is vacuous`() {
    let bench = JudgeBench(.always(connected, from: .entry("drop"), to: .entry("bye")))
    bench.fire("bye", at: 1_000)
    let result = bench.finish(at: 2_000)
    #expect(result.verdict == .vacuous)
    #expect(result.actual == "'drop' never came")
  }

  @Test func `a window between two anchors that never closed is vacuous`() {
    let bench = JudgeBench(.never(connected, from: .entry("drop"), to: .entry("bye")))
    bench.fire("bye", at: 500)
    bench.fire("drop", at: 1_000)
    #expect(!bench.judge.isSettled)
    let result = bench.finish(at: 2_000)
    #expect(result.verdict == .vacuous)
    #expect(
      result.actual == "the window that opened at 1.00 s never closed: 'bye' never came, only at 0.50 s, "
        + "before the window opened")
  }

  @Test func `never until something that never comes waits for it, and is vacuous`() {
    let bench = JudgeBench(.never(connected, to: .becomes("alice", "user.accepted")))
    bench.move("alice", to: "ringing", at: 1_000)
    #expect(!bench.judge.isSettled)
    let result = bench.finish(at: 2_000)
    #expect(result.verdict == .vacuous)
    #expect(
      result.actual == "the window that opened at 0.00 s never closed: 'alice.user.accepted' never came")
  }

  @Test func `a window until a time holds the run until then`() {
    let bench = JudgeBench(.never(connected, to: .time(60_000)))
    bench.judge.advance(to: .zero + .seconds(59))
    #expect(!bench.judge.isSettled)
    bench.judge.advance(to: .zero + .seconds(60))
    #expect(bench.judge.isSettled)
  }

  @Test func `a window to the end of a run that nobody gave a length is vacuous when nothing came after it opened`() {
    let kinds: [Wanted.Kind] = [
      .always(.state("alice", "connected"), from: .entry("drop")),
      .never(.state("alice", "ended"), from: .entry("drop")),
      .count(.event("alice", "ice.restart"), .exactly(.count(0)), from: .entry("drop")),
    ]
    for hasLater in [false, true] {
      let bench = JudgeBench(kinds) { $0.duration = nil }
      bench.move("alice", to: "connected", at: 500)
      bench.fire("drop", at: 1_000)
      if hasLater { bench.fire("later", at: 2_000) }
      let results = bench.finishAll(at: 3_000)
      #expect(results.map(\.verdict) == Array(repeating: hasLater ? .pass : .vacuous, count: 3))
      if !hasLater { #expect(results[0].actual.hasSuffix("nothing says how long the run lasts: write run:")) }
    }
  }

  @Test func `a value that was never set is neither true nor false, and makes always and never vacuous`() {
    let relay = Predicate.less(.of("alice", "selected.local.port"), 1_024)
    let bench = JudgeBench([.never(relay), .always(relay), .never(Predicate(.not(relay)))])
    let results = bench.finishAll(at: 2_000)
    #expect(results.map(\.verdict) == [.vacuous, .vacuous, .vacuous])
    #expect(
      results[0].actual
        == "alice.selected.local.port was never set, so that it was neither true nor false")
  }

  @Test func `what a value that was never set might have broken was not put to the test`() {
    let (unset, calling) = (Predicate.flag("alice", "audible"), Predicate.state("alice", "calling"))
    let ended = Predicate.both(unset, .state("alice", "ended"))
    let kinds: [Wanted.Kind] = [
      .never(ended), .always(Predicate(.not(ended))),
      .always(Predicate(.or([unset, .less(.of("alice", "connections.open"), 2)]))),
      .leads(Predicate(.or([unset, calling])), to: .state("alice", "idle"), within: 1_000),
      .count(Predicate(.or([unset, calling])), .less(.count(3))),
    ]
    for isSet in [false, true] {
      let bench = JudgeBench(kinds)
      bench.set("alice", "connections.open", 1, at: 0)
      bench.move("alice", to: "calling", at: 1_000)
      if isSet { bench.set("alice", "audible", true, at: 1_100) }
      bench.move("alice", to: "idle", at: 1_500)
      let results = bench.finishAll(at: 4_000)
      let verdict = isSet ? ExpectationResult.Verdict.pass : .vacuous
      #expect(results.map(\.verdict) == Array(repeating: verdict, count: kinds.count), "\(results.map(\.actual))")
      if !isSet { #expect(results.allSatisfy { $0.actual.contains("alice.audible was never set") }) }
    }
  }

  @Test func `what comes true needs nothing that was never set`() {
    let either = Predicate(.or([.flag("alice", "audible"), .state("alice", "calling")]))
    let bench = JudgeBench([.eventually(either), .count(either, .atLeast(.count(1))), .sometimes(either)])
    bench.move("alice", to: "calling", at: 1_000)
    #expect(bench.finishAll(at: 2_000).map(\.verdict) == [.pass, .pass, .pass])
  }

  @Test func `the state a peer begins with holds from the start`() {
    let bench = JudgeBench([
      .always(.state("alice", "idle")), .never(Predicate(.not(.state("alice", "idle")))),
      .always(Predicate(.not(.state("alice", "connected")))),
    ])
    #expect(bench.finishAll(at: 2_000).map(\.verdict) == [.pass, .pass, .pass])
  }

  @Test func `a definition that is true from the start comes at the start`() {
    let idle = Anchor(kind: .definition("quiet"), span: .builtIn, text: "quiet")
    let always = Anchor(kind: .definition("always"), span: .builtIn, text: "always")
    let bench = JudgeBench([
      .never(.state("alice", "connected"), from: idle, to: .entry("bye")),
      .never(.state("alice", "connected"), from: always, to: .entry("bye")),
      .count(always, .exactly(.count(1))),
    ]) {
      $0.definitions = [
        Scenario.Definition(name: "quiet", predicate: .state("alice", "idle"), span: .builtIn),
        Scenario.Definition(name: "always", predicate: .constant(true), span: .builtIn),
      ]
    }
    bench.fire("bye", at: 1_000)
    let results = bench.finishAll(at: 2_000)
    #expect(results.map(\.verdict) == [.pass, .pass, .pass], "\(results.map(\.actual))")
  }

  @Test func `never fails when it is true, and not when that comes with the end of the window`() {
    let early = JudgeBench(.never(connected, to: .becomes("alice", "user.accepted")))
    early.move("alice", to: "connected", at: 1_000)
    early.set("alice", "user.accepted", true, at: 1_200)
    #expect(early.finish(at: 2_000).actual == "true at 1.00 s: alice.call.state is connected since 1.00 s")
    let late = JudgeBench(.never(connected, to: .state("alice", "connected")))
    late.move("alice", to: "connected", at: 1_000)
    #expect(late.finish(at: 2_000).verdict == .pass)
  }

  @Test func `a window that begins by the clock sees what was so before it`() {
    let bench = JudgeBench(.always(connected, from: .time(2_000), to: .time(3_000)))
    bench.move("alice", to: "calling", at: 1_000)
    bench.move("alice", to: "connected", at: 2_500)
    let result = bench.finish(at: 4_000)
    #expect(result.verdict == .fail)
    #expect(result.time == .zero + .seconds(2))
  }

  @Test func `what held up to exactly the time at which a window opens counts in it`() {
    let bench = JudgeBench([
      .never(connected, from: .time(2_000), to: .time(3_000)),
      .always(.state("alice", "ended"), from: .time(2_000), to: .time(3_000)),
      .always(.state("alice", "ended"), from: .time(2_001), to: .time(3_000)),
      .sequence(
        "alice", [("connected", by: nil), ("ended", by: nil)], between: Window(from: .time(2_000), to: .time(3_000))),
    ])
    bench.move("alice", to: "connected", at: 1_000)
    bench.move("alice", to: "ended", at: 2_000)
    let results = bench.finishAll(at: 4_000)
    #expect(results.map(\.verdict) == [.fail, .fail, .pass, .pass])
    #expect(results[0].actual == "true at 2.00 s: alice.call.state is connected since 1.00 s")
    #expect(results[1].actual == "false at 2.00 s: alice.call.state is connected since 1.00 s")
    #expect(results[0].time == .zero + .seconds(2))
  }

  @Test func `a sequence whose last step holds when the window opens is complete, whatever comes then`() {
    let window = Window(from: .time(2_000), to: .time(5_000))
    let bench = JudgeBench([
      .sequence("alice", [("connected", by: nil)], between: window),
      .sequence("alice", [("connected", by: 1_000)], of: .time(2_000), between: window),
      .sequence("alice", [("connected", by: nil)], between: Window(from: .entry("half"), to: .entry("bye"))),
      .sequence("alice", [("connected", by: nil)], strict: true, between: window),
      .sequence("alice", [("connected", by: nil)], strict: true, between: Window(from: .time(2_000), to: .time(3_000))),
    ])
    bench.move("alice", to: "connected", at: 1_000)
    bench.fire("half", at: 2_000)
    bench.move("alice", to: "ended", at: 3_000)
    bench.fire("bye", at: 4_000)
    let results = bench.finishAll(at: 6_000)
    #expect(results.map(\.verdict) == [.pass, .pass, .pass, .fail, .pass], "\(results.map(\.actual))")
    #expect(results[..<3].allSatisfy { $0.time == .zero + .seconds(2) && $0.actual == "all steps by 2.00 s" })
  }

  @Test func `a strict set counts what holds when its window opens, wanted or not`() {
    let clock = Window(from: .time(2_000), to: .time(4_000))
    let entry = Window(from: .entry("half"), to: .time(4_000))
    let bench = JudgeBench([
      .set("alice", ["ended"], strict: true, between: clock), .set("alice", ["ended"], strict: true, between: entry),
      .set("alice", ["ended", "connected"], strict: true, between: clock),
      .set("alice", ["ended", "connected"], strict: true, between: entry),
      .set("alice", ["ended"], strict: true, between: Window(from: .state("alice", "ended"), to: .time(4_000))),
      .set("alice", ["ended"], between: clock), .set("bob", ["calling"], strict: true, between: clock),
      // What it starts with, before it takes anything, is no value that it takes.
      .set("alice", ["ended", "connected"], strict: true), .set("bob", ["calling"], strict: true),
    ])
    bench.move("alice", to: "connected", at: 1_000)
    bench.fire("half", at: 2_500)
    bench.move("alice", to: "ended", at: 3_000)
    bench.move("bob", to: "calling", at: 3_500)
    let results = bench.finishAll(at: 6_000)
    #expect(
      results.map(\.verdict) == [.fail, .fail, .pass, .pass, .pass, .pass, .fail, .pass, .pass],
      "\(results.map(\.actual))")
    #expect(results[0].actual == "connected at 2.00 s, which is none of them")
  }

  @Test func `a predicate is looked at after what the entry did that opens a window`() throws {
    let result = try play(
      "run: 15s",
      timeline: """
          - { at: 0s, do: alice.call, to: bob }
          - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
          - { id: bye, at: 10s, do: alice.hangup }
        """,
      expect: """
          - { always: alice.call.state == ended, between: [bye, 10500ms] }
          - { never: alice.call.state == connected, between: [bye, 10500ms] }
          - { never: alice.call.state == connected, between: [10s, 10500ms] }
          - { sequence: alice.call.state, is: [connected, ended], between: [bye, 10500ms] }
        """)
    #expect(result.findings.map(\.title) == ["never: alice.call.state == connected, between: [10s, 10500ms]"])
  }

  @Test func `a window that begins and ends at the same moment is vacuous`() {
    let bench = JudgeBench(.always(connected, from: .time(2_000), to: .time(2_000)))
    #expect(bench.finish(at: 4_000).actual == "the window opened and closed at 2.00 s")
  }

  @Test(arguments: [
    "always: bob.call.state == connected", "never: alice.ice.state == disconnected",
    "count: alice.ice.restart", "count: alice.call.state == ended",
    "set: alice.ice.state, contains: [connected]", "sequence: alice.call.state, is: [connected], strict: true",
    "sequence: alice.call.state, is: [ended]", "metric: alice.stats.inbound-rtp.audio.packetsLost, stat: delta",
  ])
  func `a window that opens when its end is over is vacuous`(_ expectation: String) throws {
    let isMetric = expectation.hasPrefix("metric")
    let bounds = expectation.hasPrefix("count") ? ", eq: 0" : isMetric ? ", lt: 9" : ""
    let result = try play(
      "run: 15s", timeline: sevenSeconds,
      expect: "  - { \(expectation), \(isMetric ? "window" : "between"): [alice.connected, 1s]\(bounds) }")
    #expect(result.verdict == .vacuous)
    #expect(result.findings[0].actual.hasPrefix("the window ends at 1s, but 'alice.connected' came only at"))
  }

  @Test func `what comes when the clock opens a window comes after it, and closes it`() throws {
    let result = try play(
      "run: 15s", timeline: sevenSeconds,
      expect: "  - { never: alice.call.state == ended, between: [10s, alice.ended] }")
    #expect(result.verdict == .vacuous)
    #expect(result.findings[0].actual == "the window opened and closed at 10.00 s")
  }

  @Test func `a statistic proves nothing before its first sample`() {
    let loss = ValuePath.of("alice", "stats.inbound-rtp.audio.packetsLost")
    let sampled = JudgeBench(.always(.less(loss, 5)))
    sampled.set("alice", loss.name, 3, at: 1_000)
    #expect(sampled.finish(at: 2_000).verdict == .pass)
    let bad = JudgeBench(.always(.less(loss, 5)))
    bad.set("alice", loss.name, 7, at: 1_000)
    #expect(
      bad.finish(at: 2_000).actual
        == "false at 1.00 s: alice.stats.inbound-rtp.audio.packetsLost is 7 since 1.00 s")
    let unsampled = JudgeBench(.always(.less(loss, 5)))
    let result = unsampled.finish(at: 2_000)
    #expect(result.verdict == .vacuous)
    #expect(
      result.actual == "alice.stats.inbound-rtp.audio.packetsLost was never set, so that it was neither true nor false")
  }
}
