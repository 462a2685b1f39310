internal import CallCore
internal import Formats
internal import Foundation
public import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

/// Runs a plan in worker processes and tells reporters, in the order of the plan.
public final class SuiteRunner {
  public enum ArtifactMode: String, Sendable, CaseIterable { case fail, all, none }

  public struct Options: Sendable {
    /// The program that has the worker's end, and the arguments that make it one.
    public var executable: String
    public var workerArguments: [String]
    public var jobs = 1
    public var failFast = false
    public var checkDeterminism = false
    public var artifacts = ArtifactMode.fail
    /// Where the files of runs go.
    public var directory = RunDirectory()
    /// How much memory the process of a run may take, in MiB.
    public var memoryLimit = 2_048

    public init(executable: String, workerArguments: [String]) {
      self.executable = executable
      self.workerArguments = workerArguments
    }
  }

  public struct Outcome: Sendable {
    public var summary: SuiteSummary
    public var isInterrupted: Bool
  }

  private let plan: SuitePlan
  private let options: Options
  private let reporters: [any Reporter]
  private var tasks: [RunTask?]
  private var finished: [ReportedRun?]
  /// The runs not started yet, in order.
  private var waiting: [Int] = []
  private var nextToTell = 0
  private var isStopping = false
  private let ownsDirectory: Bool
  private var summary = SuiteSummary()
  private var ledger = SeedLedger()
  /// Whether an expectation of some cell was judged.
  private var hasJudged = false

  public init(plan: SuitePlan, options: Options, reporters: [any Reporter]) {
    self.plan = plan
    self.options = options
    self.reporters = reporters
    ownsDirectory = options.directory.isOurs
    tasks = Array(repeating: nil, count: plan.runs.count)
    finished = Array(repeating: nil, count: plan.runs.count)
  }

  public func run(_ header: SuiteHeader) throws -> Outcome {
    for reporter in reporters { reporter.begin(header) }
    let isRealTime = { [plan] run in plan.entries[plan.runs[run].entry].cell.scenario.isRealTime }
    // What runs with the machine's clock has the machine for itself.
    let isComplete =
      try run(plan.runs.indices.filter { !isRealTime($0) }, jobs: options.jobs)
      && run(plan.runs.indices.filter(isRealTime), jobs: 1)
    summary.isInterrupted = !isComplete
    summary.isShardEmpty = plan.runs.isEmpty && plan.suiteRunCount > 0
    tellRest()
    summary.isUntested = !hasJudged && !summary.isShardEmpty
    for reporter in reporters { reporter.end(summary) }
    return Outcome(summary: summary, isInterrupted: !isComplete)
  }

  /// - Returns: false when it was interrupted.
  private func run(_ runs: [Int], jobs: Int) throws -> Bool {
    guard !runs.isEmpty, !isStopping else { return true }
    waiting = runs
    let pool = WorkerPool(
      WorkerPool.Configuration(
        executable: options.executable, arguments: options.workerArguments, workerCount: min(jobs, runs.count),
        memoryLimit: options.memoryLimit))
    return try pool.run(
      nextTask: { startNext() }, wallLimit: { plan.entries[plan.runs[$0].entry].cell.scenario.wallLimit },
      follow: { follow($0, $1, $2) })
  }

  private func startNext() -> (task: Int, job: RunJob)? {
    guard !isStopping, !waiting.isEmpty else { return nil }
    let number = waiting.removeFirst()
    var job = plan.job(number)
    job.wantsStory = reporters.contains(where: \.wantsStories)
    // A run that cannot be made again is written down at once, and what passes is thrown away.
    let isRealTime = plan.entries[plan.runs[number].entry].cell.scenario.isRealTime
    if options.artifacts == .all || (options.artifacts == .fail && isRealTime) {
      job.output = .artifacts(folder: options.directory.path(of: job.runID))
    }
    tasks[number] = RunTask(
      title: plan.entries[plan.runs[number].entry].title, checksDeterminism: options.checkDeterminism,
      failureFolder: options.artifacts == .fail ? options.directory.path(of: job.runID) : nil)
    for reporter in reporters { reporter.started(job.runID) }
    return (number, job)
  }

