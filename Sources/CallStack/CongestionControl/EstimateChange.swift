package import CallCore

/// A change of the estimate, for a trace.
package struct EstimateChange: Hashable, Sendable, BitwiseCopyable {
  /// The rule that changed the estimate, or that limits it now.
  package enum Reason: String, Hashable, Sendable, CaseIterable, BitwiseCopyable {
    /// A configured start rate, or a minimum or maximum.
    case configured
    case delayOveruse, delayIncrease
    case probe
    /// The likelihood of the observed losses lowers or raises the estimate (loss-based estimator v2).
    case lossBased, lossRecovery
    /// The loss in reports lowers or raises the estimate, without feedback about packets (loss-based control v0).
    case reportedLoss, reportedLossRecovery
    /// The limit of a receiver's REMB.
    case remb
    case roundTripBackoff
    /// The congestion window reduces the target, and not the estimate.
    case congestionWindow
  }

  package let reason: Reason
  package let before: DataRate
  package let after: DataRate
  package let time: Instant
}

extension FIFO<EstimateChange> {
  /// The number of changes that wait to be taken; further ones replace the oldest.
  private static var limit: Int { 64 }

  mutating func note(
    _ reason: EstimateChange.Reason, from before: DataRate, to after: DataRate, at now: Instant
  ) {
    if count == Self.limit { _ = popFirst() }
    append(EstimateChange(reason: reason, before: before, after: after, time: now))
  }
}
