import CallCore
import Profiles
import Testing

@testable import Scenarios

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

  @Test func `every kind that takes a share is told here`() {
    let told = Self.expectations.map(\.kind) + ["sometimes"]
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
