/// The number that one run has for an expectation: of a metric, or for what the runs of all seeds decide together.
public struct Measurement: Hashable, Sendable {
  /// The expectation's id.
  public var id: String
  public var expected: String
  /// A statistic in base units (s, bit/s), or whether it held: 1 or 0. Nil when there was nothing to measure.
  public var measured: Double?

  public init(id: String, expected: String, measured: Double?) {
    self.id = id
    self.expected = expected
    self.measured = measured
  }
}
