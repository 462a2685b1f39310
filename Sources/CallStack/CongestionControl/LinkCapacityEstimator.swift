import CallCore

/// Estimates the capacity of the bottleneck from the throughput at the moments of over-use (libwebrtc
/// `LinkCapacityEstimator`).
struct LinkCapacityEstimator: Sendable {
  /// The estimate in kilobits per second.
  private var kilobits: Double?
  /// The variance of the estimate, divided by the estimate.
  private var variance = LinkCapacityEstimator.variances.lowerBound

  /// About 14 and 35 kbit/s at 500 kbit/s.
  private static let variances = 0.4...2.5
  private static let weight = 0.05

  var estimate: DataRate? { kilobits.map { DataRate($0 * 1_000) } }

  /// Returns whether a throughput is more than three standard deviations above the estimate.
  func isExceeded(by throughput: DataRate) -> Bool {
    guard let kilobits else { return false }
    return throughput.kilobits > kilobits + 3 * deviation
  }

  /// Returns whether a throughput is more than three standard deviations below the estimate.
  func isMissed(by throughput: DataRate) -> Bool {
    guard let kilobits else { return false }
    return throughput.kilobits < kilobits - 3 * deviation
  }

  private var deviation: Double { (variance * (kilobits ?? 0)).squareRoot() }

  mutating func reset() { kilobits = nil }

  /// Takes the throughput at an over-use.
  mutating func overused(at throughput: DataRate) {
    let sample = throughput.kilobits
    let estimate = kilobits.map { $0 + Self.weight * (sample - $0) } ?? sample
    kilobits = estimate
    let error = estimate - sample
    variance = (1 - Self.weight) * variance + Self.weight * error * error / max(estimate, 1)
    variance = min(max(variance, Self.variances.lowerBound), Self.variances.upperBound)
  }
}
