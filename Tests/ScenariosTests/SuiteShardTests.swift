import CallCore
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// What shards together say is what the suite says.
@Suite struct SuiteShardTests {
  /// A cell as a generated suite has it: so many seeds, and whether the seeds are judged together.
  private struct Shape {
    var seeds: Int
    var isJudgedTogether: Bool
    /// The seeds that get there.
    var reached: Set<UInt64>
  }

  private static func file(_ number: Int, _ shape: Shape) throws -> ScenarioFile {
    let text = """
      callsim: 1
      id: s\(number)
      seeds: { count: \(shape.seeds) }
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 0s, do: alice.call, to: bob }
      expect:
        - { ends: alice, code: ring-timeout, within: 70s, of: start }
      \(shape.isJudgedTogether ? "  - { id: got-there, sometimes: alice.call.state == connected }" : "")
      """
    return try #require(FormatTest.load(text).scenario)
  }

  /// The names of what passes and fails when every run of the plan is made, from what each contributes.
  private static func verdicts(_ plan: SuitePlan, _ shapes: [Shape]) -> [String] {
    var told: [String] = []
    var ledger = SeedLedger()
    for (index, run) in plan.runs.enumerated() {
      let entry = plan.entries[run.entry]
      let shape = shapes[Int(entry.cell.scenario.id.dropFirst()) ?? 0]
      var result = Sample.run(.pass, id: plan.job(index).runID).result
      if shape.isJudgedTogether {
        let isReached = shape.reached.contains(run.seed)
        result.measurements = [Measurement(id: "got-there", expected: "it", measured: isReached ? 1 : 0)]
      }
      told.append(result.id)
      ledger.add(result)
      guard index + 1 == plan.runs.count || plan.runs[index + 1].entry != run.entry else { continue }
      let closing = ledger.close(entry, overrides: [])
      if let run = closing.run { told.append("\(run.result.id): \(run.result.findings.map(\.actual))") }
      told += Array(repeating: "not judged", count: closing.notJudged)
    }
    return told.sorted()
  }

  @Test func `shards together have every run once and every verdict over seeds`() throws {
    var random = RandomSource(seed: 1).stream("shards")
    for _ in 0..<30 {
      let shapes = (0..<Int(1 + random.next() % 6)).map { _ in
        let seeds = Int(1 + random.next() % 7)
        let reached = (1...UInt64(seeds)).filter { _ in random.next() % 6 == 0 }
        return Shape(seeds: seeds, isJudgedTogether: random.next() % 2 == 0, reached: Set(reached))
      }
      let files = try shapes.enumerated().map { try Self.file($0, $1) }
      let all = Self.verdicts(SuitePlan(files: files, hash: 0, selection: SuiteSelection()), shapes)
      for count in 1...5 {
        let shards = (1...count).flatMap { index in
          var selection = SuiteSelection()
          selection.shard = (index, count)
          return Self.verdicts(SuitePlan(files: files, hash: 0, selection: selection), shapes)
        }
        #expect(shards.sorted() == all)
      }
    }
  }

  @Test func `shards differ by no more than the cells that stay whole`() throws {
    let shapes = [Shape(seeds: 20, isJudgedTogether: false, reached: [])]
    let files = try shapes.enumerated().map { try Self.file($0, $1) }
    let counts = (1...3).map { index in
      var selection = SuiteSelection()
      selection.shard = (index, 3)
      return SuitePlan(files: files, hash: 0, selection: selection).runs.count
    }
    #expect(counts == [7, 7, 6])
  }

  @Test func `one seed alone leaves open what all seeds decide, and the summary says so`() throws {
    let shapes = [Shape(seeds: 3, isJudgedTogether: true, reached: [])]
    var selection = SuiteSelection()
    selection.seed = 2
    let files = try shapes.enumerated().map { try Self.file($0, $1) }
    let plan = SuitePlan(files: files, hash: 0, selection: selection)
    #expect(Self.verdicts(plan, shapes) == ["not judged", "s0#2"])
    // The file expects something of each run, too.
    var ledger = SeedLedger()
    #expect(!ledger.close(plan.entries[0], overrides: []).isUntested)
    var summary = SuiteSummary()
    summary.notJudged = 1
    #expect(summary.line == "0 passed, 0 failed, 1 expectation over all seeds not judged")
  }

  @Test func `the only seed of a file is all of them, however it is asked for`() throws {
    let files = [try Self.file(0, Shape(seeds: 1, isJudgedTogether: true, reached: []))]
    let selections = [
      SuiteSelection(seed: 1), SuiteSelection(seedCount: 1), SuiteSelection(seed: nil), SuiteSelection(seed: 2),
    ]
    let plans = selections.map { SuitePlan(files: files, hash: 0, selection: $0) }
    #expect(plans.map { $0.entries.map(\.isComplete) } == [[true], [true], [true], [false]])
  }

  @Test func `a suite that judged nothing is vacuous, and one that failed besides has failed`() {
    var summary = SuiteSummary()
    summary.add(Sample.run(.pass).result)
    #expect(summary.exitStatus == .pass)
    (summary.notJudged, summary.isUntested) = (1, true)
    #expect(summary.exitStatus == .vacuous)
    #expect(
      summary.line == "1 passed, 0 failed, 1 expectation over all seeds not judged, nothing was put to the test")
    summary.add(Sample.run(.broken).result)
    #expect(summary.exitStatus == ExitStatus(.broken))
  }
}

extension SuiteSelection {
  fileprivate init(seed: UInt64? = nil, seedCount: Int? = nil) {
    self.init()
    (self.seed, self.seedCount) = (seed, seedCount)
  }
}
