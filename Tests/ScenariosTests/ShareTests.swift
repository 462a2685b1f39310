import CallCore
import Profiles
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// `share` is judged over the runs, whatever the kind of the expectation.
@Suite struct `Shares of the runs` {
  /// Of each kind one that holds in every run, and one that holds in none.
  private static let expectations: [(kind: String, holds: String, breaks: String)] = [
    (
      "sequence", "sequence: alice.call.state, is: [calling, connected]",
      "sequence: alice.call.state, is: [connected, calling]"
    ),
    (
      "set", "set: alice.call.state, contains: [connected, calling]",
      "set: alice.call.state, contains: [connected, ringing]"
    ),
    (
      "eventually", "eventually: bob.call.state == ringing",
      "eventually: bob.call.state == connected, within: 500ms, of: 1s"
    ),
    (
      "always", "always: bob.call.state == connected, between: [4s, 4500ms]",
      "always: bob.call.state == ringing, between: [4s, 4500ms]"
    ),
    (
      "never", "never: bob.call.state == ringing, between: [4s, 4500ms]",
      "never: bob.call.state == connected, between: [4s, 4500ms]"
    ),
    (
      "leads_to", "leads_to: { if: bob.call.state == ringing, then: bob.call.state == connected, within: 5s }",
      "leads_to: { if: bob.call.state == ringing, then: bob.call.state == connected, within: 1ms }"
    ),
    ("ends", "ends: alice, code: local-hangup", "ends: alice, code: remote-hangup"),
    ("count", "count: bob.connected, eq: 1", "count: bob.connected, eq: 2"),
    ("recovers", "recovers: hole, to: media-both-ways, within: 4s", "recovers: hole, to: media-both-ways, within: 1s"),
    (
      "metric", "metric: bob.stats.inbound-rtp.audio.packetsReceived, stat: delta, window: [3s, 4500ms], gt: 10",
      "metric: bob.stats.inbound-rtp.audio.packetsReceived, stat: delta, window: [3s, 4500ms], gt: 100000"
    ),
  ]

  private static func file(_ expectations: [String]) throws -> ScenarioFile {
    let text = """
      callsim: 1
      id: test
      seeds: { count: 2 }
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
        - { when: bob.call.state == ringing, after: 1s, do: bob.accept }
        - { id: hole, at: 5s, fault: link.blackhole, link: alice/wifi, for: 2s }
        - { id: bye, at: 11s, do: alice.hangup }
      expect:
      \(expectations.map { "  - { \($0), share: { gte: 50% } }" }.joined(separator: "\n"))
      """
    let loaded = ScenarioFile.load(text: text, path: "test.yaml", registry: ProfileCatalogue.builtIn.registry)
    let problems = loaded.report.rendered(as: .text(color: false))
    return try #require(loaded.scenario, "\(problems)")
  }

  /// What all seeds of a file come to, from what each contributes to its first expectation; nil says that it was not tested.
  private static func judged(_ expectation: String, _ measured: [(seed: UInt64, number: Double?)]) throws -> ReportedRun
  {
    let list = measured.map { "\($0.seed)" }.joined(separator: ", ")
    let text = """
      callsim: 1
      id: test
      seeds: { count: \(measured.count), list: [\(list)] }
      peers:
        alice: { profile: knotos, network: wifi }
        bob: { profile: knotos, network: wifi }
      timeline:
        - { at: 1s, do: alice.call, to: bob }
      expect:
        - { id: it, \(expectation) }
      """
    let loaded = ScenarioFile.load(text: text, path: "test.yaml", registry: ProfileCatalogue.builtIn.registry)
    let file = try #require(loaded.scenario, "\(loaded.report.rendered(as: .text(color: false)))")
    let plan = SuitePlan(files: [file], hash: 0, selection: SuiteSelection())
    var ledger = SeedLedger()
    for (seed, number) in measured {
      var result = Sample.run(.pass, id: "test#\(seed)").result
      result.seed = seed
      result.measurements = [Measurement(id: "it", expected: "it", measured: number)]
      ledger.add(result)
    }
    return try #require(ledger.close(plan.entries[0], overrides: []).run)
  }

  private static let connects = "eventually: alice.call.state == connected"
  private static let jitter = "metric: alice.stats.inbound-rtp.audio.jitter, stat: max, across: seeds"

