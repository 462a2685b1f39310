import CallSimTesting
import StrangerProfile
import Testing

private let profile = Profile(app: StrangerApp.self, server: StrangerServer.self)

private func suite(_ name: String, selection: SuiteSelection = SuiteSelection()) -> Scenarios {
  Scenarios("Tests/CallSimTestingTests/Suites/\(name)", profiles: [profile], selection: selection, program: "stranger")
}

/// Scenario files as arguments of tests, and findings as issues.
@Suite struct ScenarioTestTests {
  @Test(arguments: suite("sound"))
  func `a scenario of a profile that is not built in passes`(_ scenario: ScenarioTest) {
    for result in scenario.expectPass() { #expect(result.verdict == .pass) }
  }

  @Test func `each run is an argument, and what seeds decide together is one`() {
    #expect(suite("sound").map(\.testDescription) == ["greetings#1", "greetings#2", "together"])
    #expect(suite("sound").map { $0.expectPass().count } == [1, 1, 3])
    var selection = SuiteSelection()
    selection.texts = ["greet"]
    selection.seed = 7
    #expect(suite("sound", selection: selection).map(\.name) == ["greetings#7"])
  }

  @Test func `a finding is an issue at the line of its expectation, with all that a report says`() {
    let issues = issues { for scenario in suite("failing") { scenario.expectPass() } }
    #expect(issues.map(\.place) == ["failing/too-many.yaml:7:5"])
    for text in [
      "FAIL too-many#1", "expected", "actual", "trail      alice: alone 0.00 > greeted",
      "replay     stranger replay 'too-many#1' Tests/CallSimTestingTests/Suites/failing/too-many.yaml",
    ] {
      #expect(issues.first?.text.contains(text) == true, "\(text): \(issues)")
    }
  }

  @Test func `what is wrong with a file is an issue at its place`() {
    let issues = issues { for scenario in suite("broken") { scenario.expectPass() } }
    #expect(issues.map(\.place) == ["broken/misspelt.yaml:4:40"], "\(issues)")
    #expect(issues.first?.text.contains("E213: unknown network 'wfi'; did you mean 'wifi'?") == true, "\(issues)")
  }

  @Test func `a program that a file names is not started`() {
    let issues = issues { for scenario in suite("program") { scenario.expectPass() } }
    #expect(issues.count == 1)
    #expect(issues.first?.text.contains("stranger run --allow-programs") == true, "\(issues)")
  }

  @Test func `a test of nothing fails`() {
    var selection = SuiteSelection()
    selection.texts = ["nothing has this name"]
    for scenarios in [
      suite("sound", selection: selection), suite("nowhere"),
      Scenarios("Tests/CallSimTestingTests", profiles: [profile, profile]),
    ] {
      let issues = issues { for scenario in scenarios { #expect(scenario.expectPass().isEmpty) } }
      #expect(issues.count == 1)
      #expect(issues.first?.place.hasPrefix("CallSimTestingTests/ScenarioTestTests.swift:") == true, "\(issues)")
    }
  }

  /// The issues that `body` records, none of which counts as this test's.
  private func issues(_ body: () -> Void) -> [(place: String, text: String)] {
    nonisolated(unsafe) var found: [(place: String, text: String)] = []
    withKnownIssue {
      body()
    } matching: { issue in
      let place = issue.sourceLocation.map { "\($0.fileID):\($0.line):\($0.column)" } ?? "nowhere"
      found.append((place, issue.comments.map(\.rawValue).joined()))
      return true
    }
    return found
  }
}
