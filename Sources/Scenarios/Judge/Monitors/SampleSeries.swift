internal import CallCore

/// The samples of one number within a window, and their statistics.
struct SampleSeries {
  /// The value from which `rate` and `delta` count; the first sample when nil.
  var base: (value: Double, time: Instant)?
  private var values: [Double] = []
  private var firstTime = Instant.zero
  private var lastTime = Instant.zero
  /// What a counter has grown, over restarts of the counter.
  private var growth = 0.0

  var count: Int { values.count }

  mutating func add(_ value: Double, at time: Instant) {
    if let previous = values.last ?? base?.value {
      // A counter that fell has begun anew, as with a new connection: all of it is growth.
      growth += value >= previous ? value - previous : value
    }
    if values.isEmpty { firstTime = time }
    values.append(value)
    lastTime = time
  }

  /// Nil when there are not enough samples: one for most, two points in time for `rate`, two values for `delta`.
  func statistic(_ statistic: Expectation.Statistic) -> Double? {
    if statistic == .count { return Double(values.count) }
    guard let first = values.first, let last = values.last else { return nil }
    switch statistic {
    case .first: return first
    case .last: return last
    case .minimum: return values.min()
    case .maximum: return values.max()
    case .sum: return values.reduce(0, +)
    case .mean: return values.reduce(0, +) / Double(values.count)
    case .percentile(let percent): return Self.percentile(percent, of: values)
    case .delta:
      guard base != nil || values.count > 1 else { return nil }
      return last - (base?.value ?? first)
    case .rate:
      let elapsed = lastTime - (base?.time ?? firstTime)
      return elapsed > .zero ? growth / elapsed.seconds : nil
    case .count: return nil
    }
  }

  var range: ClosedRange<Double>? {
    guard let low = values.min(), let high = values.max() else { return nil }
    return low...high
  }

  /// Interpolated between the two nearest ranks, (n - 1) · p counted from 0, as most statistics packages do by default.
  static func percentile(_ percent: Int, of values: [Double]) -> Double? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    let rank = Double(sorted.count - 1) * Double(min(max(percent, 0), 100)) / 100
    let lower = Int(rank)
    let upper = min(lower + 1, sorted.count - 1)
    return sorted[lower] + (sorted[upper] - sorted[lower]) * (rank - Double(lower))
  }
}

extension Expectation.Statistic {
  /// What one run contributes when the statistic is taken across seeds: a number of its own where the statistic is one
  /// of a window as a whole, otherwise the mean of its samples.
  var withinRun: Expectation.Statistic {
    switch self {
    case .rate, .delta, .sum, .count: self
    default: .mean
    }
  }

  /// The statistic across the runs' contributions.
  var overRuns: Expectation.Statistic {
    switch self {
    case .rate, .delta, .sum, .count: .mean
    default: self
    }
  }
}
