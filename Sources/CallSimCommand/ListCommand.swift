import ArgumentParser
import ScenarioSuite

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List scenarios with their cells, seeds and tags.")

  @OptionGroup var scenarios: ScenarioArguments

  @Flag(help: "One JSON array.")
  var json = false

  func run() throws {
    let collection = try scenarios.load()
    try collection.requireValid()
    if json {
      Output.text(ScenarioListing(files: collection.files).json + "\n")
    } else {
      Output.text(ScenarioListing(files: collection.files).text)
    }
  }
}
