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
