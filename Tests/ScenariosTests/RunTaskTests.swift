import CallCore
import Foundation
import Testing
import VirtualPeer

@testable import ScenarioFormat
@testable import ScenarioJudge
@testable import ScenarioRun
@testable import ScenarioSuite

/// What follows a job of a run, without workers.
@Suite struct RunTaskTests {
  private static let job = RunJob(source: ScenarioSource([.init(path: "a.yaml", text: "x")]), cellID: "a", seed: 7)

  private static func result(_ verdict: Verdict, hash: UInt64 = 1) -> JobOutcome {
    var result = Sample.run(verdict, id: "a#7").result
    result.traceHash = hash
    return .result(result)
  }

  private static func next(_ step: WorkerPool.Step) -> RunJob? {
    if case .next(let job, _) = step { return job }
    return nil
  }

  /// A failed run, up to the job that writes its files.
  private static func failed() throws -> (task: RunTask, job: RunJob) {
    var task = RunTask(title: nil, checksDeterminism: false, failureFolder: "out/a#7")
    let job = try #require(next(task.advance(after: job, result(.fail))))
    #expect(job.output == .artifacts(folder: "out/a#7"))
    return (task, job)
  }

  @Test func `files of the same play are kept without a word`() throws {
    var (task, job) = try Self.failed()
    #expect(Self.next(task.advance(after: job, Self.result(.fail))) == nil)
    #expect(task.result?.verdict == .fail)
    #expect(task.hasArtifacts && task.artifactProblem == nil)
  }

  @Test func `files of another play than the judged one make the run nondeterministic`() throws {
    var (task, job) = try Self.failed()
    _ = task.advance(after: job, Self.result(.pass, hash: 2))
    #expect(task.result?.verdict == .nondeterministic)
    let finding = try #require(task.result?.findings.first)
    #expect(finding.expected.contains("verdict fail") && finding.actual.contains("verdict pass"))
  }

  @Test func `files that could not be written are told with the reason, and the verdict stays`() throws {
    var (task, job) = try Self.failed()
    _ = task.advance(after: job, .failure("run.pcapng: not everything could be written"))
    #expect(task.result?.verdict == .fail)
    #expect(task.artifactProblem == "run.pcapng: not everything could be written")
    var run = Sample.run(.fail)
    run.artifacts = ArtifactList(folder: "out/a#7", names: ["trace.jsonl"], problem: task.artifactProblem)
    #expect(FailureText(run).text.contains("  incomplete run.pcapng: not everything could be written\n"))
    #expect(Sample.output(of: [run]) { JSONLinesReporter(write: $0) }.contains("\"artifactsIncomplete\":\"run.pcapng"))
  }

  @Test func `a run that crashed and does not crash again is no finding of the crash alone`() throws {
    var task = RunTask(title: nil, checksDeterminism: false, failureFolder: "out/a#7")
    let job = try #require(Self.next(task.advance(after: Self.job, .crash(.signal(11), lastWords: []))))
    _ = task.advance(after: job, Self.result(.pass))
    #expect(task.result?.verdict == .nondeterministic)
  }

  @Test func `runs are traced until two differ, however many are equal before`() throws {
    var task = RunTask(title: nil, checksDeterminism: true, failureFolder: nil)
    var job = try #require(Self.next(task.advance(after: Self.job, Self.result(.pass, hash: 1))))
    job = try #require(Self.next(task.advance(after: job, Self.result(.pass, hash: 2))))
    var files: [String] = []
    defer { for file in files { unlink(file) } }
    // Five traced runs are equal; the sixth is the other one.
    for attempt in 0..<6 {
      guard case .trace(let file) = job.output else {
        Issue.record("no trace wanted")
        return
      }
      files.append(file)
      let value = attempt == 5 ? 2 : 1
      let line = "{\"t\":0,\"n\":1,\"subject\":\"alice\",\"kind\":\"x\",\"fields\":{\"v\":\(value)}}\n"
      try line.write(toFile: file, atomically: true, encoding: .utf8)
      let step = task.advance(after: job, Self.result(.pass, hash: UInt64(value)))
      if attempt < 5 { job = try #require(Self.next(step)) } else { #expect(Self.next(step) == nil) }
    }
    #expect(task.result?.verdict == .nondeterministic)
    #expect(task.result?.findings.first?.actual == "event 1 at 0.000 s, alice x: v 1 or 2")
    #expect(!files.contains { FileManager.default.fileExists(atPath: $0) })
  }

  /// What is measured lies beside the events: the wire's bytes, statistics, what is left at the end.
  @Test(arguments: [true, false])
  func `equal events that are judged differently make a run nondeterministic`(isFinding: Bool) throws {
    func outcome(_ measured: Double) -> JobOutcome {
      guard case .result(var result) = Self.result(isFinding ? .fail : .pass) else { preconditionFailure() }
      result.findings =
        isFinding ? [Finding(.expectation, "loss", expected: "< 1", actual: "it was \(measured)", time: .zero)] : []
      result.measurements = isFinding ? [] : [Measurement(id: "loss", expected: "< 1", measured: measured)]
      return .result(result)
    }
    var task = RunTask(title: nil, checksDeterminism: true, failureFolder: nil)
    var job = try #require(Self.next(task.advance(after: Self.job, outcome(0.25))))
    job = try #require(Self.next(task.advance(after: job, outcome(0.5))))
    while let next = Self.next(task.advance(after: job, outcome(0.25))) { job = next }
    #expect(task.result?.verdict == .nondeterministic)
    let actual = try #require(task.result?.findings.first?.actual)
    #expect(actual.contains("0.25") && actual.contains("0.5"))
  }

  @Test func `when no traced run differs again both hashes are told`() throws {
    var task = RunTask(title: nil, checksDeterminism: true, failureFolder: nil)
    var job = try #require(Self.next(task.advance(after: Self.job, Self.result(.pass, hash: 1))))
    job = try #require(Self.next(task.advance(after: job, Self.result(.pass, hash: 2))))
    while let next = Self.next(task.advance(after: job, Self.result(.pass, hash: 1))) { job = next }
    let actual = try #require(task.result?.findings.first?.actual)
    #expect(actual.contains("trace 0000000000000001") && actual.contains("trace 0000000000000002"))
    #expect(actual.hasSuffix("16 more runs did not differ"))
  }

  @Test func `a job carries texts and recordings once and names them afterwards`() throws {
    let source = ScenarioSource([
      .init(path: "a.yaml", text: "x: \"1\"\n"), .init(path: "p/b.yaml", text: "y"),
      .init(path: "p/v.wav", recording: [0, 255, 10, 13, 34, 128]),
    ])
    let job = RunJob(source: source, cellID: "a[x=1]", seed: .max, overrides: [.init(name: "l", value: "1%")])
    let whole = try JSON(parsing: job.json(hasFiles: true).description.utf8)
    #expect(RunJob(json: whole) == job)
    let short = try JSON(parsing: job.json(hasFiles: false).description.utf8)
    #expect(RunJob(json: short, known: source) == job)
    #expect(RunJob(json: short) == nil)
    #expect(RunJob(json: short, known: ScenarioSource([.init(path: "a.yaml", text: "other")])) == nil)
  }
}

@Suite struct CertificateCacheTests {
  @Test func `a campaign of many seeds keeps the certificates of the newest`() {
    var cache = CertificateCache(limit: 3)
    for seed in [1, 2, 3, 4, 5, 5, 1] { _ = cache.certificate(of: "alice", seed: UInt64(seed)) }
    #expect(cache.count == 3)
  }
}
