internal import CallCore
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import Vocabulary

/// What did not hold at a point, for a text or a page that is read alone.
extension ArmComparison {
  /// One line for each arm with runs that did not pass, and one for each finding about the arms together.
  var failureTexts: [String] {
    arms.names.compactMap(failedRuns) + findings.map { "\($0.kind.heading): \($0.expected): \($0.actual)" }
  }

  /// `'fec': 3 of 8 runs did not pass: 2 fail, 1 timeout`
  private func failedRuns(_ arm: String) -> String? {
    let verdicts = runs.filter { $0.arm == arm }.map(\.verdict)
    let failed = verdicts.filter { $0 != .pass }
    guard !failed.isEmpty else { return nil }
    let counts = failed.map(\.rawValue).inOrderOfAppearance.map { word in
      "\(failed.count { $0.rawValue == word }) \(word)"
    }
    return "'\(arm)': \(failed.count) of \(Wording.count(verdicts.count, "run")) did not pass: "
      + counts.joined(separator: ", ")
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
