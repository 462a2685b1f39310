import ArgumentParser
import ScenarioFormat
import ScenarioSuite

struct ValidateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate", abstract: "Check scenario files without running them.",
    discussion: "Exit codes: 0 nothing is wrong, 2 bad usage, 3 a file has errors.")

  enum Format: String, ExpressibleByArgument, CaseIterable { case text, json, github }

  @OptionGroup var scenarios: ScenarioArguments

  @Option(help: "text, json or github.")
  var format = Format.text

  @Flag(help: "Treat warnings as errors.")
  var strict = false

  @Flag(help: "Print the scenario as it is understood: variables, profiles, networks and defaults filled in.")
  var print = false

  func run() throws {
    let collection = try scenarios.load()
    if print { return try printScenario(collection) }
    switch format {
    case .text: printText(collection)
    case .json: printJSON(collection)
    case .github:
      for report in collection.reports { Output.text(report.rendered(as: .github)) }
      for clash in collection.clashes { Output.text("::error::\(ScenarioCollection.text(clash))\n") }
    }
    let isBad = collection.errorCount > 0 || !collection.clashes.isEmpty || (strict && collection.warningCount > 0)
    throw (isBad ? ExitStatus.badScenario : .pass).code
  }

  /// Prints a single scenario: one file, and one cell of its matrix.
  private func printScenario(_ collection: ScenarioCollection) throws {
    try collection.requireValid()
    guard collection.files.count == 1, let file = collection.files.first else {
      throw UsageProblem(message: "--print prints one scenario, and there are \(collection.files.count); name its file")
    }
    guard file.cells.count == 1, let cell = file.cells.first else {
      let values = file.cells[0].assignments.map { "--set \($0.variable)=\($0.value)" }.joined(separator: " ")
      throw UsageProblem(
        message: "\(file.path) has \(file.cells.count) cells; choose one, such as \(values)")
    }
    Output.text(cell.scenario.text(seeds: file.seeds))
  }

  private func printText(_ collection: ScenarioCollection) {
    let style = Output.style(for: 1)
    for report in collection.reports { Output.text(report.rendered(as: .text(color: style.isColored))) }
    for clash in collection.clashes { Output.text("error: \(ScenarioCollection.text(clash))\n") }
    let cells = collection.files.reduce(0) { $0 + $1.cells.count }
    let errors = collection.errorCount + collection.clashes.count
    var line = "\(Wording.count(collection.files.count, "scenario")) in \(Wording.count(cells, "cell"))"
    line += ", \(Wording.count(errors, "error")), \(Wording.count(collection.warningCount, "warning"))"
    let isBadByWarnings = strict && errors == 0 && collection.warningCount > 0
    if isBadByWarnings { line += "; --strict makes warnings errors" }
    Output.text(style.paint(line, errors == 0 && !isBadByWarnings ? .success : .failure) + "\n")
  }

  /// Prints one array over all files.
  private func printJSON(_ collection: ScenarioCollection) {
    Output.text("[" + collection.reports.map(\.jsonObjects).joined(separator: ",\n ") + "]\n")
  }
}

extension DiagnosticReport {
  /// The members of the rendered array, without its brackets.
  fileprivate var jsonObjects: String {
    var text = rendered(as: .json)
    while let last = text.last, last.isNewline { text.removeLast() }
    return String(text.dropFirst().dropLast())
  }
}
