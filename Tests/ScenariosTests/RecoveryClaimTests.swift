import CallCore
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge

/// Whose loss it is that `recovers` has seen, by when its target is missing without the fault.
@Suite struct RecoveryClaimTests {
  private typealias Absence = RecoveryWatch.Absence

  private static func time(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

  /// Of a fault at 10 s, whose target was lost at 10.5 s first. Times are milliseconds.
  private static func claim(lastLoss: Int64 = 10_500, failure: Int64? = nil) -> RecoveryClaim {
    RecoveryClaim(
      recovers: Wanted.Recovers(), participants: [], began: time(10_000), firing: time(10_000), firstLoss: time(10_500),
      lastLoss: time(lastLoss),
      failure: failure.map(time))
  }

  private static func loss(_ claim: RecoveryClaim, _ absences: [(Int64, Int64?)]) -> Instant? {
    claim.loss(among: absences.map { Absence(start: time($0), end: $1.map(time)) })
  }

  @Test(arguments: [(Int64(10_000), true), (10_500, true), (11_000, true), (11_001, false)])
  func `a first loss is not the fault's when it comes without it, at most half a second later`(
    start: Int64, isRefuted: Bool
  ) {
    for failure in [nil, Int64(15_000)] {
      let loss = Self.loss(Self.claim(failure: failure), [(start, 11_200)])
      #expect(loss == (isRefuted ? Self.time(start) : nil))
    }
  }

  @Test func `what is never lost without the fault is the fault's`() {
    #expect(Self.loss(Self.claim(), []) == nil)
    #expect(Self.loss(Self.claim(failure: 15_000), []) == nil)
  }

  private static let laterAbsences: [([(Int64, Int64?)], Bool)] = [
    ([(12_000, 14_000)], false), ([(12_000, 14_500)], false), ([(12_000, 14_501)], true), ([(12_000, nil)], true),
    ([(15_000, nil)], true), ([(15_001, nil)], false), ([(11_600, 11_700), (14_000, 14_600)], true),
  ]

  @Test(arguments: laterAbsences)
  func `a failure is not the fault's when the target is missing then without it, too`(
    absences: [(Int64, Int64?)], isRefuted: Bool
  ) {
    let loss = Self.loss(Self.claim(failure: 15_000), absences)
    #expect(loss == (isRefuted ? Self.time(absences.last!.0) : nil))
    #expect(Self.loss(Self.claim(), absences) == nil)
  }

  @Test(arguments: [(Int64(15_500), true), (15_501, false)])
  func `a later loss that makes it fail is not the fault's when it comes without it, too`(
    start: Int64, isRefuted: Bool
  ) {
    for failure in [Int64(15_000), 15_200] {
      let loss = Self.loss(Self.claim(lastLoss: 15_000, failure: failure), [(start, nil)])
      #expect(loss == (isRefuted ? Self.time(start) : nil))
    }
  }

  @Test func `a run without the fault goes on for half a second after what it has to show`() {
    #expect(Self.claim().horizon == Self.time(11_000))
    #expect(Self.claim(failure: 15_000).horizon == Self.time(15_000))
    #expect(Self.claim(lastLoss: 14_900, failure: 15_000).horizon == Self.time(15_400))
    #expect(!Self.claim(failure: 15_000).isDecided(by: [Absence(start: Self.time(12_000))]))
    #expect(Self.claim(failure: 15_000).isDecided(by: [Absence(start: Self.time(10_000))]))
  }

  // MARK: Claims

  private func bench(within: Int64 = 4_000, hold: Int64? = nil, share: Wanted.Bound? = nil) -> JudgeBench {
    JudgeBench(.recovers("drop", to: .predicate(.state("alice", "connected")), within: within, hold: hold)) {
      $0.expectations[0].share = share.map { [$0] }
    }
  }

  private func play(_ bench: JudgeBench, _ moves: (String, Int64)...) -> RecoversMonitor {
    bench.move("alice", to: "connected", at: 100)
    bench.fire("drop", at: 1_000)
    for (state, time) in moves { bench.move("alice", to: state, at: time) }
    bench.at(9_000)
    bench.judge.finish(at: Self.time(9_000))
    return bench.judge.recoveries[0]
  }

  @Test func `a recovery claims the first loss, a failure what made it fail, too`() throws {
    let good = try #require(play(bench(), ("reconnecting", 1_600), ("connected", 2_500)).claims.first)
    #expect((good.firing, good.firstLoss, good.failure) == (Self.time(1_000), Self.time(1_600), nil))
    let late = try #require(play(bench(), ("reconnecting", 1_600), ("connected", 6_000)).claims.first)
    #expect((late.firstLoss, late.lastLoss, late.failure) == (Self.time(1_600), Self.time(1_600), Self.time(5_000)))
    let again = try #require(
      play(bench(hold: 3_000), ("reconnecting", 1_600), ("connected", 4_500), ("reconnecting", 6_000)).claims.first)
    #expect((again.firstLoss, again.lastLoss, again.failure) == (Self.time(1_600), Self.time(6_000), Self.time(6_000)))
  }

