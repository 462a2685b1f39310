internal import CallCore
internal import Foundation

/// The way of one run through the jobs it takes: the run itself, the second run that must be equal, traces when they
/// were not, and once more with everything written down when it failed.
struct RunTask {
  private enum Stage {
    case first
    case second
    case traced(first: String, isSecond: Bool)
    case artifacts
  }

  private let title: String?
  private let checksDeterminism: Bool
  private let artifacts: SuiteRunner.ArtifactMode
  private var stage = Stage.first
  private(set) var result: RunResult?
  private(set) var hasArtifacts = false

  init(title: String?, checksDeterminism: Bool, artifacts: SuiteRunner.ArtifactMode) {
    self.title = title
    self.checksDeterminism = checksDeterminism
    self.artifacts = artifacts
  }

  mutating func advance(after job: RunJob, _ outcome: JobOutcome) -> WorkerPool.Step {
    switch stage {
    case .first: afterFirst(job, outcome)
    case .second: afterSecond(job, outcome)
    case .traced(let first, let isSecond): afterTrace(job, outcome, first: first, isSecond: isSecond)
    case .artifacts: .done
    }
  }

  private mutating func afterFirst(_ job: RunJob, _ outcome: JobOutcome) -> WorkerPool.Step {
    let found = judged(job, outcome)
    result = found
    hasArtifacts = job.output != .nothing
    // What did not come to its end has no hash to compare.
    if checksDeterminism, case .result = outcome, found.realTime == nil, found.verdict != .skipped {
      stage = .second
      return .next(bare(job), isFresh: true)
    }
    return artifactsIfWanted(job)
  }

  private mutating func afterSecond(_ job: RunJob, _ outcome: JobOutcome) -> WorkerPool.Step {
    if case .result(let second) = outcome, second.traceHash == result?.traceHash,
      second.eventCount == result?.eventCount, second.verdict == result?.verdict
    {
      return artifactsIfWanted(job)
    }
    let base = NSTemporaryDirectory() + "callsim-\(getpid())-\(job.seed)-\(UInt32.random(in: 0...UInt32.max))"
    stage = .traced(first: base, isSecond: false)
    return .next(bare(job, .trace(file: base + ".first")), isFresh: true)
  }

  private mutating func afterTrace(
    _ job: RunJob, _ outcome: JobOutcome, first base: String, isSecond: Bool
  ) -> WorkerPool.Step {
    guard isSecond else {
      stage = .traced(first: base, isSecond: true)
      return .next(bare(job, .trace(file: base + ".second")), isFresh: true)
    }
    let difference = TraceComparison.firstDifference(base + ".first", base + ".second")
    for suffix in [".first", ".second"] { unlink(base + suffix) }
    let finding = Finding(
      .harness, "the same file and seed give the same events", expected: "two runs in two processes to be equal",
      actual: difference?.summary ?? "two runs differed; two more with their traces written did not",
      time: difference?.time ?? .zero, explanation: difference?.lines ?? [])
    result?.verdict = .nondeterministic
    result?.findings.insert(finding, at: 0)
    return artifactsIfWanted(job)
  }

  private mutating func artifactsIfWanted(_ job: RunJob) -> WorkerPool.Step {
    guard let result, result.verdict != .pass, artifacts == .fail, !hasArtifacts else { return .done }
    // Neither would come to its end a second time.
    guard ![.timeout, .skipped].contains(result.verdict) else { return .done }
    stage = .artifacts
    hasArtifacts = true
    return .next(bare(job, .artifacts(folder: RunDirectory.path(of: job.runID))), isFresh: false)
  }

  private func bare(_ job: RunJob, _ output: RunJob.Output = .nothing) -> RunJob {
    var job = job
    job.output = output
    return job
  }

  /// What a run came to, when its worker could not say.
  private func judged(_ job: RunJob, _ outcome: JobOutcome) -> RunResult {
    let id = job.cellID.prefix { $0 != "[" }
    func result(_ verdict: Verdict, _ finding: Finding) -> RunResult {
      RunResult(
        id: job.runID, scenarioID: String(id), title: title, path: job.path, seed: job.seed, verdict: verdict,
        findings: [finding])
    }
    switch outcome {
    case .result(let result): return result
    case .failure(let message):
      let finding = Finding(.harness, "the harness runs", expected: "a verdict", actual: message, time: .zero)
      return result(.inconclusive, finding)
    case .crash(let death, let lastWords):
      let finding = Finding(
        .crash, "no-trap", expected: "the run to come to its end", actual: "its process \(death.description)",
        time: .zero, explanation: lastWords)
      return result(.broken, finding)
    case .timeout(let limit):
      let finding = Finding(
        .harness, "wall limit", expected: "an end within \(limit) of machine time",
        actual: "still running; raise limits.wall in the file if the run is meant to take so long", time: .zero)
      return result(.timeout, finding)
    }
  }
}
