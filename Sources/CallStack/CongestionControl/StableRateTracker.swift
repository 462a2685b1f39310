import CallCore

/// Tracks a rate that the path has carried for some time, below the changes of the target (libwebrtc
/// `LinkCapacityTracker`).
struct StableRateTracker: Sendable {
  private(set) var rate = DataRate.zero
  private var lastDelayEstimate: DataRate?
  private var lastUpdate: Instant?

  /// The time constant of increases in seconds.
  private static let timeConstant = 10.0

  mutating func setStart(_ start: DataRate) {
    if lastUpdate == nil { rate = start }
  }

  mutating func delayEstimate(_ estimate: DataRate, at now: Instant) {
    if lastDelayEstimate.map({ estimate < $0 }) ?? true { drop(to: estimate, at: now) }
    lastDelayEstimate = estimate
  }

  mutating func drop(to limit: DataRate, at now: Instant) {
    rate = min(rate, limit)
    lastUpdate = now
  }

  mutating func target(_ target: DataRate, acknowledged: DataRate?, at now: Instant) {
    guard let acknowledged else { return }
    let carried = min(acknowledged, target)
    if carried > rate {
      let weight = lastUpdate.map { ElementaryFunctions.exp(-(now - $0).seconds / Self.timeConstant) } ?? 0
      rate = DataRate(weight * rate.bits + (1 - weight) * carried.bits)
    }
    lastUpdate = now
  }
}
