import ArgumentParser
import Profiles
import ScenarioFormat
import ScenarioRun
import ScenarioSuite

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain", abstract: "Tell what a scenario, key, code, value, fault, action or state means.",
    discussion: """
      Without a topic it says what there is. For example: \(ProgramName.current) explain E210, \
      \(ProgramName.current) explain link.down, \(ProgramName.current) explain fault.
      """)

  @Argument(help: "A name as scenarios have it, a diagnostic code, or a scenario's id.")
  var topic: String?

  @Argument(help: "Where to look for scenarios. (default: scenarios)")
  var paths: [String] = []

  func run() throws {
    let registry = CallSimProgram.profiles.registry
    let reference = ScenarioReference(registry: registry)
    guard let topic else { return Output.text(reference.index) }
    if let text = reference.explain(topic) { return Output.text(text) }
    // Scenarios are searched last, and only where there are some.
    let files = (try? ScenarioFinder.files(at: paths)) ?? []
    let collection = ScenarioCollection(paths: files, registry: registry, overrides: [])
    if let text = ScenarioOutline.text(topic, in: collection.files) { return Output.text(text) }
    // A file that a scenario uses may declare the network.
    for source in collection.files.flatMap(\.sources.files) where source.usedFrom != nil {
      guard let text = BuiltInNetworks.text(of: topic, in: source.lines) else { continue }
      return Output.text("\(topic)  \(source.path)\n\(text)\n")
    }
    let topics = reference.topics + collection.files.map(\.id)
    let hint =
      Suggestion.hint(for: topic, among: topics)
      ?? "wanted is a key, a fault, a state, a value or a code, such as 'stack', 'link.down' or 'E210'"
    throw UsageProblem(message: "nothing is called '\(topic)'; \(hint)")
  }
}
