internal import CallCore
internal import Foundation
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

/// The jobs of one run: the run itself, a second run that must be equal, runs with traces when they differ, and a run
/// that writes all files after a failure.
struct RunTask {
  private enum Stage {
    case first
    case second
    case traced(TracedRuns)
    case artifacts
  }

  private let title: String?
  private let checksDeterminism: Bool
  /// The folder for the run's files when it does not pass; nil when they are not wanted.
  private let failureFolder: String?
  private var stage = Stage.first
  private(set) var result: RunResult?
  private(set) var hasArtifacts = false
  /// The reason why the files are incomplete: the job that wrote them did not end normally.
  private(set) var artifactProblem: String?

  init(title: String?, checksDeterminism: Bool, failureFolder: String?) {
    self.title = title
    self.checksDeterminism = checksDeterminism
    self.failureFolder = failureFolder
  }

  mutating func advance(after job: RunJob, _ outcome: JobOutcome) -> WorkerPool.Step {
    if case .artifacts = job.output { noteArtifacts(outcome) }
    return switch stage {
    case .first: afterFirst(job, outcome)
    case .second: afterSecond(job, outcome)
    case .traced(let runs): afterTrace(job, outcome, runs)
    case .artifacts: afterArtifacts(job, outcome)
    }
  }

  private mutating func noteArtifacts(_ outcome: JobOutcome) {
    hasArtifacts = true
    switch outcome {
    case .result: artifactProblem = nil
    case .failure(let message): artifactProblem = message
    case .crash(let death, _): artifactProblem = "its process \(death.description)"
    case .timeout(let limit): artifactProblem = "still running after \(limit)"
    case .oversize(let limit): artifactProblem = "its process took more than \(limit) MiB"
    }
  }

  private mutating func afterFirst(_ job: RunJob, _ outcome: JobOutcome) -> WorkerPool.Step {
    let found = judged(job, outcome)
    result = found
    // A run that did not end normally has no hash to compare.
    if checksDeterminism, case .result = outcome, found.realTime == nil, found.verdict != .skipped {
      stage = .second
      return .next(bare(job), isFresh: true)
    }
    return artifactsIfWanted(job)
  }

  private mutating func afterSecond(_ job: RunJob, _ outcome: JobOutcome) -> WorkerPool.Step {
    guard let first = result else { return .done }
    if case .result(let second) = outcome, second.isTheSamePlay(as: first) { return artifactsIfWanted(job) }
    let runs = TracedRuns(job, between: [first, judged(job, outcome)])
    stage = .traced(runs)
    return .next(bare(job, .trace(file: runs.nextFile)), isFresh: true)
  }

  private mutating func afterTrace(_ job: RunJob, _ outcome: JobOutcome, _ runs: TracedRuns) -> WorkerPool.Step {
    var runs = runs
    var traced: RunResult?
    if case .result(let result) = outcome { traced = result }
    if runs.add(traced) {
      stage = .traced(runs)
      return .next(bare(job, .trace(file: runs.nextFile)), isFresh: true)
    }
    result?.verdict = .nondeterministic
    result?.findings.insert(runs.finding(), at: 0)
    return artifactsIfWanted(job)
  }

  private mutating func artifactsIfWanted(_ job: RunJob) -> WorkerPool.Step {
    guard let result, result.verdict != .pass, let failureFolder, !hasArtifacts else { return .done }
    // Such a run would not end normally a second time either.
    guard ![.timeout, .skipped].contains(result.verdict) else { return .done }
    stage = .artifacts
    return .next(bare(job, .artifacts(folder: failureFolder)), isFresh: false)
  }

  /// Checks that the run that wrote the files was equal to the run they belong to.
  private mutating func afterArtifacts(_ job: RunJob, _ outcome: JobOutcome) -> WorkerPool.Step {
    guard let first = result, ![.nondeterministic, .inconclusive].contains(first.verdict),
      case .result(let again) = outcome,
      !again.isTheSamePlay(as: first)
    else { return .done }
    let finding = Finding(
      .harness, "the same file and seed give the same events",
      expected: "the play whose files are kept to be the one that was judged: \(first.identity)",
      actual: again.identity, time: .zero)
    result?.verdict = .nondeterministic
    result?.findings.insert(finding, at: 0)
    return .done
  }

