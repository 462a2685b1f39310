internal import CallCore
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import Vocabulary

/// What did not hold at a point, for a text or a page that is read alone.
extension ArmComparison {
  /// The runs of each arm that did not pass, or have a warning, and the findings about the arms together; one line each.
  var failureTexts: [String] {
    arms.names.flatMap { arm in
      let own = runs.filter { $0.arm == arm }
      return [failedRuns(of: own, arm), warnedRuns(of: own, arm)].compactMap(\.self)
    } + findings.map { "\($0.kind.heading): \($0.expected): \($0.actual)" }
  }

  /// `'fec': 3 of 8 runs did not pass (2 fail, 1 timeout): ends: alice, code: local-hangup`
  private func failedRuns(of runs: [Run], _ arm: String) -> String? {
    let failed = runs.filter { $0.verdict != .pass }
    guard !failed.isEmpty else { return nil }
    let words = failed.map(\.verdict.rawValue)
    let counts = words.inOrderOfAppearance.map { word in "\(words.count { $0 == word }) \(word)" }
    return "'\(arm)': \(failed.count) of \(Wording.count(runs.count, "run")) did not pass "
      + "(\(counts.joined(separator: ", ")))" + Self.titles(failed.flatMap(\.failures))
  }

  private func warnedRuns(of runs: [Run], _ arm: String) -> String? {
    let warned = runs.filter { !$0.warnings.isEmpty }
    guard !warned.isEmpty else { return nil }
    return "'\(arm)': \(warned.count) of \(Wording.count(runs.count, "run")) with a warning"
      + Self.titles(warned.flatMap(\.warnings))
  }

  /// Names the checks; of many the first ones.
  private static func titles(_ titles: [String]) -> String {
    let titles = titles.inOrderOfAppearance
    guard !titles.isEmpty else { return "" }
    let rest = titles.count > 3 ? "; and \(titles.count - 3) more" : ""
    return ": " + titles.prefix(3).joined(separator: "; ") + rest
  }
}

extension Finding.Kind {
  fileprivate var heading: String {
    switch self {
    case .warning: "warning"
    case .vacuous: "not put to the test"
    case .expectation, .invariant, .crash, .harness: "failed"
    }
  }
}
