internal import CallCore
internal import Formats
internal import Foundation
public import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

/// Runs a plan in worker processes and reports in the order of the plan.
public final class SuiteRunner {
  /// The runs whose files are kept: those that do not pass, all, or none.
  public enum ArtifactMode: String, Sendable, CaseIterable { case fail, all, none }

  /// How a suite is run.
  public struct Options: Sendable {
    /// The program that contains the worker loop, and the arguments that start it.
    public var executable: String
    /// The arguments that make the program run the worker loop.
    public var workerArguments: [String]
    /// The number of worker processes that run at a time.
    public var jobs = 1
    /// Whether the suite ends with the first run that fails.
    public var failFast = false
    /// Whether each run is repeated and both are compared.
    public var checkDeterminism = false
    /// The runs whose files are kept.
    public var artifacts = ArtifactMode.fail
    /// The folder that holds the files of runs.
    public var directory = RunDirectory()
    /// The memory that a worker process may take, in MiB.
    public var memoryLimit = 2_048
    /// Whether the arms of a point are judged together; false for a part of the seeds, which is compared elsewhere.
    package var judgesArms = true
    /// Whether the processor time of encoders and decoders is measured.
    package var timesCodecs = false
    /// The programs that score what is heard.
    package var scorers: [ExternalScorer] = []
    /// Whether results hold the coverage of the profiles.
    package var wantsCoverage = false

    /// Sets the program to start as a worker; everything else has its default.
    public init(executable: String, workerArguments: [String]) {
      self.executable = executable
      self.workerArguments = workerArguments
    }
  }

  /// The end of a suite.
  public struct Outcome: Sendable {
    /// The counts and the exit status of the suite.
    public var summary: SuiteSummary
    /// Whether a signal ended the suite.
    public var isInterrupted: Bool
    /// What was measured in the arms of each point of a matrix that has arms.
    package var comparisons: [ArmComparison] = []
  }

  private let plan: SuitePlan
  private let options: Options
  private let reporters: [any Reporter]
  private var tasks: [RunTask?]
  private var finished: [ReportedRun?]
  /// The runs that have not started yet, in order.
  private var waiting: [Int] = []
  private var nextToTell = 0
  private var isStopping = false
  private let ownsDirectory: Bool
  private var summary = SuiteSummary()
  private var ledger = SeedLedger()
  private var arms = ArmLedger()
  private var comparisons: [ArmComparison] = []
  /// Whether an expectation of any cell was judged.
  private var hasJudged = false

  /// Prepares the plan for ``run(_:)``.
  public init(plan: SuitePlan, options: Options, reporters: [any Reporter]) {
    self.plan = plan
    self.options = options
    self.reporters = reporters
    ownsDirectory = options.directory.isOurs
    tasks = Array(repeating: nil, count: plan.runs.count)
    finished = Array(repeating: nil, count: plan.runs.count)
  }

  /// Runs the plan and calls the reporters.
  ///
  /// - Throws: when a worker cannot be started.
  public func run(_ header: SuiteHeader) throws -> Outcome {
    for reporter in reporters { reporter.begin(header) }
    let isRealTime = { [plan] run in plan.entries[plan.runs[run].entry].cell.scenario.isRealTime }
    // Runs in real time have the machine to themselves.
    let isComplete =
      try run(plan.runs.indices.filter { !isRealTime($0) }, jobs: options.jobs)
      && run(plan.runs.indices.filter(isRealTime), jobs: 1)
    summary.isInterrupted = !isComplete
    summary.isShardEmpty = plan.runs.isEmpty && plan.suiteRunCount > 0
    tellRest()
    summary.isUntested = !hasJudged && !summary.isShardEmpty
    for reporter in reporters { reporter.end(summary) }
    return Outcome(summary: summary, isInterrupted: !isComplete, comparisons: comparisons)
  }

