/// How a run came out.
public enum Verdict: String, Sendable, CaseIterable {
  case pass
  /// An expectation failed.
  case fail
  /// An invariant was broken, or the run crashed.
  case broken
  /// Something was never put to the test: a trigger that never fired, an empty window, a metric without samples.
  case vacuous
  /// The harness itself failed.
  case inconclusive
  /// The wall-clock limit was reached.
  case timeout
  /// Two runs of the same seed differed.
  case nondeterministic
  /// This machine cannot make the run: nothing is known about what was to be tested.
  case skipped
}
