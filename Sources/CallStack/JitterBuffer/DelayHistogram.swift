/// A histogram of delays that forgets, with its quantile kept up to date in constant time.
struct DelayHistogram: Sendable {
  private var weights: [Double]
  private var total = 0.0
  /// Weight in the buckets above ``bucket``.
  private var above = 0.0
  /// The weight of the next sample: growing it is the same as shrinking all others.
  private var nextWeight = 1.0
  private let growth: Double
  private let tail: Double
  /// The lowest bucket such that at most the tail lies above it.
  private(set) var bucket = 0

  /// - Parameters:
  ///   - quantile: the share of samples at or below ``bucket``.
  ///   - forgetting: what one sample leaves of the weight of those before it, below 1.
  init(bucketCount: Int, quantile: Double, forgetting: Double) {
    weights = Array(repeating: 0, count: max(1, bucketCount))
    tail = 1 - quantile
    growth = 1 / min(max(forgetting, 0.5), 1)
  }

  mutating func add(_ index: Int) {
    let index = min(max(index, 0), weights.count - 1)
    weights[index] += nextWeight
    total += nextWeight
    if index > bucket { above += nextWeight }
    nextWeight *= growth
    settle()
    if nextWeight > 1e100 { rescale() }
  }

  private mutating func settle() {
    while bucket < weights.count - 1, above > tail * total {
      bucket += 1
      above -= weights[bucket]
    }
    while bucket > 0, above + weights[bucket] <= tail * total {
      above += weights[bucket]
      bucket -= 1
    }
  }

  /// Brings the weights back into range, and the sums with them, free of the rounding they gathered.
  private mutating func rescale() {
    total = 0
    above = 0
    for index in weights.indices {
      weights[index] /= nextWeight
      total += weights[index]
      if index > bucket { above += weights[index] }
    }
    nextWeight = 1
  }
}