  /// - Returns: false when it was interrupted.
  private func run(_ runs: [Int], jobs: Int) throws -> Bool {
    guard !runs.isEmpty, !isStopping else { return true }
    waiting = runs
    let pool = WorkerPool(
      WorkerPool.Configuration(
        executable: options.executable, arguments: options.workerArguments, workerCount: min(jobs, runs.count),
        memoryLimit: options.memoryLimit))
    let scoring = options.scorers.reduce(0) { $0 + $1.limit + 1 }
    return try pool.run(
      nextTask: { startNext() },
      wallLimit: { run in
        let scenario = plan.entries[plan.runs[run].entry].cell.scenario
        return scenario.wallLimit + .seconds(Int64(scoring * scenario.peers.count))
      },
      follow: { follow($0, $1, $2) })
  }

  private func startNext() -> (task: Int, job: RunJob)? {
    guard !isStopping, !waiting.isEmpty else { return nil }
    let number = waiting.removeFirst()
    var job = plan.job(number)
    job.wantsStory = reporters.contains(where: \.wantsStories)
    job.wantsCoverage = options.wantsCoverage
    job.timesCodecs = options.timesCodecs
    job.scorers = options.scorers
    // A run that cannot be repeated writes its files at once; those of a run that passes are deleted.
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

  /// Returns the files of a run, after deleting unwanted ones: those of a run that passes, from this suite or an
  /// earlier one.
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

  /// Reports the finished runs up to the first unfinished one.
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
      arms.add(run.result, of: plan.entries[plan.runs[nextToTell - 1].entry])
      closeCell()
    }
  }

  /// Reports the rest after a suite that ended early: the runs that finished out of order, and those that were never
  /// made.
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
      arms.addNotRun()
      for reporter in reporters { reporter.notRun(run) }
      closeCell()
    }
  }

  /// Reports the verdict over all seeds of a cell, after the last of them.
  private func closeCell() {
    let (entry, _) = plan.runs[nextToTell - 1]
    guard nextToTell == plan.runs.count || plan.runs[nextToTell].entry != entry else { return }
    let closing = ledger.close(plan.entries[entry], overrides: plan.overrides)
    summary.notJudged += closing.notJudged
    if !closing.isUntested { hasJudged = true }
    if let run = closing.run { report(run) }
    closePoint(after: entry)
  }

  /// Reports the comparison of the arms at a point of the matrix, after the last run of the last arm.
  private func closePoint(after entry: Int) {
    let point = plan.entries[entry]
    let next = nextToTell < plan.runs.count ? plan.entries[plan.runs[nextToTell].entry] : nil
    guard point.cell.pointID != next?.cell.pointID else { return }
    let closing = arms.close(overrides: plan.overrides)
    if options.judgesArms { summary.notJudged += closing.notJudged }
    if let comparison = closing.comparison { comparisons.append(comparison) }
    // Whoever compares elsewhere judges there.
    if closing.comparison != nil, !options.judgesArms { hasJudged = true }
    guard options.judgesArms, let run = closing.run else { return }
    if closing.comparison?.deltas.isEmpty == false { hasJudged = true }
    report(run)
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

/// The command that plays a run again.
public struct ReplayCommandLine: Sendable {
  /// The run's name, `id[var=value,…]#seed`.
  public var runID: String
  /// The path of the scenario file.
  public var path: String
  /// The overrides of variables and peers.
  public var overrides: [ScenarioOverride]
  /// Whether the file starts programs of its own.
  public var hasPrograms = false
  /// The command that starts the program.
  public var program = ProgramName.current

  /// Makes the command for one run.
  public init(runID: String, path: String, overrides: [ScenarioOverride]) {
    self.runID = runID
    self.path = path
    self.overrides = overrides
  }

  init(_ job: RunJob, cell: Cell) {
    self.init(runID: job.runID, path: job.path, overrides: job.overrides)
    hasPrograms = !cell.programs(besides: job.overrides).isEmpty
  }

  /// The command, quoted for a shell.
  public var text: String {
    var words = [program, "replay", ShellWord.quoted(runID)]
    // Under the default folder the id alone finds the file.
    if !path.hasPrefix(ScenarioFinder.defaultPath + "/") { words.append(ShellWord.quoted(path)) }
    for override in overrides { words += [override.option, ShellWord.quoted(override.argument)] }
    if hasPrograms { words.append("--allow-programs") }
    return words.joined(separator: " ")
  }
}
