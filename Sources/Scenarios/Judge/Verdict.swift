/// The verdict on a run.
public enum Verdict: String, Sendable, CaseIterable {
  case pass
  /// An expectation failed.
  case fail
  /// An invariant was broken, or the run crashed.
  case broken
  /// Something was not tested: a trigger that never fired, an empty window, a metric without samples.
  case vacuous
  /// The harness itself failed.
  case inconclusive
  /// The wall-clock limit was reached.
  case timeout
  /// Two runs of the same seed differed.
  case nondeterministic
  /// This machine cannot make the run, so nothing was tested.
  case skipped
}

extension Verdict {
  /// The verdict of one run, or of several that are judged together. A harness failure precedes all else, because such a
  /// run judged nothing; then come invariants, expectations, vacuity. For several verdicts ``ExitStatus/order`` decides.
  package init(of findings: [Finding]) {
    let kinds = Set(findings.map(\.kind))
    if kinds.contains(.harness) {
      self = .inconclusive
    } else if kinds.contains(.invariant) || kinds.contains(.crash) {
      self = .broken
    } else if kinds.contains(.expectation) {
      self = .fail
    } else {
      self = kinds.contains(.vacuous) ? .vacuous : .pass
    }
  }
}
