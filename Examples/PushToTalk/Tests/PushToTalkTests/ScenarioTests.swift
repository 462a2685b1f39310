import CallSimTesting
import PushToTalk
import Testing

private let scenarios = Scenarios(
  "scenarios", profiles: [.pushToTalk] + ProfileCatalogue.builtIn.profiles, program: "push-to-talk")

@Test(arguments: scenarios)
func `a scenario passes`(_ scenario: ScenarioTest) { scenario.expectPass() }