  @Test(
    arguments: [
      (
        connects + ", share: { gte: 80% }", [(2, 1), (4, 1), (1, 0), (3, 0)],
        "it held in 2 of 4 runs, 50% (seeds 2, 4, 1, 3); it did not hold in seeds 1, 3", 1
      ),
      (
        connects + ", share: { lt: 30% }", [(2, nil), (4, 0), (1, 1), (3, 0)],
        "it held in 1 of 3 runs, 33.33% (seeds 2, 4, 1, 3); it held in seed 1", 1
      ),
      (
        connects + ", share: { eq: 100% }", [(1, nil), (2, 1), (3, 0)],
        "it held in 1 of 2 runs, 50% (seeds 1-3); it did not hold in seed 3", 3
      ),
      (connects + ", share: { gte: 80% }", [(2, 0), (1, 0)], "it held in 0 of 2 runs, 0% (seeds 2, 1)", 2),
      (
        jitter + ", lt: 30ms", [(2, 0.02), (4, 0.05), (1, 0.06), (3, 0.06)],
        "largest over 4 runs of each run's max is 60ms (seeds 2, 4, 1, 3); it is furthest off, 60ms, in seed 1", 1
      ),
      (
        jitter.replacing("max", with: "mean") + ", gt: 30ms", [(2, 0.02), (4, nil), (1, 0.01), (3, 0.05)],
        "mean over 3 runs of each run's mean is 26.667ms (seeds 2, 4, 1, 3); it is furthest off, 10ms, in seed 1", 1
      ),
      (
        "sometimes: alice.call.state == connected", [(2, 0), (1, 0)], "reached in 0 of 2 runs (seeds 2, 1)", 2
      ),
    ] as [(String, [(UInt64, Double?)], String, UInt64)])
  func `what fails over all seeds names those that made it fail, and the first of them is replayed`(
    expectation: String, measured: [(UInt64, Double?)], actual: String, seed: UInt64
  ) throws {
    let run = try Self.judged(expectation, measured.map { ($0.0, $0.1) })
    #expect(run.result.findings.map(\.actual) == [actual])
    #expect(run.replay == "callsim replay 'test#\(seed)' test.yaml")
    #expect(run.result.seed == seed)
  }

  @Test func `of several failures a failed one is replayed, not a warning before it`() throws {
    let file = try Self.file([
      "sequence: alice.call.state, is: [connected, calling], severity: warn", "ends: alice, code: local-hangup",
    ])
    let plan = SuitePlan(files: [file], hash: 0, selection: SuiteSelection())
    var ledger = SeedLedger()
    for (seed, held) in [(UInt64(1), (0.0, 1.0)), (2, (1, 0)), (3, (0, 0))] {
      var result = Sample.run(.pass, id: "test#\(seed)").result
      result.seed = seed
      result.measurements = [
        Measurement(id: "#1", expected: "it", measured: held.0),
        Measurement(id: "#2", expected: "it", measured: held.1),
      ]
      ledger.add(result)
    }
    let run = try #require(ledger.close(plan.entries[0], overrides: []).run)
    #expect(run.result.findings.map(\.kind) == [.warning, .expectation])
    #expect(run.replay == "callsim replay 'test#2' test.yaml")
  }

  @Test func `every kind that takes a share is told here`() {
    // These are judged over all seeds anyway.
    let told = Self.expectations.map(\.kind) + ["sometimes", "delta"]
    #expect(told.sorted() == ExpectationVariant.all.map(\.key).sorted())
  }

  @Test func `whatever has a share is left open by each run, and judged over all of them`() throws {
    let plan = SuitePlan(
      files: [try Self.file(Self.expectations.flatMap { [$0.holds, $0.breaks] })], hash: 0, selection: SuiteSelection())
    var ledger = SeedLedger()
    for (entry, seed) in plan.runs {
      let run = SingleRun(
        cell: plan.entries[entry].cell, seed: seed, path: "test.yaml", profiles: ProfileCatalogue.builtIn)
      let result = try run.execute(outputs: RunOutputs())
      #expect(result.verdict == .pass, "\(result.findings)")
      #expect(result.measurements.map(\.measured) == Self.expectations.flatMap { _ in [1, 0] })
      ledger.add(result)
    }
    let judged = try #require(ledger.close(plan.entries[0], overrides: []).run?.result)
    #expect(judged.verdict == .fail)
    let titles = judged.findings.map { $0.title.replacing(", share: { gte: 50% }", with: "") }
    #expect(titles == Self.expectations.map(\.breaks))
    #expect(judged.findings.allSatisfy { $0.actual == "it held in 0 of 2 runs, 0% (seeds 1-2)" })
  }
}
