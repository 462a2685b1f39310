package import CallCore

/// The rates that a sender may use.
package struct TargetRate: Hashable, Sendable, BitwiseCopyable {
  /// The rate for all streams, after the congestion window.
  package var target: DataRate
  /// The estimate before the congestion window.
  package var estimate: DataRate
  /// A rate that the path has carried for some time, at most the target. It changes less often.
  package var stable: DataRate
  /// The rate of the pacer: a multiple of the estimate.
  package var pacing: DataRate
  /// The rate up to which a pacer with an empty queue sends padding.
  package var padding: DataRate
  /// The share of the estimate that an encoder should cut by dropping frames, 0 to 1.
  package var frameDropRatio: Double
  /// The loss of the last report, 0 to 1.
  package var lossRatio: Double
  package var roundTrip: Interval
  /// The expected time between two decreases.
  package var bandwidthPeriod: Interval
}

extension TargetRate {
  /// The rates before a controller has started.
  static let initial = TargetRate(
    target: .zero, estimate: .zero, stable: .zero, pacing: .zero, padding: .zero, frameDropRatio: 0, lossRatio: 0,
    roundTrip: .zero, bandwidthPeriod: .seconds(3))
}
