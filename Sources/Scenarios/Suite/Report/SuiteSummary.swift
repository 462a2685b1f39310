public import CallCore
public import ScenarioJudge
public import ScenarioRun

/// What all the runs of one command came to.
public struct SuiteSummary: Sendable, Equatable {
  private var counts: [Int] = Array(repeating: 0, count: Verdict.allCases.count)
  /// Of cells over all their seeds, where an expectation is about all of them.
  private var cellCounts: [Int] = Array(repeating: 0, count: Verdict.allCases.count)
  /// Runs that were planned and never started: after `--fail-fast`, an interruption, or because files have errors.
  public var notRun = 0
  /// Expectations over all the seeds of a cell that were not judged, because not every seed ran to its end.
  public var notJudged = 0
  /// Whether a signal ended the suite.
  public var isInterrupted = false
  /// Whether this is a shard that has none of the runs that the suite has.
  public var isShardEmpty = false
  /// How much is wrong with the files; then nothing was run.
  public var problems = 0
  /// Whether no expectation was judged: each is over seeds that were not all chosen, or did not all run to their end.
  public var isUntested = false
  public private(set) var status = ExitStatus.pass
  public private(set) var virtualDuration = Interval.zero
  public private(set) var cpuSeconds = 0.0
  /// Findings that do not fail a run.
  public private(set) var warnings = 0

  public init() {}

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

  /// How many runs came out so.
  public func count(_ verdict: Verdict) -> Int { counts[Self.index(verdict)] }

  /// How many cells came out so over all their seeds.
  public func cellCount(_ verdict: Verdict) -> Int { cellCounts[Self.index(verdict)] }

  /// Runs of every verdict.
  public var total: Int { counts.reduce(0, +) }

  /// What the command ends with: a suite that ran nothing, skipped everything or judged nothing is vacuous. A shard is not
  /// the suite: that there is nothing left for it says nothing.
  public var exitStatus: ExitStatus {
    if problems > 0 { return .badScenario }
    if isInterrupted { return .interrupted }
    if isShardEmpty { return .pass }
    return total == count(.skipped) ? .vacuous : isUntested ? status.worse(.vacuous) : status
  }

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
