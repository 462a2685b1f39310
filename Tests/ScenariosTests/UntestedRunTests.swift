import CallCore
import Testing

@testable import Scenarios

@Suite struct `What was not put to the test` {
  private let call = "  - { at: 1s, do: alice.call, to: bob }"

  @Test func `an action that the app refuses fails the run, with the reason`() throws {
    let result = try play(
      timeline: """
        \(call)
          - { id: early, at: 2s, do: alice.accept }
          - { id: bye, at: 5s, do: alice.hangup }
        """, expect: "  - { ends: alice, code: local-hangup, within: 1s, of: bye }")
    #expect(result.verdict == .fail)
    let finding = try #require(result.findings.first)
    #expect(finding.title == "timeline entry 'early'")
    #expect(finding.actual == "it refused at 2.00 s: nothing is ringing (if it should, write refused: true)")
    #expect(finding.location == "test.yaml:9:11")
  }

  @Test func `an action that is expected to be refused passes, and fails when the app does it`() throws {
    for (action, verdict) in [("accept", Verdict.pass), ("hangup", .fail)] {
      let result = try play(
        timeline: """
          \(call)
            - { at: 2s, do: alice.\(action), refused: true }
            - { mark: over, at: 3s }
          """, expect: "  - { eventually: bob.call.state == ringing }")
      #expect(result.verdict == verdict, "\(result.findings)")
    }
  }

  @Test func `a mark does nothing and names a time`() throws {
    let timeline = { (mark: String) in
      "\(self.call)\n\(mark)  - { id: bye, at: 9s, do: alice.hangup }"
    }
    let result = try play(
      timeline: timeline("  - { mark: half, after: 4s, of: alice.calling }\n"),
      expect: "  - { always: alice.call.state == calling, between: [half, bye] }")
    #expect(result.verdict == .pass, "\(result.findings)")
  }

  @Test func `a run without expectations is vacuous and says so`() throws {
    let result = try play(timeline: call, expect: "  []")
    #expect(result.verdict == .vacuous)
    #expect(result.findings.map(\.actual) == ["nothing is expected: only the invariants were checked"])
  }

  @Test func `what only warns does not fail the run when it was not put to the test`() throws {
    let result = try play(
      timeline: "\(call)\n  - { mark: over, at: 3s }",
      expect: """
          - { eventually: bob.call.state == ringing }
          - { never: alice.selected.local.candidateType == relay, severity: warn }
        """)
    #expect(result.verdict == .pass, "\(result.findings)")
    #expect(result.findings.map(\.kind) == [.warning])
  }
}
