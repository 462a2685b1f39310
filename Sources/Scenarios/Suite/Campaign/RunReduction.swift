internal import CallCore
public import Profiles
public import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

/// The reduction of one failing run, whoever wrote its scenario, to a small file that fails alike.
public final class RunReduction {
  /// The end of a reduction.
  public struct Outcome: Sendable {
    /// The smallest file; nil if the run does not fail, or does not fail from a file of its own.
    public var text: String?
    /// The check that fails.
    public var title: String?
    /// The number of entries in the timeline, before and after.
    public var entryCounts: (before: Int, after: Int)
    /// The number of runs that were made.
    public var runCount: Int
    /// Whether a signal ended it.
    public var isInterrupted: Bool
  }

  private enum Stage {
    case original, judgedAlone
    case reducing(FindingReduction)
    case done
  }

  private let cell: Cell
  private let seed: UInt64
  private let options: Campaign.Options
  private let profiles: ProfileCatalogue
  private var stage = Stage.original
  private var scenario: Scenario
  private var title: String?
  private var runCount = 0

  /// Prepares the reduction of a run.
  public init(cell: Cell, seed: UInt64, options: Campaign.Options, profiles: ProfileCatalogue) {
    (self.cell, self.seed, self.options, self.profiles) = (cell, seed, options, profiles)
    scenario = cell.scenario
  }

  /// Plays the run and smaller ones.
  ///
  /// - Throws: when a worker cannot be started.
  public func run() throws -> Outcome {
    let pool = WorkerPool(
      WorkerPool.Configuration(
        executable: options.executable, arguments: options.workerArguments, workerCount: 1,
        memoryLimit: options.memoryLimit))
    var hasBegun = false
    let isComplete = try pool.run(
      nextTask: { [self] in
        defer { hasBegun = true }
        return hasBegun ? nil : (0, job())
      },
      wallLimit: { [scenario] _ in scenario.wallLimit },
      follow: { [self] _, _, outcome in take(outcome).map { .next($0, isFresh: false) } ?? .done })
    var outcome = Outcome(
      title: title, entryCounts: (cell.scenario.timeline.count, 0), runCount: runCount, isInterrupted: !isComplete)
    if case .reducing(let reduction) = stage, reduction.isRepeated {
      (outcome.text, outcome.entryCounts.after) = (reduction.text, reduction.entryCount)
    }
    return outcome
  }

  private func job() -> RunJob {
    RunJob(
      source: ScenarioSource([.init(path: "\(scenario.id).yaml", text: scenario.text())]), cellID: scenario.id,
      seed: seed)
  }

  /// - Returns: the next run, or nil at the end.
  private func take(_ outcome: JobOutcome) -> RunJob? {
    runCount += 1
    switch stage {
    case .original:
      if case .crash(let death, let lastWords) = outcome {
        let check = BrokenCheck(death, lastWords: lastWords)
        title = check.title
        return reduce(check)
      }
      guard case .result(let result) = outcome, let finding = result.findings.first(where: \.isFailure) else {
        return end()
      }
      title = finding.title
      // Only what fails is judged from now on, so that nothing else has to stay.
      scenario.expectations = scenario.expectations.filter { $0.text == finding.title }
      scenario.expectsInvariantsOnly = scenario.expectations.isEmpty
      for index in scenario.expectations.indices { scenario.expectations[index].id = "#\(index + 1)" }
      stage = .judgedAlone
      return job()
    case .judgedAlone:
      guard case .result(let result) = outcome,
        let finding = result.findings.first(where: { $0.title == title && $0.isFailure })
      else { return end() }
      return reduce(BrokenCheck(finding))
    case .reducing(var reduction):
      reduction.take(outcome)
      let next = reduction.nextJob()
      stage = .reducing(reduction)
      return next
    case .done: return nil
    }
  }

  private func reduce(_ check: BrokenCheck) -> RunJob? {
    var reduction = FindingReduction(
      text: scenario.text(), check: check, seed: seed, limit: options.reductionLimit, registry: profiles.registry)
    let next = reduction.nextJob()
    stage = .reducing(reduction)
    return next
  }

  private func end() -> RunJob? {
    stage = .done
    return nil
  }
}

extension Finding {
  /// Whether it makes a run fail, and is not of the harness.
  fileprivate var isFailure: Bool {
    switch kind {
    case .expectation, .invariant, .crash: true
    case .warning, .vacuous, .harness: false
    }
  }
}
