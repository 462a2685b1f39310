package import CallCore
package import ScenarioFormat

/// What became of one expectation in one run.
package struct ExpectationResult: Sendable {
  package enum Verdict: String, Sendable {
    case pass, fail
    /// It was never put to the test: an empty window, a trigger that never came, a metric without samples, a deadline
    /// after the end of the run.
    case vacuous
    /// Only the runs of all seeds together decide it.
    case shared
  }

  package var expectation: Expectation
  package var verdict: Verdict
  /// When it was decided, in virtual time.
  var time: Instant
  /// What should have been, as a sentence without a full stop.
  package var expected: String
  /// What was, likewise.
  package var actual: String
  /// How close it came, for a failure that came close.
  var nearestMiss: String?
  /// What this run contributes when the runs of all seeds are judged together: a statistic, or 1 for "was reached".
  package var measured: Double?
  /// How far a failure is from what was expected; see ``Finding/miss``.
  var miss: Double?
  /// The states of the peers concerned, a line each. Of failures, like the two below, and of what was not put to the test
  /// for want of something that never came.
  var trail: [String] = []
  /// The faults active at the time, a line each.
  var faults: [String] = []
  /// What explains it further, a line each.
  var explanation: [String] = []
  /// The same apart from its words.
  var courses: [FindingSignature.Course] = []
  /// The part of the run that it is about.
  var window: ClosedRange<Instant>?

  package init(
    expectation: Expectation, verdict: Verdict, time: Instant, expected: String, actual: String,
    nearestMiss: String? = nil, measured: Double? = nil, miss: Double? = nil
  ) {
    self.expectation = expectation
    self.verdict = verdict
    self.time = time
    self.expected = expected
    self.actual = actual
    self.nearestMiss = nearestMiss
    self.measured = measured
    self.miss = miss
  }
}

/// A broken invariant.
package struct Violation: Sendable, Hashable {
  /// An invariant's name.
  var title: String
  var time: Instant
  var expected: String
  var actual: String
  var trail: [String] = []
  var faults: [String] = []
  var explanation: [String] = []
  var signature: FindingSignature

  private init(_ title: String, at time: Instant, expected: String, actual: String) {
    self.title = title
    self.time = time
    self.expected = expected
    self.actual = actual
    signature = FindingSignature(title)
  }

  init(_ invariant: Invariant, at time: Instant, actual: String) {
    self.init(invariant.rawValue, at: time, expected: invariant.summary, actual: actual)
  }

  init(_ invariant: FixedInvariant, at time: Instant, actual: String) {
    self.init(invariant.rawValue, at: time, expected: invariant.summary, actual: actual)
  }
}
