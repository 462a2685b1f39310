import ArgumentParser
import Formats
import Foundation
import Profiles
import ScenarioFormat
import ScenarioSuite

struct CoverageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "coverage", abstract: "Run scenarios and show what of the declared behaviour they reach.",
    discussion: """
      For each profile: the states of every machine against its events, the transitions that no run took, and the codes \
      and messages that never came. Runs that fail count as well. Exit codes: 0 the report was made, 2 bad usage, 3 bad \
      scenario, 4 harness error, 7 nothing ran, 130 interrupted.
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

  @OptionGroup var scenarios: ScenarioArguments

  @OptionGroup var programs: ProgramArguments

  @OptionGroup var chosen: SelectionArguments

  @Option(help: "text or json.")
  var format = Format.text

  @Option(help: ArgumentHelp("Also write the report as a page to look at.", valueName: "FILE"))
  var page: String?

  func run() throws {
    var selection = try chosen.selection()
    selection.overrides = try scenarios.parsedOverrides()
    let collection = try scenarios.load()
    let plan = SuitePlan(files: collection.files, hash: collection.hash, selection: selection)
    try collection.requireValid()
    guard plan.suiteRunCount > 0 else {
      Output.error("error: nothing to run; \(SelectionHint(selection, collection.files).text)\n")
      throw ExitStatus.vacuous.code
    }
    try programs.check(plan.entries.map { ($0.path, $0.cell) }, overrides: plan.overrides)
    let file = try openPage(inputs: collection.inputs)
    let reporter = CoverageReporter(plan, registry: CallSimProgram.profiles.registry)
    let runner = SuiteRunner(plan: plan, options: options, reporters: [reporter])
    let outcome = try runner.run(SuiteHeader(plan, environment: .current, options: chosen.words + chosen.seedWords))
    try show(reporter.report, file)
    if outcome.isInterrupted {
      Output.error("interrupted: \(outcome.summary.notRun) runs were not made\n")
      throw ExitStatus.interrupted.code
    }
  }

  private var options: SuiteRunner.Options {
    var options = SuiteRunner.Options(
      executable: WorkerCommand.executable, workerArguments: [WorkerCommand.name])
    options.jobs = chosen.jobs.count
    options.artifacts = .none
    options.wantsCoverage = true
    return options
  }

  /// Opens the page before the first run, so that a mistyped folder is reported before any run.
  private func openPage(inputs: [String]) throws -> FileSink? {
    guard let page else { return nil }
    guard !page.isEmpty else { throw UsageProblem(message: "--page takes a file") }
    try DistinctFiles.check([("--page", page)], inputs: inputs)
    do {
      return try FileSink(path: page)
    } catch {
      throw UsageProblem(message: "the page '\(page)' cannot be written: \(error.reason)")
    }
  }

  private func show(_ report: CoverageReport, _ file: FileSink?) throws {
    if let file {
      file.write(CoveragePage(report).text)
      try file.close()
    }
    switch format {
    case .text: Output.text(CoverageText(report, style: Output.style(for: 1)).text)
    case .json: Output.text(report.json.prettyText + "\n")
    }
  }
}
