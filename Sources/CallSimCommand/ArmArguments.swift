import ArgumentParser
import ScenarioFormat

/// The options that add arms to the scenarios.
struct ArmArguments: ParsableArguments {
  @Option(
    name: .customLong("arm"),
    help: ArgumentHelp(
      "Adds an arm that changes settings; an only one is compared with the file as it is.",
      valueName: "name=path=value…"))
  var arms: [String] = []

  @Option(
    name: .customLong("measure"),
    help: ArgumentHelp("A number to compare, instead of those of the file.", valueName: "value stat"))
  var measures: [String] = []

  func overrides() throws -> [ScenarioOverride] {
    var names: [String] = []
    let added = try arms.map { text in
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw UsageProblem(message: "--arm takes name='path=value', such as fec='alice.audio.fec=true', not '\(text)'")
      }
      guard !names.contains(parts[0]) else { throw UsageProblem(message: "--arm names '\(parts[0])' twice") }
      names.append(parts[0])
      return ArmOverride.override(name: parts[0], changes: parts[1])
    }
    return added + measures.map { MeasureOverride.override(measure: $0) }
  }
}