  // MARK: An entry that fires several times

  private func repeated(hold: Int64? = nil) -> JudgeBench {
    JudgeBench(.recovers("drop", to: .predicate(.state("alice", "connected")), within: 4_000, hold: hold)) {
      var entry = TimelineEntry()
      (entry.id, entry.trigger) = ("drop", .every(.seconds(10), from: nil, until: nil, times: 3))
      $0.timeline = [entry]
    }
  }

  /// Moves alice between the states, and fires the entry where a move is named so.
  private func play(_ bench: JudgeBench, _ moves: [(String, Int64)], end: Int64 = 30_000) -> ExpectationResult {
    bench.move("alice", to: "connected", at: 100)
    for (state, time) in moves {
      if state == "drop" { bench.fire("drop", at: time) } else { bench.move("alice", to: state, at: time) }
    }
    return bench.finish(at: end)
  }

  @Test func `every firing is judged with its own deadline`() {
    let good = [
      ("drop", Int64(1_000)), ("reconnecting", 1_500), ("connected", 2_000), ("drop", 11_000), ("reconnecting", 11_500),
      ("connected", 14_000),
    ]
    let passed = play(repeated(), good)
    #expect(passed.verdict == .pass)
    #expect(passed.actual == "recovered twice, the slowest at 14.00 s, after 3s")
    let failed = play(repeated(), good.dropLast() + [("connected", 15_500)])
    #expect(failed.verdict == .fail)
    #expect(failed.actual == "lost at 11.50 s, and not back by 15.00 s")
    #expect(failed.miss == 0.5)
  }

  @Test func `a firing that finds it missing is judged with the one before`() {
    let burst = [("drop", Int64(1_000)), ("reconnecting", 1_100), ("drop", 1_200), ("drop", 1_400)]
    #expect(play(repeated(), burst + [("connected", 4_900)]).verdict == .pass)
    #expect(play(repeated(), burst + [("connected", 5_100)]).verdict == .fail)
  }

  @Test func `what a later firing takes breaks the hold of an earlier one`() {
    let first = [("drop", Int64(1_000)), ("reconnecting", 1_500), ("connected", 2_000)]
    let second = [("drop", Int64(4_000)), ("reconnecting", 4_500), ("connected", 5_000)]
    let held = play(repeated(hold: 3_000), first + second)
    #expect(held.actual == "recovered twice, the slowest at 5.00 s, after 4s")
    let broken = play(repeated(hold: 3_000), first + second + [("reconnecting", 7_500), ("connected", 7_600)])
    #expect(broken.verdict == .fail)
    #expect(broken.actual == "back at 5.00 s, and lost again at 7.50 s, before it had held for 3s")
    #expect(broken.miss == 0.5)
    #expect(broken.nearestMiss == "alice.call.state is reconnecting since 7.50 s")
  }

  @Test func `a firing that takes nothing leaves the hold of the one before`() {
    let moves = [("drop", Int64(1_000)), ("reconnecting", 1_500), ("connected", 2_000), ("drop", 4_000)]
    let result = play(repeated(hold: 6_000), moves)
    #expect(result.verdict == .pass)
    #expect(result.actual == "recovered at 2.00 s, after 1s; once the fault took nothing")
  }

