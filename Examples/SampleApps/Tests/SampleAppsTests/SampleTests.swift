import CallSimTesting
import ConnectyCubeSample
import KnotosSample
import Testing
import TwilioSample
import VonageSample

private let profiles: [Profile] = [.connectyCubeSample, .knotosSample, .twilioSample, .vonageSample]

/// The runs of all scenarios with one of the two forms of the apps.
private func runs(_ app: String) -> Scenarios {
  var selection = SuiteSelection()
  selection.overrides = [ScenarioOverride(name: "app", value: app)]
  return Scenarios("scenarios", profiles: profiles, selection: selection, program: "sample-apps")
}

/// What finds the defect in each scenario: an invariant, or an expectation.
private let findings = [
  "connectycube-sample/second-call": "audio-configured",
  "knotos-sample/asks-the-user": "consent",
  "knotos-sample/late-answer": "eventually: alice.call.state == connected",
  "knotos-sample/declined": "never: alice.call.state == connected",
  "twilio-sample/microphone-not-permitted": "shown-tracks",
  "twilio-sample/microphone-before-the-room": "shown-tracks",
  "twilio-sample/no-camera": "shown-tracks",
  "twilio-sample/camera-in-the-second-room": "eventually: bob.remote.camera.published == none",
  "vonage-sample/published": "eventually: bob.subscribed == alice",
  "vonage-sample/long-suspension": "eventually: alice.session.state == connected",
]

@Test(arguments: runs("repaired"))
func `the repaired app passes`(_ scenario: ScenarioTest) { scenario.expectPass() }

@Test(arguments: runs("sample"))
func `the defect of the sample is found`(_ scenario: ScenarioTest) {
  var results: [RunResult] = []
  withKnownIssue { results = scenario.expectPass() }
  let titles = results.flatMap(\.findings).map(\.title)
  let id = String(scenario.name.prefix { $0 != "[" && $0 != "#" })
  #expect(titles.contains { findings[id].map($0.contains) ?? false }, "\(titles)")
}
