import CallCore
import Testing
import VirtualPeer

@testable import ScenarioFormat
@testable import ScenarioJudge

@Suite struct JudgeDeadlineTests {
  private let up = Predicate.both(.state("alice", "connected"), .state("bob", "connected"))

  @Test func `eventually passes at the moment it becomes true, its deadline included`() {
    let bench = JudgeBench(.eventually(up, within: 3_000, of: .entry("accept")))
    bench.fire("accept", at: 1_000)
    bench.move("alice", to: "connected", at: 2_000)
    #expect(bench.watch.alarms.next == .zero + .seconds(4))
    bench.move("bob", to: "connected", at: 4_000)
    let result = bench.finish(at: 5_000)
    #expect(result.verdict == .pass)
    #expect(result.actual == "true at 4.00 s")
  }

  @Test func `eventually fails at its deadline and tells the conjunct that is missing`() {
    let bench = JudgeBench(.eventually(up, within: 3_000, of: .entry("accept")))
    bench.fire("accept", at: 1_000)
    bench.move("alice", to: "connected", at: 2_000)
    bench.move("bob", to: "connecting", at: 2_500)
    bench.judge.advance(to: .zero + .seconds(4))
    #expect(bench.judge.isSettled)
    bench.move("bob", to: "connected", at: 4_001)
    let result = bench.finish(at: 5_000)
    #expect(result.verdict == .fail)
    #expect(result.time == .zero + .seconds(4))
    #expect(
      result.expected == "alice.call.state == connected and bob.call.state == connected within 3s of accept")
    #expect(result.actual == "not true by 4.00 s: bob.call.state is connecting since 2.50 s")
  }

  @Test func `eventually with hold starts again when it breaks, and tells how long it had held`() {
    let bench = JudgeBench(.eventually(.state("alice", "connected"), within: 3_000, hold: 2_000))
    bench.move("alice", to: "connected", at: 1_000)
    bench.move("alice", to: "ended", at: 2_500)
    let result = bench.finish(at: 5_000)
    #expect(result.verdict == .fail)
    #expect(result.nearestMiss == "it was true from 1.00 s to 2.50 s, 1.5s of 2s")
  }

  @Test func `what is lost at the very end of the time for which it was to hold was held`() {
    let connected = Predicate.state("alice", "connected")
    for (loss, verdict) in [(3_000, .pass), (2_999, .fail)] as [(Int64, ExpectationResult.Verdict)] {
      let bench = JudgeBench([
        .eventually(connected, within: 2_500, hold: 1_000),
        .recovers("drop", to: .predicate(connected), within: 1_500, hold: 1_000),
      ])
      bench.move("alice", to: "connected", at: 500)
      bench.fire("drop", at: 1_000)
      bench.move("alice", to: "reconnecting", at: 1_200)
      bench.move("alice", to: "connected", at: 2_000)
      bench.move("alice", to: "ended", at: loss)
      let results = bench.finishAll(at: 5_000)
      #expect(results.map(\.verdict) == [verdict, verdict], "\(results.map(\.actual))")
      if verdict == .pass { #expect(results.map(\.time.seconds) == [3, 3]) }
    }
  }

  @Test func `what comes true after the run is over is not told of`() {
    let bench = JudgeBench(.eventually(up, within: 3_000))
    bench.at(4_000)
    bench.judge.finish(at: .zero + .seconds(5))
    bench.move("alice", to: "connected", at: 5_100)
    bench.move("bob", to: "connected", at: 5_200)
    #expect(bench.judge.results[0].verdict == .fail)
    #expect(bench.judge.results[0].nearestMiss == nil)
    #expect(bench.judge.results[0].miss == .infinity)
  }

  private static let counter = ValuePath.of("bob", "stats.inbound-rtp.audio.packetsReceived")
  private static let many = Predicate(.compare(.value(counter), .greater, .literal(.count(10))))

  @Test(arguments: [(20, "vacuous"), (5, "pass")])
  func `eventually of a counter that had come so far before tests nothing`(_ before: Int, _ verdict: String) {
    let bench = JudgeBench(.eventually(Self.many, within: 3_000, of: .entry("cut")))
    bench.set("bob", Self.counter.name, before, at: 500)
    bench.fire("cut", at: 1_000)
    bench.set("bob", Self.counter.name, before + 10, at: 2_000)
    let result = bench.finish(at: 5_000)
    #expect(result.verdict.rawValue == verdict)
    #expect(verdict == "pass" || result.actual.hasPrefix("it was true when 'cut' came, and a counter does not fall"))
  }

  @Test(arguments: [(20, "vacuous"), (5, "pass")])
  func `leads_to a counter that had come so far before tests nothing`(_ before: Int, _ verdict: String) {
    let bench = JudgeBench(.leads(.state("alice", "connected"), to: Self.many, within: 3_000))
    bench.set("bob", Self.counter.name, before, at: 500)
    bench.move("alice", to: "connected", at: 1_000)
    bench.set("bob", Self.counter.name, before + 10, at: 2_000)
    bench.at(4_500)
    #expect(bench.finish(at: 5_000).verdict.rawValue == verdict)
  }

  @Test func `a predicate stays true when it asks of counters alone that they have come so far`() {
    let counter = Operand.value(Self.counter)
    func compare(_ comparison: Comparison, _ number: Int) -> Predicate {
      Predicate(.compare(counter, comparison, .literal(.count(number))))
    }
    let below = Predicate(.compare(.literal(.count(3)), .lessOrEqual, counter))
    let state = Predicate.state("alice", "idle")
    let gauge = ValuePath.of("bob", "stats.candidate-pair.currentRoundTripTime")
    let settled = [
      Self.many, below, compare(.notEqual, 0), Predicate(.not(compare(.equal, 0))),
      Predicate(.not(.less(Self.counter, 3))),
      Predicate(.or([.state("alice", "ended"), Self.many])), .both(Self.many, below),
      Predicate(.defined("x", Self.many)), compare(.notEqual, 7), Predicate(.not(compare(.equal, 7))),
      Predicate(.not(Predicate(.isIn(counter, [.count(0), .count(19)])))),
    ]
    let open = [
      .less(Self.counter, 30), Predicate(.not(compare(.greater, 30))), .both(Self.many, state), compare(.notEqual, 30),
      Predicate(.not(Predicate(.isIn(counter, [.count(0), .count(30)])))), Predicate(.isIn(counter, [.count(20)])),
      Predicate(.or([state, compare(.greater, 30)])), Predicate(.compare(.value(gauge), .greater, .literal(.count(1)))),
    ]
    let bench = JudgeBench(.sometimes(state))
    let conditions = [settled, open].map { $0.map { Condition($0, watch: bench.watch) } }
    for name in [Self.counter.name, gauge.name] { bench.set("bob", name, 20, at: 100) }
    bench.move("alice", to: "idle", at: 200)
    for condition in conditions[0] { #expect(condition.isTrueForGood, "\(condition.predicate)") }
    for condition in conditions[1] {
      #expect(condition.isTrue && !condition.isTrueForGood, "\(condition.predicate)")
    }
  }

  @Test func `eventually whose anchor never came is vacuous, and so is one that the end of the run cuts short`() {
    let never = JudgeBench(.eventually(up, within: 3_000, of: .entry("accept")))
    #expect(never.finish(at: 5_000).verdict == .vacuous)
    let short = JudgeBench(.eventually(up, within: 3_000))
    let result = short.finish(at: 2_000)
    #expect(result.verdict == .vacuous)
    #expect(result.actual == "the run ended at 2.00 s, before the deadline at 3.00 s")
  }

  @Test func `an end with the code passes, and one with another code fails at once`() {
    let right = JudgeBench(.ends("alice", "local-hangup", within: 1_000, of: .entry("bye")))
    right.fire("bye", at: 1_000)
    right.end("alice", "local-hangup", at: 1_200)
    #expect(right.finish(at: 5_000).actual == "ended with local-hangup at 1.20 s")
    let wrong = JudgeBench(.ends("alice", "local-hangup", within: 1_000, of: .entry("bye")))
    wrong.fire("bye", at: 1_000)
    wrong.end("alice", "ice-failed", at: 1_200)
    #expect(wrong.judge.isSettled)
    #expect(wrong.finish(at: 5_000).actual == "ended with ice-failed at 1.20 s instead")
  }

  @Test func `an end that does not come tells the state the peer stayed in, and an end before its time`() {
    let bench = JudgeBench(.ends("alice", "local-hangup", within: 1_000, of: .entry("bye")))
    bench.move("alice", to: "connecting", at: 400)
    bench.end("alice", "setup-timeout", at: 700)
    bench.fire("bye", at: 1_000)
    let result = bench.finish(at: 5_000)
    #expect(result.verdict == .fail)
    #expect(result.time == .zero + .seconds(2))
    #expect(result.actual == "still connecting at 2.00 s, since 0.40 s")
    #expect(result.nearestMiss == "it had ended with setup-timeout at 0.70 s, before bye")
  }

  @Test func `an end at exactly the time that its deadline counts from is in time`() {
    let bench = JudgeBench([
      .ends("alice", "local-hangup", within: 1_000, of: .time(2_000)),
      .ends("alice", "remote-hangup", within: 1_000, of: .time(2_000)),
      .eventually(.state("alice", "ended"), within: 1_000, of: .time(2_000)),
    ])
    bench.move("alice", to: "ended", at: 2_000)
    bench.end("alice", "local-hangup", at: 2_000)
    #expect(bench.finishAll(at: 4_000).map(\.verdict) == [.pass, .fail, .pass])
  }

  @Test func `what holds up to exactly the time that a deadline counts from is true then, and does not last`() {
    let bench = JudgeBench([
      .eventually(.state("alice", "connected"), within: 1_000, of: .time(2_000)),
      .eventually(.state("alice", "connected"), within: 1_000, of: .time(2_000), hold: 1),
    ])
    bench.move("alice", to: "connected", at: 1_000)
    bench.move("alice", to: "ended", at: 2_000)
    let results = bench.finishAll(at: 4_000)
    #expect(results.map(\.verdict) == [.pass, .fail])
    #expect(results[0].actual == "true at 2.00 s")
    #expect(results[1].nearestMiss == "it was true from 2.00 s to 2.00 s, 0s of 1ms")
  }

  @Test func `leads_to wants the consequence after every time, and counts them`() {
    let kind = Wanted.Kind.leads(.state("alice", "ringing"), to: .flag("alice", "audible"), within: 1_000)
    let good = JudgeBench(kind)
    for start in [Int64(1_000), 3_000] {
      good.move("alice", to: "ringing", at: start)
      good.set("alice", "audible", true, at: start + 400)
      good.set("alice", "audible", false, at: start + 500)
      good.move("alice", to: "idle", at: start + 600)
    }
    #expect(good.finish(at: 9_000).actual == "it followed twice, after 400ms at most")
    let bad = JudgeBench(kind)
    bad.move("alice", to: "ringing", at: 1_000)
    let result = bad.finish(at: 9_000)
    #expect(result.time == .zero + .seconds(2))
    #expect(
      result.actual == "the condition became true at 1.00 s, and by 2.00 s alice.audible was never set")
    #expect(JudgeBench(kind).finish(at: 9_000).actual == "the condition was never true")
  }

  @Test func `a fault is recovered from when media, lost since, arrives at both ends again and stays`() {
    let bench = JudgeBench(.recovers("drop", within: 4_000, hold: 1_000))
    for peer in ["alice", "bob"] { bench.move(peer, to: "connected", at: 0) }
    for time in stride(from: Int64(0), through: 2_000, by: 100) { bench.receive(at: time) }
    bench.fire("drop", at: 2_000)
    bench.mediaReceived("alice", at: 4_000)
    for time in stride(from: Int64(4_500), through: 6_000, by: 100) { bench.receive(at: time) }
    let result = bench.finish(at: 7_000)
    #expect(result.verdict == .pass)
    #expect(result.actual == "recovered at 4.50 s, after 2.5s")
    #expect(result.time == .zero + .milliseconds(5_500))
  }

  @Test func `media in one direction is no recovery, and the last packets of each peer are told`() {
    let bench = JudgeBench(.recovers("drop", within: 4_000))
    for peer in ["alice", "bob"] { bench.move(peer, to: "connected", at: 0) }
    for time in stride(from: Int64(0), through: 2_000, by: 100) { bench.receive(at: time) }
    bench.fire("drop", at: 2_000)
    for time in stride(from: Int64(3_000), through: 5_900, by: 100) { bench.mediaReceived("alice", at: time) }
    let result = bench.finish(at: 7_000)
    #expect(result.verdict == .fail)
    #expect(result.actual == "lost at 2.50 s, and not back by 6.00 s")
    #expect(result.nearestMiss == "alice last received media at 5.90 s, bob last received media at 2.00 s")
  }

  @Test func `recovery from a fault that interrupted nothing is vacuous`() {
    let bench = JudgeBench(.recovers("drop", to: .predicate(.state("alice", "connected")), within: 1_000))
    bench.move("alice", to: "connected", at: 100)
    bench.fire("drop", at: 1_000)
    let result = bench.finish(at: 3_000)
    #expect(result.verdict == .vacuous)
    #expect(result.time == .zero + .seconds(2))
    #expect(result.actual.hasPrefix("it was never lost"))
  }

  @Test func `what was not there when the fault began cannot come back`() {
    let state = JudgeBench(.recovers("drop", to: .predicate(.state("alice", "connected")), within: 1_000))
    state.fire("drop", at: 1_000)
    state.move("alice", to: "connected", at: 1_500)
    let media = JudgeBench(.recovers("drop", within: 1_000))
    media.fire("drop", at: 1_000)
    media.receive(at: 1_500)
    for result in [state.finish(at: 3_000), media.finish(at: 3_000)] {
      #expect(result.verdict == .vacuous)
      #expect(result.actual.hasPrefix("it was not there when the fault began"))
    }
  }

  @Test func `a failure tells what came too late`() {
    let bench = JudgeBench([
      .eventually(.state("alice", "connected"), within: 2_000), .ends("alice", "remote-hangup", within: 2_000),
      .sequence("alice", [("connected", by: 2_000)]),
    ])
    bench.move("alice", to: "connected", at: 2_054)
    bench.end("alice", "remote-hangup", at: 2_300)
    let results = bench.finishAll(at: 3_000)
    #expect(results.map(\.verdict) == [.fail, .fail, .fail])
    #expect(results.map(\.miss) == [0.054, 0.3, 0.054])
    #expect(results[0].nearestMiss == "it became true at 2.054 s, 54ms too late")
    #expect(results[1].nearestMiss == "it ended with remote-hangup at 2.30 s, 300ms too late")
    #expect(results[2].nearestMiss?.hasSuffix("connected came at 2.054 s, 54ms too late") == true)
  }

  @Test func `any of several end codes will do`() {
    for (code, verdict) in [
      ("local-hangup", ExpectationResult.Verdict.pass), ("remote-hangup", .pass), ("busy", .fail),
    ] {
      let bench = JudgeBench(.ends("alice", "local-hangup", "remote-hangup"))
      bench.end("alice", code, at: 1_000)
      let result = bench.finish(at: 2_000)
      #expect(result.verdict == verdict)
      #expect(result.expected == "alice's call ends with local-hangup or remote-hangup")
    }
  }

  @Test func `leads_to waits until its condition was true once`() {
    let bench = JudgeBench(.leads(.state("alice", "ringing"), to: .flag("alice", "audible"), within: 1_000))
    #expect(!bench.judge.isSettled)
    bench.move("alice", to: "ringing", at: 45_000)
    bench.set("alice", "audible", true, at: 45_400)
    #expect(bench.judge.isSettled)
  }

  @Test func `a fault that never came makes recovery vacuous`() {
    #expect(JudgeBench(.recovers("drop", within: 4_000)).finish(at: 7_000).verdict == .vacuous)
  }
}

extension JudgeBench {
  fileprivate func receive(at time: Int64) {
    mediaReceived("alice", at: time)
    mediaReceived("bob", at: time)
  }
}
