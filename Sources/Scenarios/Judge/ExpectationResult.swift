package import CallCore
package import ScenarioFormat

/// The result of one expectation in one run.
package struct ExpectationResult: Sendable {
  package enum Verdict: String, Sendable {
    case pass, fail
    /// It was not tested: an empty window, a trigger that never came, a metric without samples, a deadline after the
    /// end of the run.
    case vacuous
    /// Only the runs of all seeds decide it together.
    case shared
  }

  package var expectation: Expectation
  package var verdict: Verdict
  /// The virtual time of the decision.
  var time: Instant
  /// The expected course, as a sentence without a full stop.
  package var expected: String
  /// The actual course, likewise.
  package var actual: String
  /// A description of a near miss, for a failure that came close.
  var nearestMiss: String?
  /// The contribution of this run when the runs of all seeds are judged together: a statistic, or 1 for "was reached".
  package var measured: Double?
  /// For how long of its window the number of an arm could be measured; nil for any other.
  package var measuredTime: Interval?
  /// When the window of the number of an arm opened; nil for any other.
  package var opened: Instant?
  package var closed: Instant?
  /// The samples of the number of an arm that are compared one by one; empty for any other.
  package var samples: [Measurement.Sample] = []
  /// The course of the number of an arm; nil for any other.
  package var course: ThinnedSeries?
  /// The distance of a failure from the expectation; see ``Finding/miss``.
  var miss: Double?
  /// The states of the peers concerned, one line each. Set for failures, like the two properties below, and for tests
  /// that lacked an event that never came.
  var trail: [String] = []
  /// The faults active at the time, one line each.
  var faults: [String] = []
  /// Further explanations, one line each.
  var explanation: [String] = []
  /// The states of ``trail`` for the signature.
  var courses: [FindingSignature.Course] = []
  /// The part of the run that was judged.
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
  /// The invariant's name.
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