  private func bare(_ job: RunJob, _ output: RunJob.Output = .nothing) -> RunJob {
    var job = job
    job.output = output
    return job
  }

  /// Returns the result of a run whose worker did not deliver one.
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
        .crash, FixedInvariant.noTrap.rawValue, expected: "the run to come to its end",
        actual: "its process \(death.description)",
        time: .zero, explanation: lastWords)
      return result(.broken, finding)
    case .timeout(let limit):
      let finding = Finding(
        .harness, "wall limit", expected: "an end within \(limit) of machine time",
        actual: "still running; raise limits.wall in the file if the run is meant to take so long", time: .zero)
      return result(.timeout, finding)
    case .oversize(let limit):
      let finding = Finding(
        .crash, "memory limit", expected: "a process of at most \(limit) MiB",
        actual: "it was larger; raise it with --memory if the run is meant to take so much", time: .zero)
      return result(.broken, finding)
    }
  }
}

/// Repeats a run with its trace written until two of the runs differ.
///
/// Two runs that differed prove nondeterminism, but not its rate: the next two may well be equal.
private struct TracedRuns {
  private static let limit = 16

  private let base: String
  private let differed: [RunResult]
  private var count = 0
  private var kept: (file: String, result: RunResult)?
  private var other: (file: String, result: RunResult)?

  init(_ job: RunJob, between differed: [RunResult]) {
    base = NSTemporaryDirectory() + "callsim-\(getpid())-\(job.seed)-\(UInt32.random(in: 0...UInt32.max))"
    self.differed = differed
  }

  var nextFile: String { "\(base).\(count)" }

  /// Takes the result of the run that wrote ``nextFile``.
  ///
  /// - Parameter result: nil when the run did not end normally.
  /// - Returns: whether another run is wanted.
  mutating func add(_ result: RunResult?) -> Bool {
    let file = nextFile
    count += 1
    if let result, kept == nil {
      kept = (file, result)
    } else if let result, let kept, !result.isTheSamePlay(as: kept.result) {
      other = (file, result)
    } else {
      unlink(file)
    }
    return other == nil && count < Self.limit
  }

  /// Returns the finding and deletes the traces.
  func finding() -> Finding {
    defer { for file in [kept?.file, other?.file] { if let file { unlink(file) } } }
    let difference = kept.flatMap { kept in
      other.flatMap { TraceComparison.firstDifference(kept.file, $0.file) }
    }
    let without = "\(differed.map(\.identity).joined(separator: ", then ")); \(count) more runs did not differ"
    return Finding(
      .harness, "the same file and seed give the same events", expected: "two runs in two processes to be equal",
      actual: difference?.summary ?? without, time: difference?.time ?? .zero, explanation: difference?.lines ?? [])
  }
}

extension RunResult {
  /// Returns whether two runs had the same events and verdicts. Judgements may depend on more than the events: bytes on
  /// the wire, statistics, leftovers at the end.
  fileprivate func isTheSamePlay(as other: RunResult) -> Bool {
    traceHash == other.traceHash && eventCount == other.eventCount && verdict == other.verdict
      && findings == other.findings && measurements == other.measurements
      && virtualDuration == other.virtualDuration
  }

  fileprivate var identity: String {
    let judged =
      findings.map { "\($0.title): \($0.actual)" }
      + measurements.map { "\($0.id): \($0.measured.map { "\($0)" } ?? "nothing measured")" }
    return "verdict \(verdict.rawValue), \(eventCount) events, trace \(Self.hexadecimal(traceHash))"
      + (judged.isEmpty ? "" : " (\(judged.joined(separator: "; ")))")
  }
}
