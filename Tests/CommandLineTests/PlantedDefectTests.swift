import Foundation
import Testing

/// Defects for a whole process, in builds that have them.
@Suite struct PlantedDefectTests {
  @Test func `the environment plants a defect in all workers`() throws {
    let workspace = try Workspace(["scenarios/ring.yaml": Self.ring])
    for (name, status) in [("", Int32(0)), ("callersAnswerObeyed", 0), ("ringTimerForgotten", 5)] {
      let outcome = try workspace.run("run", environment: ["CALLSIM_PLANT": name])
      #expect(outcome.status == status, "\(name): \(outcome.output) \(outcome.errors)")
    }
  }

  @Test func `an unknown defect is an error with the nearest names`() throws {
    let outcome = try Program.run(["list"], environment: ["CALLSIM_PLANT": "callerAnswersObeyed"])
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("there is no defect 'callerAnswersObeyed'; the nearest are 'callersAnswerObeyed'"))
  }

  @Test func `the defects are listed with their comments`() throws {
    let outcome = try Program.run(["defects"])
    #expect(outcome.status == 0)
    let lines = outcome.output.split(separator: "\n").map { $0.split(separator: "\t") }
    #expect(lines.count > 80)
    #expect(lines.allSatisfy { $0.count == 2 && $0[1].hasSuffix(").") })
  }

  @Test func `a search may end at its first finding, and goes on there later`() throws {
    let workspace = try Workspace(["scenarios/ring.yaml": Self.ring])
    let search = { (options: [String]) in
      try Program.run(
        ["fuzz", "scenarios", "--exhaustive", "--moves", "drop,action", "--jobs", "1", "--shrink", "0"] + options,
        in: workspace.path, environment: ["CALLSIM_PLANT": "ringTimerForgotten"])
    }
    let first = try search(["--fail-fast"])
    #expect(first.status == 5 && first.output.contains("\n1 of "), "\(first)")
    let rest = try search([])
    let counts = try #require(rest.output.firstMatch(of: /\n(\d+) of (\d+) rows/)).output
    #expect(rest.status == 5 && counts.1 == counts.2, "\(rest)")
  }

  /// Alice's hangup is lost.
  private static let ring = """
    callsim: 1
    id: calls/ring
    peers:
      alice: { profile: knotos, network: wifi }
      bob: { profile: knotos, network: wifi }
    run: 10s
    timeline:
      - { at: 0s, fault: signal.drop, message: call_hangup }
      - { at: 1s, do: alice.call, to: bob }
      - { id: bye, at: 3s, do: alice.hangup }
    expect:
      - { ends: alice, code: local-hangup, within: 1s, of: bye }
    """
}
