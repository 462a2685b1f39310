import Testing

@testable import ScenarioSuite

/// The order in which the bases of a search have their runs.
@Suite struct TurnsTests {
  private static func counts(_ turns: Turns, runs: Int, of bases: Int) -> [Int] {
    (0..<runs).reduce(into: Array(repeating: 0, count: bases)) { $0[turns.base(of: $1)] += 1 }
  }

  @Test func `bases take turns of twenty runs`() {
    let turns = Turns(limits: [nil, nil])
    #expect((0..<80).map { turns.base(of: $0) } == [0, 1, 0, 1].flatMap { Array(repeating: $0, count: 20) })
    #expect(turns.count == .max)
  }

  @Test func `no base has more runs than its limit`() {
    let turns = Turns(limits: [50, nil, 7])
    #expect(Self.counts(turns, runs: 57 + 143, of: 3) == [50, 143, 7])
  }

  @Test func `where every base has a limit, runs end`() {
    let turns = Turns(limits: [50, 7, 20])
    #expect(turns.count == 77)
    #expect(Self.counts(turns, runs: 77, of: 3) == [50, 7, 20])
  }

  @Test func `the base of a run does not depend on how many follow`() {
    for limits in [[30, 5, nil, 100], [1, 1, 1], [nil]] as [[Int?]] {
      let turns = Turns(limits: limits)
      let counts = Self.counts(turns, runs: min(400, turns.count), of: limits.count)
      for (count, limit) in zip(counts, limits) { #expect(count <= limit ?? .max) }
    }
  }

  @Test func `the number of bases that are reached is counted`() {
    let turns = Turns(limits: Array(repeating: nil, count: 10))
    #expect(turns.reachedCount(in: 1) == 1)
    #expect(turns.reachedCount(in: 41) == 3)
    #expect(turns.reachedCount(in: 1_000) == 10)
    #expect(Turns(limits: []).reachedCount(in: 0) == 0)
  }
}
