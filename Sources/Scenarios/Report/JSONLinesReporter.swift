internal import CallSession
internal import VirtualPeer

/// One event a line, for programs: `begin`, `run` for every run, `end`.
public final class JSONLinesReporter: Reporter {
  private let write: (String) -> Void

  public init(write: @escaping (String) -> Void) { self.write = write }

  public func begin(_ suite: SuiteHeader) {
    var environment: [JSON.Member] = [.init("version", .string(RunEnvironment.version))]
    if let revision = suite.environment.revision { environment.append(.init("revision", .string(revision))) }
    environment += suite.environment.libraries.map { .init($0.name, .string($0.version)) }
    environment.append(.init("processorFeatures", .strings(suite.environment.processorFeatures)))
    emit([
      .init("event", "begin"), .init("files", .integer(Int64(suite.fileCount))),
      .init("cells", .integer(Int64(suite.cellCount))), .init("runs", .integer(Int64(suite.runCount))),
      .init("seeds", .array(suite.seeds.map(JSON.unsigned))),
      .init("fileHash", .string(RunResult.hexadecimal(suite.fileHash))), .init("options", .strings(suite.options)),
      .init("environment", .object(environment)),
    ])
  }

  public func finished(_ run: ReportedRun) {
    var members: [JSON.Member] = [.init("event", "run"), .init("result", run.result.json)]
    members.append(.init("replay", .string(run.replay)))
    if let artifacts = run.artifacts {
      members.append(.init("artifacts", .strings(artifacts.names.map { "\(artifacts.folder)/\($0)" })))
    }
    emit(members)
  }

  public func end(_ summary: SuiteSummary) {
    let counts = Verdict.allCases.map { JSON.Member($0.rawValue, .integer(Int64(summary.count($0)))) }
    emit([
      .init("event", "end"), .init("counts", .object(counts)), .init("notRun", .integer(Int64(summary.notRun))),
      .init("warnings", .integer(Int64(summary.warnings))),
      .init("exitStatus", .integer(Int64(summary.exitStatus.rawValue))),
    ])
  }

  private func emit(_ members: [JSON.Member]) { write(JSON.object(members).description + "\n") }
}