  @Test func `a firing that finds nothing to take makes it vacuous, wherever it comes`() {
    let good = [("drop", Int64(1_000)), ("reconnecting", 1_500), ("connected", 2_000)]
    let missing = [("ended", Int64(9_000)), ("drop", 11_000)]
    let later = play(repeated(), good + missing)
    #expect(later.verdict == .vacuous)
    #expect(later.actual.hasPrefix("it was not there when the fault came at 11.00 s, so that nothing could be lost"))
    let bench = repeated()
    bench.fire("drop", at: 50)
    let first = play(bench, good)
    #expect(first.verdict == .vacuous)
    let failed = play(repeated(), good.dropLast() + missing)
    #expect(failed.verdict == .fail)
  }

  @Test func `a claim is of the firing that took the target`() throws {
    let bench = repeated()
    _ = play(
      bench,
      [
        ("drop", 1_000), ("reconnecting", 7_000), ("connected", 8_000), ("drop", 11_000), ("reconnecting", 11_500),
        ("connected", 12_000),
      ])
    let claim = try #require(bench.judge.recoveries[0].claims.first)
    #expect((claim.began, claim.firing, claim.firstLoss) == (Self.time(1_000), Self.time(11_000), Self.time(11_500)))
    #expect(Self.loss(claim, []) == nil)
    #expect(Self.loss(claim, [(11_000, nil)]) == Self.time(11_000))
    #expect(Self.loss(claim, [(12_001, 12_100)]) == nil)
  }

  @Test func `firings that take nothing test nothing, and one that the end of the run cuts short leaves it open`() {
    let nothing = play(repeated(), [("drop", 1_000), ("drop", 11_000)])
    #expect(nothing.verdict == .vacuous)
    #expect(nothing.actual.hasPrefix("it was never lost"))
    let open = play(
      repeated(), [("drop", 1_000), ("reconnecting", 1_500), ("connected", 2_000), ("drop", 11_000)], end: 12_000)
    #expect(open.verdict == .vacuous)
    #expect(open.actual == "the run ended at 12.00 s, before it was decided; the fault came at 11.00 s")
  }

  @Test func `what is vacuous anyway claims nothing`() {
    #expect(play(bench()).claims.isEmpty)
    #expect(play(bench(within: 9_000), ("reconnecting", 1_600)).claims.isEmpty)
  }

  @Test func `a refuted recovery is vacuous, and says when it is lost without the fault`() {
    let bench = bench()
    let monitor = play(bench, ("reconnecting", 1_600), ("connected", 2_500))
    #expect(bench.judge.results[0].verdict == .pass)
    monitor.refute(lossWithoutFault: Self.time(1_700), standing: nil)
    #expect(bench.judge.results[0].verdict == .vacuous)
    #expect(
      bench.judge.results[0].actual.hasPrefix(
        "it was lost at 1.60 s, but without 'drop' it is lost at 1.70 s, too: name the fault that takes it"))
  }

  @Test func `a refuted failure is vacuous and explains no failure`() {
    let bench = bench()
    let monitor = play(bench, ("reconnecting", 1_600), ("connected", 6_000))
    let failed = bench.judge.results[0]
    #expect(failed.verdict == .fail)
    #expect(!failed.trail.isEmpty && failed.nearestMiss != nil && failed.miss == 1)
    monitor.refute(lossWithoutFault: Self.time(4_800), standing: nil)
    let result = bench.judge.results[0]
    #expect(result.verdict == .vacuous)
    #expect(
      result.actual.hasPrefix(
        "lost at 1.60 s, and not back by 5.00 s, but without 'drop' it is lost at 4.80 s, too"))
    #expect(result.trail.isEmpty && result.nearestMiss == nil && result.miss == nil)
  }

  @Test func `a refuted recovery is not among the runs that have a share`() {
    let bench = bench(share: .atLeast(.percentage(0.5)))
    let monitor = play(bench, ("reconnecting", 1_600), ("connected", 2_500))
    #expect(bench.judge.results[0].measured == 1)
    monitor.refute(lossWithoutFault: Self.time(1_700), standing: nil)
    #expect(bench.judge.results[0].verdict == .shared)
    #expect(bench.judge.results[0].measured == nil)
  }
}
