import CallCore

/// The distribution of delays up to 2 s, with decreasing weight of old delays (libwebrtc's `Histogram`).
///
/// Probabilities are integers with 30 fractional bits, so that the probability of an old delay reaches exactly zero.
struct DelayHistogram: Sendable {
  static let bucketWidth = Interval.milliseconds(20)
  static let bucketCount = 100
  static let certain: Int64 = 1 << 30

  private(set) var probabilities = [Int64](repeating: 0, count: bucketCount)
  /// The highest bucket used so far.
  private(set) var highest = 0
  private var count: Int64 = 0
  /// The factor by which a new delay reduces the weight of earlier ones, with 15 fractional bits. It rises from zero to
  /// the limit, so that the first seconds are learned quickly.
  private var factor: Int64 = 0
  private let limit: Int64

  /// - Parameter forgetting: the limit of the factor by which a new delay reduces the weight of earlier ones, below 1.
  init(forgetting: Double) { limit = Int64(forgetting * 32_768) }

  /// Adds a delay. Delays above 2 s are ignored.
  mutating func add(_ delay: Interval) {
    let bucket = Int(max(.zero, delay).nanoseconds / Self.bucketWidth.nanoseconds)
    guard bucket < Self.bucketCount else { return }
    highest = max(highest, bucket)
    var kept: Int64 = 0
    for index in 0...highest {
      probabilities[index] = (probabilities[index] * factor) >> 15
      kept += probabilities[index]
    }
    probabilities[bucket] += Self.certain - kept
    count += 1
    // A new delay weighs twice its share of all delays until the limit is reached.
    factor = max(0, min(limit, 32_768 - 2 * 32_768 / (count + 1)))
  }

  /// Returns the upper end of the first bucket at or below which at least this share of delays lies.
  func quantile(_ share: Double) -> Interval {
    let tail = Self.certain - Int64(share * Double(Self.certain))
    var above = Self.certain
    for index in 0...highest {
      above -= probabilities[index]
      if above <= tail { return Self.end(of: index) }
    }
    return Self.end(of: highest)
  }

  static func end(of bucket: Int) -> Interval { bucketWidth * Int64(bucket + 1) }
}
