public import CallCore

/// A run's number for an expectation that is a metric, or that the runs of all seeds decide together.
public struct Measurement: Hashable, Sendable {
  /// The expectation's id.
  public var id: String
  /// The expectation in words.
  public var expected: String
  /// A statistic in base units (s, bit/s), or whether the expectation held: 1 or 0. Nil when there was nothing to
  /// measure.
  public var measured: Double?
  /// For how long of its window the number of an arm could be measured; nil for any other.
  public var time: Interval?
  /// When the window of the number of an arm opened; nil for any other.
  public var opened: Instant?
  /// When it closed.
  public var closed: Instant?
  /// The course of the number of an arm over the run, of a counter its growth per second; nil for any other.
  public var course: ThinnedSeries?

  /// The samples of the number of an arm that are compared one by one; empty for any other.
  package var samples: [Sample] = []

  /// A value that was sampled.
  package struct Sample: Hashable, Sendable {
    package var time: Instant
    package var value: Double

    package init(time: Instant, value: Double) {
      self.time = time
      self.value = value
    }
  }

  /// Makes a measurement.
  public init(
    id: String, expected: String, measured: Double?, time: Interval? = nil, opened: Instant? = nil,
    closed: Instant? = nil, course: ThinnedSeries? = nil
  ) {
    self.id = id
    self.expected = expected
    self.measured = measured
    self.time = time
    self.opened = opened
    self.closed = closed
    self.course = course
  }
}
