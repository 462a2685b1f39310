import CallCore

@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// Runs as the tests of reports want them.
enum Sample {
  static let failure = Finding(
    .expectation, "recovers: drop, to: media-both-ways, within: 4s, hold: 2s",
    location: "scenarios/nat/cgnat.yaml:34:5",
    expected: "media both ways by 22.31 s, held 2 s", actual: "no media after 18.31 s",
    time: .zero + .milliseconds(22_310),
    trail: ["alice: connected 3.31 > reconnecting 18.93", "bob: connected 3.31 > reconnecting 19.40"],
    faults: ["link.down wifi 18.31..end"], explanation: ["relay refused a permission (403) at 19.62 s"],
    why: "losing Wi-Fi must cost one ICE restart")

  static func run(_ verdict: Verdict, id: String = "nat/cgnat[turn=tcp]#7", findings: [Finding] = []) -> ReportedRun {
    let result = RunResult(
      id: id, scenarioID: "nat/cgnat", path: "scenarios/nat/cgnat.yaml", seed: 7, verdict: verdict, findings: findings,
      traceHash: 0xABC, eventCount: 12, virtualDuration: .milliseconds(24_310), cpuSeconds: 0.41)
    return ReportedRun(result: result, replay: "callsim replay 'nat/cgnat[turn=tcp]#7'")
  }

  static let header: SuiteHeader = {
    let environment = RunEnvironment(revision: "abc", libraries: [], processorFeatures: ["avx2"])
    return SuiteHeader(
      SuitePlan(files: [], hash: 5, selection: SuiteSelection()), environment: environment, options: [])
  }()

  /// What a reporter writes about these runs.
  static func output(of runs: [ReportedRun], _ make: (@escaping (String) -> Void) -> any Reporter) -> String {
    let text = TextBox()
    let reporter = make { text.value += $0 }
    var summary = SuiteSummary()
    reporter.begin(header)
    for run in runs {
      summary.add(run.result)
      reporter.finished(run)
    }
    reporter.end(summary)
    return text.value
  }

  final class TextBox { var value = "" }
}
