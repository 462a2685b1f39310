internal import Formats
internal import PeerSession
public import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import Vocabulary

/// JSON Lines, for programs: the events `begin`, `run` for every run, `notRun` for every run that was not made, and
/// `end`. If files have errors, each error is a `problem` event at the start, and no run of the other files is made.
public final class JSONLinesReporter: Reporter {
  private let write: (String) -> Void

  /// Reports through `write`.
  public init(write: @escaping (String) -> Void) { self.write = write }

  public func begin(_ suite: SuiteHeader) {
    emit([
      .init("event", "begin"), .init("files", .integer(Int64(suite.fileCount))),
      .init("cells", .integer(Int64(suite.cellCount))), .init("runs", .integer(Int64(suite.runCount))),
      .init("seeds", .array(suite.seeds.map(JSON.unsigned))),
      .init("fileHash", .string(RunResult.hexadecimal(suite.fileHash))), .init("options", .strings(suite.options)),
      .init("environment", suite.environment.json),
    ])
  }

  public func finished(_ run: ReportedRun) {
    var members: [JSON.Member] = [.init("event", "run"), .init("result", run.result.json)]
    members.append(.init("replay", .string(run.replay)))
    if let artifacts = run.artifacts {
      members.append(.init("artifacts", .strings(artifacts.names.map { "\(artifacts.folder)/\($0)" })))
      if let problem = artifacts.problem { members.append(.init("artifactsIncomplete", .string(problem))) }
    }
    emit(members)
  }

  public func notRun(_ run: PlannedRun) {
    emit([
      .init("event", "notRun"), .init("id", .string(run.id)), .init("path", .string(run.path)),
      .init("reason", .string(run.reason)),
    ])
  }

  public func refused(_ problem: FileProblem) {
    var members: [JSON.Member] = [.init("event", "problem"), .init("path", .string(problem.path))]
    if let place = problem.place {
      members += [.init("line", .integer(Int64(place.line))), .init("column", .integer(Int64(place.column)))]
    }
    if let code = problem.code { members.append(.init("code", .string(code))) }
    emit(members + [.init("message", .string(problem.message))])
  }

  public func end(_ summary: SuiteSummary) {
    let counts = Verdict.allCases.map { JSON.Member($0.rawValue, .integer(Int64(summary.count($0)))) }
    let cells = Verdict.allCases.map { JSON.Member($0.rawValue, .integer(Int64(summary.cellCount($0)))) }
    emit([
      .init("event", "end"), .init("counts", .object(counts)),
      .init("cellCounts", .object(cells)), .init("notRun", .integer(Int64(summary.notRun))),
      .init("notJudged", .integer(Int64(summary.notJudged))), .init("warnings", .integer(Int64(summary.warnings))),
      .init("untested", .bool(summary.isUntested)), .init("interrupted", .bool(summary.isInterrupted)),
      .init("exitStatus", .integer(Int64(summary.exitStatus.rawValue))),
    ])
  }

  private func emit(_ members: [JSON.Member]) { write(JSON.object(members).description + "\n") }
}

extension RunEnvironment {
  var json: JSON {
    var members: [JSON.Member] = [.init("version", .string(Self.version))]
    if let revision { members.append(.init("revision", .string(revision))) }
    members += libraries.map { .init($0.name, .string($0.version)) }
    members.append(.init("processorFeatures", .strings(processorFeatures)))
    return .object(members)
  }
}
