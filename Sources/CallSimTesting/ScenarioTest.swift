public import CallSim
internal import Foundation
public import Testing

/// One argument of a test: a run of a scenario, or an error that prevents runs.
public struct ScenarioTest: Sendable, CustomTestStringConvertible, CustomTestArgumentEncodable {
  private enum Content: Sendable {
    /// Cells that are judged together: the arms of a comparison, or one.
    case runs([SuitePlan.Entry], seeds: [UInt64], overrides: [ScenarioOverride], ProfileCatalogue, program: String)
    case unreadable(DiagnosticReport)
    case refused(String)
  }

  /// The run's name, `id[var=value,…]#seed`, without a seed if all seeds are judged together; the path of a file with
  /// errors.
  public let name: String
  private let content: Content
  /// The location where the test names the scenarios, for issues outside any scenario file.
  private let sourceLocation: SourceLocation

  init(
    _ entries: [SuitePlan.Entry], seeds: [UInt64], overrides: [ScenarioOverride], _ profiles: ProfileCatalogue,
    _ program: String, at sourceLocation: SourceLocation
  ) {
    let cell = entries[0].cell
    name =
      entries.count > 1 ? cell.pointID : seeds.count == 1 ? cell.runID(seed: seeds[0]) : cell.id
    content = .runs(entries, seeds: seeds, overrides: overrides, profiles, program: program)
    self.sourceLocation = sourceLocation
  }

  init(refusedFor report: DiagnosticReport, at sourceLocation: SourceLocation) {
    name = report.sources.files.first?.path ?? "a scenario file"
    content = .unreadable(report)
    self.sourceLocation = sourceLocation
  }

  init(_ name: String, refusedFor reason: String, at sourceLocation: SourceLocation) {
    self.name = name
    content = .refused(reason)
    self.sourceLocation = sourceLocation
  }

  /// The name of the run.
  public var testDescription: String { name }

  /// Encodes the name, which identifies the argument.
  public func encodeTestArgument(to encoder: some Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(name)
  }

  /// Plays the runs in this process and records an issue for each finding, at the line of the scenario file.
  ///
  /// A trap in the app ends the test process; `callsim run` plays runs in separate processes.
  ///
  /// - Returns: The results of the runs; empty if they could not be played.
  @discardableResult
  public func expectPass() -> [RunResult] {
    switch content {
    case .refused(let reason): record(reason, at: sourceLocation)
    case .unreadable(let report):
      for error in report.errors {
        record("\(error.code.map { "\($0): " } ?? "")\(error.message)", at: place(error.location))
      }
    case .runs(let entries, let seeds, let overrides, let profiles, let program):
      if let started = entries[0].cell.programs(besides: []).first {
        record(
          "peer '\(started.peer)' is a program, which a test does not start; play it with "
            + "\(program) run --allow-programs \(entries[0].path)", at: sourceLocation)
        return []
      }
      var arms = ArmLedger()
      let results = entries.flatMap { play($0, seeds, overrides, profiles, program, &arms) }
      if let together = arms.close(overrides: overrides).run { record(together) }
      return results
    }
    return []
  }

  private func play(
    _ entry: SuitePlan.Entry, _ seeds: [UInt64], _ overrides: [ScenarioOverride], _ profiles: ProfileCatalogue,
    _ program: String, _ arms: inout ArmLedger
  ) -> [RunResult] {
    var ledger = SeedLedger()
    var results: [RunResult] = []
    for seed in seeds {
      do {
        let run = SingleRun(cell: entry.cell, seed: seed, path: entry.path, profiles: profiles)
        let result = try run.execute()
        results.append(result)
        ledger.add(result)
        arms.add(result, of: entry)
        var replay = ReplayCommandLine(runID: result.id, path: entry.path, overrides: overrides)
        replay.program = program
        record(ReportedRun(result: result, replay: replay.text))
      } catch {
        ledger.addNotRun()
        arms.addNotRun()
        record("\(entry.cell.runID(seed: seed)) could not be played: \(error)", at: sourceLocation)
      }
    }
    if let together = ledger.close(entry, overrides: overrides).run { record(together) }
    return results
  }

  // MARK: Issues

  private func record(_ run: ReportedRun) {
    for finding in run.result.findings {
      var alone = run
      alone.result.findings = [finding]
      let text = FailureText(alone).text
      record(text, isWarning: finding.kind == .warning, at: place(finding.location))
    }
  }

  private func record(_ text: String, isWarning: Bool = false, at place: SourceLocation) {
    let comment = Comment(rawValue: text)
    #if compiler(>=6.3)
      Issue.record(comment, severity: isWarning ? .warning : .error, sourceLocation: place)
    #else
      // Before Swift 6.3 every issue fails its test.
      if !isWarning { Issue.record(comment, sourceLocation: place) }
    #endif
  }

  /// Parses `path:line:column`, the form of locations in findings.
  private func place(_ text: String?) -> SourceLocation {
    let parts = (text ?? "").split(separator: ":")
    guard parts.count > 2, let line = Int(parts[parts.count - 2]), let column = Int(parts[parts.count - 1]) else {
      return sourceLocation
    }
    return place(parts.dropLast(2).joined(separator: ":"), line, column)
  }

  private func place(_ path: String, _ line: Int, _ column: Int) -> SourceLocation {
    let url = URL(fileURLWithPath: path)
    // A file id normally has a module and a file; this one has the folder and the file.
    let id = "\(url.deletingLastPathComponent().lastPathComponent)/\(url.lastPathComponent)"
    return SourceLocation(fileID: id, filePath: url.path, line: max(1, line), column: max(1, column))
  }
}
