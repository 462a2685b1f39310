internal import CallCore

/// A Kalman filter for the part of a frame's delay that its size explains: the time the bytes take on the slowest link,
/// and a queuing delay. The model and the figures are those of libwebrtc.
struct FrameDelayFilter: Sendable {
  /// The time per byte in milliseconds.
  private(set) var slope = 1 / (512e3 / 8)
  /// The queuing delay in milliseconds.
  private var queuing = 0.0
  private var covariance = (ss: 1e-4, sq: 0.0, qs: 0.0, qq: 1e2)
  private static let processNoise = (slope: 2.5e-10, queuing: 1e-10)
  /// The least time per byte.
  private static let minimumSlope = 1e-6

  /// Returns the expected change of delay in milliseconds for a change of size in bytes.
  func expected(bytes: Double) -> Double { slope * bytes + queuing }

  /// Takes a measured change.
  ///
  /// - Parameter noise: the variance of the changes that size does not explain.
  mutating func update(delay: Double, bytes: Double, maximumSize: Double, noise: Double) {
    guard maximumSize >= 1, noise > 0 else { return }
    covariance.ss += Self.processNoise.slope
    covariance.qq += Self.processNoise.queuing
    let innovation = delay - expected(bytes: bytes)
    let observed = (s: covariance.ss * bytes + covariance.sq, q: covariance.qs * bytes + covariance.qq)
    // A frame of about the same size as the one before says little about the slope.
    let weight = 300 * ElementaryFunctions.exp(-bytes.magnitude / maximumSize) + 1
    let variance = bytes * observed.s + observed.q + max(1, weight * noise.squareRoot())
    guard variance.magnitude >= 1e-9 else { return }
    let gain = (s: observed.s / variance, q: observed.q / variance)
    slope = max(Self.minimumSlope, slope + gain.s * innovation)
    queuing += gain.q * innovation
    let old = covariance
    covariance.ss = (1 - gain.s * bytes) * old.ss - gain.s * old.qs
    covariance.sq = (1 - gain.s * bytes) * old.sq - gain.s * old.qq
    covariance.qs = old.qs * (1 - gain.q) - gain.q * bytes * old.ss
    covariance.qq = old.qq * (1 - gain.q) - gain.q * bytes * old.sq
  }
}