  private func follow(_ number: Int, _ job: RunJob, _ outcome: JobOutcome) -> WorkerPool.Step {
    guard var task = tasks[number] else { return .done }
    tasks[number] = nil
    let step = task.advance(after: job, outcome)
    guard case .done = step else {
      tasks[number] = task
      return step
    }
    guard let result = task.result else { return .done }
    finished[number] = ReportedRun(
      result: result, replay: replayCommand(job, of: plan.entries[plan.runs[number].entry].cell),
      artifacts: artifacts(of: task, result))
    tell()
    return .done
  }

  /// What the run has left, once what nobody wants is gone: the files of a run that passes now, from earlier or from now.
  private func artifacts(of task: RunTask, _ result: RunResult) -> ArtifactList? {
    guard options.artifacts != .none else { return nil }
    let folder = options.directory.path(of: result.id)
    guard options.artifacts == .all || ![.pass, .skipped].contains(result.verdict) else {
      options.directory.discard(folder)
      return nil
    }
    guard task.hasArtifacts else { return nil }
    let names = RunDirectory.contents(of: folder)
    guard !names.isEmpty || task.artifactProblem != nil else { return nil }
    return ArtifactList(folder: folder, names: names, problem: task.artifactProblem)
  }

  /// Tells what has finished, as far as everything before it has.
  private func tell() {
    while nextToTell < finished.count, let run = finished[nextToTell] {
      finished[nextToTell] = nil
      nextToTell += 1
      if let list = run.artifacts {
        options.directory.linkLatest(to: list.folder)
        if ownsDirectory { options.directory.ignoreInGit() }
      }
      report(run)
      ledger.add(run.result)
      closeCell()
    }
  }

  /// Tells what is left after a suite that ended early: what has finished all the same, and what was never made.
  private func tellRest() {
    while nextToTell < finished.count {
      if finished[nextToTell] != nil {
        tell()
        continue
      }
      let run = plan.planned(
        nextToTell,
        notRunBecause: summary.isInterrupted ? "the suite was interrupted" : "the suite ended at its first failure")
      nextToTell += 1
      summary.notRun += 1
      ledger.addNotRun()
      for reporter in reporters { reporter.notRun(run) }
      closeCell()
    }
  }

  /// Tells what the seeds of a cell come to together, after the last of them.
  private func closeCell() {
    let (entry, _) = plan.runs[nextToTell - 1]
    guard nextToTell == plan.runs.count || plan.runs[nextToTell].entry != entry else { return }
    let closing = ledger.close(plan.entries[entry], overrides: plan.overrides)
    summary.notJudged += closing.notJudged
    if !closing.isUntested { hasJudged = true }
    if let run = closing.run { report(run) }
  }

  private func report(_ run: ReportedRun) {
    summary.add(run.result)
    if options.failFast, ![.pass, .skipped].contains(run.result.verdict) { isStopping = true }
    for reporter in reporters { reporter.finished(run) }
  }

  private func replayCommand(_ job: RunJob, of cell: Cell) -> String {
    ReplayCommandLine(job, cell: cell).text
  }
}

/// The one command that plays a run again.
public struct ReplayCommandLine: Sendable {
  public var runID: String
  public var path: String
  public var overrides: [ScenarioOverride]
  /// Whether the file has programs of its own.
  public var hasPrograms = false
  /// What people type to start the program.
  public var program = ProgramName.current

  public init(runID: String, path: String, overrides: [ScenarioOverride]) {
    self.runID = runID
    self.path = path
    self.overrides = overrides
  }

  init(_ job: RunJob, cell: Cell) {
    self.init(runID: job.runID, path: job.path, overrides: job.overrides)
    hasPrograms = !cell.programs(besides: job.overrides).isEmpty
  }

  public var text: String {
    var words = [program, "replay", ShellWord.quoted(runID)]
    // Under the default folder the id alone finds the file.
    if !path.hasPrefix(ScenarioFinder.defaultPath + "/") { words.append(ShellWord.quoted(path)) }
    for override in overrides { words += [override.option, ShellWord.quoted(override.argument)] }
    if hasPrograms { words.append("--allow-programs") }
    return words.joined(separator: " ")
  }
}
