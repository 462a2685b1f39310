public import ArgumentParser
import Formats
import Foundation
import Profiles
import ScenarioFormat
public import ScenarioSuite

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run scenarios and judge them.",
    discussion: """
      Exit codes: 0 pass, 1 expectation failed, 2 bad usage, 3 bad scenario, 4 inconclusive (harness error), \
      5 invariant broken or crash, 6 not deterministic, 7 nothing ran or vacuous, 8 wall limit, 130 interrupted. \
      Of several the worst counts, in the order \(ExitStatus.orderText).
      """)

  @OptionGroup var scenarios: ScenarioArguments

  @OptionGroup var arms: ArmArguments

  @OptionGroup var programs: ProgramArguments

  @OptionGroup var chosen: SelectionArguments

  @Flag(help: "Only runs that did not pass when they were played last.")
  var lastFailed = false

  @Flag(help: "Start nothing more after the first run that does not pass.")
  var failFast = false

  @Option(help: ArgumentHelp("Run one of n shares; together they are the suite.", valueName: "i/n"))
  var shard: String?

  @Flag(help: "Run everything twice, in two processes, and compare.")
  var checkDeterminism = false

  @Option(
    help: ArgumentHelp(
      "Write reports: html (a page to look at), junit, tap, json (JSON Lines), github; FILE - is standard output.",
      valueName: "kind=FILE,…"))
  var report: [String] = []

  @Option(help: "Which runs leave their files: fail, all or none.")
  var artifacts = SuiteRunner.ArtifactMode.fail

  @Option(help: ArgumentHelp("Where runs leave their files.", valueName: "folder"))
  var out = RunDirectory.defaultRoot

  @Option(parsing: .unconditional, help: ArgumentHelp("How much memory a run may take.", valueName: "MiB"))
  var memory = 2_048

  @Option(parsing: .unconditional, help: ArgumentHelp("List so many of the slowest runs at the end.", valueName: "n"))
  var slowest = 0

  @Flag(help: "One JSON event a line on standard output; text goes to standard error.")
  var json = false

  @Flag(name: .shortAndLong, help: "Failures and the closing line only.")
  var quiet = false

  func run() throws {
    let selection = try selection()
    var outputs = try ReportOutputs(requests: try requests(), quiet: quiet, slowest: slowest)
    let collection = try scenarios.load(arms.overrides())
    let plan = SuitePlan(files: collection.files, hash: collection.hash, selection: selection)
    if collection.isRefused { try report(collection, plan, to: &outputs) }
    try collection.requireValid()
    guard plan.suiteRunCount > 0 else {
      Output.error("error: nothing to run; \(SelectionHint(selection, collection.files).text)\n")
      throw ExitStatus.vacuous.code
    }
    if !quiet { collection.showWarnings(of: Set(plan.entries.map(\.path))) }
    try programs.check(plan.entries.map { ($0.path, $0.cell) }, overrides: plan.overrides)
    try checkFolder(for: plan)
    let reporters: [any Reporter] =
      [outputs.people] + (try outputs.open(inputs: collection.inputs))
      + [LastFailed(options.directory, overrides: plan.overrides)]
    let runner = SuiteRunner(plan: plan, options: options, reporters: reporters)
    let outcome = try runner.run(header(plan))
    try outputs.close()
    if let page = outputs.page { LastReport(options.directory).record(page) }
    if outcome.isInterrupted {
      Output.error("interrupted: \(outcome.summary.notRun) runs were not made\n")
      throw ExitStatus.interrupted.code
    }
    throw outcome.summary.exitStatus.code
  }

  /// Reports that nothing was run, and the reason: reports of an earlier suite must not remain in place.
  ///
  /// - Parameter plan: The plan of the files without errors.
  private func report(
    _ collection: ScenarioCollection, _ plan: SuitePlan, to outputs: inout ReportOutputs
  ) throws {
    let reporters = try outputs.open(inputs: collection.inputs)
    let problems = collection.problems
    var summary = SuiteSummary()
    summary.problems = problems.count
    summary.notRun = plan.runs.count
    for reporter in reporters {
      reporter.begin(header(plan))
      for problem in problems { reporter.refused(problem) }
      for run in plan.runs.indices {
        reporter.notRun(plan.planned(run, notRunBecause: "files of the suite have errors"))
      }
      reporter.end(summary)
    }
    try outputs.close()
    if let page = outputs.page { LastReport(options.directory).record(page) }
  }

  /// Checks in advance that runs can write their files, so that the error does not appear at the first failed run.
  private func checkFolder(for plan: SuitePlan) throws {
    guard artifacts != .none, !plan.runs.isEmpty else { return }
    do {
      try options.directory.check()
    } catch {
      let remedy = "name another folder with --out, or give --artifacts none"
      throw UsageProblem(message: "runs cannot leave their files in '\(out)': \(error.reason); \(remedy)")
    }
  }

  private var options: SuiteRunner.Options {
    var options = SuiteRunner.Options(
      executable: WorkerCommand.executable, workerArguments: [WorkerCommand.name])
    options.jobs = chosen.jobs.count
    options.failFast = failFast
    options.checkDeterminism = checkDeterminism
    options.artifacts = artifacts
    options.directory = RunDirectory(root: out)
    options.memoryLimit = memory
    return options
  }

  private func requests() throws -> [ReportRequest] {
    var requests: [ReportRequest] = []
    for text in report {
      do { requests += try ReportRequest.parse(text) } catch { throw UsageProblem(message: error.message) }
    }
    if json { requests.append(ReportRequest(kind: .json, file: "-")) }
    // `/dev/stdout` is standard output too.
    for index in requests.indices where requests[index].file == "/dev/stdout" { requests[index].file = "-" }
    let claims = requests.filter { $0.file == "-" }
    guard claims.count <= 1 else {
      let kinds = claims.map(\.kind.rawValue).joined(separator: " and ")
      let remedy = "give one of them a file: --report \(claims[0].kind.rawValue)=FILE"
      throw UsageProblem(message: "\(kinds) cannot share standard output; \(remedy)")
    }
    let isGitHub = ProcessInfo.processInfo.environment["GITHUB_ACTIONS"] == "true"
    if isGitHub, !requests.contains(where: { $0.kind == .github }) {
      requests.append(ReportRequest(kind: .github, file: "-"))
    }
    return requests
  }

  private func selection() throws -> SuiteSelection {
    var selection = try chosen.selection()
    guard (16...1 << 20).contains(memory) else {
      throw UsageProblem(message: "--memory takes 16 to 1048576 MiB, not \(memory)")
    }
    guard (0...1_000_000).contains(slowest) else {
      throw UsageProblem(message: "--slowest takes a count from 0 to 1000000, not \(slowest)")
    }
    guard !out.isEmpty else { throw UsageProblem(message: "--out takes a folder") }
    selection.overrides = try scenarios.parsedOverrides() + arms.overrides()
    if lastFailed { selection.names = try lastFailedNames(selection.overrides) }
    selection.shard = try shard.map(Self.parseShard)
    return selection
  }

  /// Returns the names of runs that failed last with the same overrides; a run with other values is another run.
  private func lastFailedNames(_ overrides: [ScenarioOverride]) throws -> Set<String> {
    let last = LastFailed(RunDirectory(root: out), overrides: overrides)
    guard !last.names.isEmpty else {
      let reason = last.hint ?? "\(TextStyle.printable(out)) holds no record of a run that failed"
      Output.error("error: nothing to run; \(reason)\n")
      throw ExitStatus.vacuous.code
    }
    if let hint = last.hint { Output.error("note: not run: \(hint)\n") }
    return Set(last.names)
  }

  static func parseShard(_ text: String) throws -> (index: Int, count: Int) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
    guard parts.count == 2, let index = parts[0], let count = parts[1], count >= 1, (1...count).contains(index) else {
      throw UsageProblem(message: "--shard takes i/n with i from 1 to n, such as 2/8, not '\(text)'")
    }
    return (index, count)
  }

  private func header(_ plan: SuitePlan) -> SuiteHeader {
    var words =
      scenarios.overrides.map { "--set \($0)" } + scenarios.programs.map { "--peer \($0)" }
      + arms.arms.map { "--arm \($0)" } + arms.measures.map { "--measure \($0)" }
    words += chosen.words
    if let shard { words.append("--shard \(shard)") }
    words += chosen.seedWords
    if lastFailed { words.append("--last-failed") }
    if checkDeterminism { words.append("--check-determinism") }
    return SuiteHeader(
      plan, environment: .current, options: words, startedAt: Date.now.formatted(.iso8601), hostName: Self.hostName)
  }

  private static var hostName: String? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let status = bytes.withUnsafeMutableBytes { gethostname($0.baseAddress!, $0.count - 1) }
    return status == 0 ? String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) : nil
  }
}

extension SuiteRunner.ArtifactMode: ExpressibleByArgument {}
