public import CallCore
public import ScenarioJudge
public import ScenarioRun

/// The counts and the exit status of the runs of one command.
public struct SuiteSummary: Sendable, Equatable {
  private var counts: [Int] = Array(repeating: 0, count: Verdict.allCases.count)
  /// Verdicts of cells over all their seeds, for cells with an expectation about all of them.
  private var cellCounts: [Int] = Array(repeating: 0, count: Verdict.allCases.count)
  /// The number of runs that were planned and never started: after `--fail-fast`, an interruption, or because of errors
  /// in files.
  public var notRun = 0
  /// The number of expectations over all seeds of a cell that were not judged, because not every seed ran to its end.
  public var notJudged = 0
  /// Whether a signal ended the suite.
  public var isInterrupted = false
  /// Whether this is a shard without runs, of a suite that has some.
  public var isShardEmpty = false
  /// The number of problems in the files; if there are any, nothing was run.
  public var problems = 0
  /// Whether no expectation was judged: each is about seeds that were not all selected, or did not all run to their
  /// end.
  public var isUntested = false
  /// The worst outcome so far.
  public private(set) var status = ExitStatus.pass
  /// The virtual time of all runs together.
  public private(set) var virtualDuration = Interval.zero
  /// The processor time of all runs together, in seconds.
  public private(set) var cpuSeconds = 0.0
  /// The number of findings that do not fail a run.
  public private(set) var warnings = 0

  /// Makes a summary of no runs.
  public init() {}

  /// Adds the result of a run, or the result of a cell over all its seeds.
  public mutating func add(_ result: RunResult) {
    if RunName(result.id).seed == nil {
      cellCounts[Self.index(result.verdict)] += 1
    } else {
      counts[Self.index(result.verdict)] += 1
    }
    status = status.worse(ExitStatus(result.verdict))
    virtualDuration += result.virtualDuration
    cpuSeconds += result.cpuSeconds
    warnings += result.findings.count { $0.kind == .warning }
  }

  /// Returns the number of runs with a verdict.
  public func count(_ verdict: Verdict) -> Int { counts[Self.index(verdict)] }

  /// Returns the number of cells with a verdict over all their seeds.
  public func cellCount(_ verdict: Verdict) -> Int { cellCounts[Self.index(verdict)] }

  /// The number of runs, whatever their verdict.
  public var total: Int { counts.reduce(0, +) }

  /// The exit status of the command. A suite that ran nothing, skipped everything or judged nothing is vacuous; a shard
  /// without runs is not, because other shards have them.
  public var exitStatus: ExitStatus {
    if problems > 0 { return .badScenario }
    if isInterrupted { return .interrupted }
    if isShardEmpty { return .pass }
    return total == count(.skipped) ? .vacuous : isUntested ? status.worse(.vacuous) : status
  }

  /// The worst outcome of the runs and cells, whether or not anything was judged over all of them.
  package var runStatus: ExitStatus { status }

  /// `12 passed, 1 failed, 2 vacuous, over all seeds 1 failed`
  public var line: String {
    if problems > 0 { return "\(problems) problem\(problems == 1 ? "" : "s") in scenario files; nothing was run" }
    var parts = ["\(count(.pass)) passed", "\(count(.fail)) failed"]
    let others: [(Verdict, String)] = [
      (.broken, "broken"), (.vacuous, "vacuous"), (.inconclusive, "inconclusive"), (.timeout, "over the wall limit"),
      (.nondeterministic, "not deterministic"), (.skipped, "skipped"),
    ]
    for (verdict, name) in others where count(verdict) > 0 { parts.append("\(count(verdict)) \(name)") }
    let cells = [(Verdict.fail, "failed"), (.vacuous, "vacuous")].filter { cellCount($0.0) > 0 }
    if !cells.isEmpty {
      parts.append("over all seeds " + cells.map { "\(cellCount($0.0)) \($0.1)" }.joined(separator: " and "))
    }
    if notRun > 0 { parts.append("\(notRun) not run") }
    if notJudged > 0 {
      let noun = notJudged == 1 ? "expectation" : "expectations"
      parts.append("\(notJudged) \(noun) over all seeds not judged")
    }
    if isUntested { parts.append(Self.untested) }
    if warnings > 0 { parts.append(warnings == 1 ? "1 warning" : "\(warnings) warnings") }
    return parts.joined(separator: ", ")
  }

  static let untested = "nothing was put to the test"

  private static func index(_ verdict: Verdict) -> Int { Verdict.allCases.firstIndex(of: verdict) ?? 0 }
}
