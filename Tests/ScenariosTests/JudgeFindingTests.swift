import CallCore
import Testing

@testable import ScenarioFormat
@testable import ScenarioJudge

@Suite struct JudgeFindingTests {
  @Test func `a failure becomes a finding with its nearest miss, and a pass becomes none`() {
    let bench = JudgeBench([
      .eventually(.state("alice", "connected"), within: 3_000, hold: 2_000), .always(Predicate.constant(true)),
      .sometimes(.state("bob", "connected")),
    ]) { scenario in
      scenario.expectations[0].text = "eventually: connected"
      scenario.expectations[0].severity = .warn
      scenario.expectations[0].why = "it rings"
    }
    bench.move("alice", to: "connected", at: 1_000)
    bench.move("alice", to: "ended", at: 2_000)
    let findings = bench.finishAll(at: 5_000).compactMap { Finding($0, location: "a.yaml:3:5") }
    #expect(findings.count == 1)
    #expect(findings.first?.kind == .warning)
    #expect(findings.first?.title == "eventually: connected")
    #expect(findings.first?.why == "it rings")
    #expect(
      findings.first?.actual == "not true by 3.00 s: alice.call.state is ended since 2.00 s; "
        + "nearest miss: it was true from 1.00 s to 2.00 s, 1s of 2s")
  }
}
