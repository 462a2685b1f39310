/// The order in which the bases of a campaign are varied: they take turns of a few runs, as long as each has runs left.
///
/// The base of a run follows from its number alone, and not from the number of all runs, so that a campaign can be
/// continued with more.
struct Turns: Sendable {
  /// The number of runs of one turn: enough for a run to build on what an earlier one has shown.
  static let length = 20

  /// The turns of all bases that have more than so many runs.
  private struct Phase {
    var bases: [Int]
    /// The number of runs of each base in this phase; nil in the last phase if it never ends.
    var runs: Int?
  }

  private var phases: [Phase] = []

  /// - Parameter limits: the largest number of runs of each base; nil for no limit.
  init(limits: [Int?]) {
    var done = 0
    for limit in Set(limits.compactMap(\.self)).sorted() {
      phases.append(Phase(bases: limits.indices.filter { limits[$0].map { $0 >= limit } ?? true }, runs: limit - done))
      done = limit
    }
    let unlimited = limits.indices.filter { limits[$0] == nil }
    if !unlimited.isEmpty { phases.append(Phase(bases: unlimited, runs: nil)) }
  }

  /// The number of all runs; `Int.max` without an end.
  var count: Int {
    var count = 0
    for phase in phases {
      guard let runs = phase.runs else { return .max }
      let (sum, overflow) = count.addingReportingOverflow(runs * phase.bases.count)
      if overflow { return .max }
      count = sum
    }
    return count
  }

  /// Returns the base of a run.
  ///
  /// - Precondition: the number is below ``count``.
  func base(of run: Int) -> Int {
    var rest = run
    for phase in phases {
      let turns = phase.runs.map { $0 / Self.length } ?? .max
      let (whole, overflow) = turns.multipliedReportingOverflow(by: Self.length * phase.bases.count)
      if overflow || rest < whole { return phase.bases[rest / Self.length % phase.bases.count] }
      rest -= whole
      // The last turns of a phase are shorter.
      let short = (phase.runs ?? 0) % Self.length
      if rest < short * phase.bases.count { return phase.bases[rest / short] }
      rest -= short * phase.bases.count
    }
    preconditionFailure("there is no run \(run)")
  }

  /// Returns the number of bases that have a run among the first ones.
  func reachedCount(in runs: Int) -> Int {
    var reached: Set<Int> = []
    var run = 0
    while run < min(runs, count), run < Self.length * (phases.first?.bases.count ?? 0) {
      reached.insert(base(of: run))
      run += 1
    }
    return reached.count
  }
}
