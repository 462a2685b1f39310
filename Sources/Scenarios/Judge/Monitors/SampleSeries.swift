internal import CallCore
package import ScenarioFormat
internal import Vocabulary

/// The samples of one number within a window, and their statistics.
struct SampleSeries {
  /// The value from which `rate` and `delta` count; the first sample when nil.
  var base: (value: Double, time: Instant)?
  /// The value at the opening of the window, if it was read there and not sampled.
  var opening: Double?
  /// The value at the closing of the window, likewise. It is not a sample, because it does not come by the clock.
  var closing: (value: Double, time: Instant)?
  /// The kind of counter, whose change is its growth; nil for any other number.
  var counting: ValueDeclaration.Counting?
  /// The values that came within the window, in order of time.
  private(set) var samples: [Measurement.Sample]
  /// The indices in the values at which a counter started anew.
  private var beginnings: [Int] = []

  init(_ samples: [Measurement.Sample] = []) { self.samples = samples }

  private var values: [Double] { samples.map(\.value) }
  var count: Int { samples.count }
  var last: Double? { samples.last?.value }
  /// Whether there are no values.
  var isEmpty: Bool { samples.isEmpty && closing == nil }

  mutating func add(_ value: Double, at time: Instant) { samples.append(.init(time: time, value: value)) }

  /// Notes that the following values are of a counter that starts at zero.
  mutating func beginAnew() { beginnings.append(samples.count) }

  /// The growth of a counter, over its restarts.
  private var growth: Double {
    let all = [base?.value].compactMap(\.self) + values + [closing?.value].compactMap(\.self)
    let offset = base == nil ? 0 : 1
    var growth = 0.0
    for index in all.indices.dropFirst() {
      let (before, value) = (all[index - 1], all[index])
      growth += hasBegunAnew(value, before, index - offset) ? value : value - before
    }
    return growth
  }

  /// Returns whether a counter started anew. A decrease also means a restart, as for the counter of another source: all
  /// of the new value is growth.
  private func hasBegunAnew(_ value: Double, _ before: Double, _ index: Int) -> Bool {
    switch counting {
    case nil: false
    case .net: beginnings.contains(index)
    case .upward, .ofSelectedPair: value < before || beginnings.contains(index)
    }
  }

  /// Returns nil when there are not enough samples: one for most, two points in time for `rate`, two values for
  /// `delta`. For `first`, `last`, `rate` and `delta`, a value read at a border of the window counts as one.
  func statistic(_ statistic: Expectation.Statistic) -> Double? {
    let values = values
    switch statistic {
    case .count: return Double(values.count)
    case .first: return opening ?? values.first ?? closing?.value
    case .last: return closing?.value ?? values.last
    case .minimum: return values.min()
    case .maximum: return values.max()
    case .sum: return values.isEmpty ? nil : values.reduce(0, +)
    case .mean: return values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
    case .percentile(let percent): return Self.percentile(percent, of: values)
    case .delta:
      guard let start = base?.value ?? values.first, let end = closing?.value ?? values.last else { return nil }
      guard base != nil || closing != nil || values.count > 1 else { return nil }
      return counting == nil ? end - start : growth
    case .rate:
      guard let start = base?.time ?? samples.first?.time else { return nil }
      let elapsed = (closing?.time ?? samples.last?.time ?? start) - start
      return elapsed > .zero ? growth / elapsed.seconds : nil
    }
  }

  var range: ClosedRange<Double>? {
    guard let low = values.min(), let high = values.max() else { return nil }
    return low...high
  }

  /// Interpolates between the two nearest ranks, (n - 1) · p counted from 0, as most statistics packages do by default.
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
  /// Returns the statistic of samples; nil where there are too few.
  package func result(of samples: [Measurement.Sample]) -> Double? {
    SampleSeries(samples).statistic(self)
  }

  /// Whether it is one of single samples, of which some may be left out.
  var isOfSamples: Bool { isAmongSamples || [.first, .last].contains(self) }

  /// Whether it always lies between the smallest sample and the largest. `first` and `last` may be read at a border of
  /// the window, where there is no sample.
  var isAmongSamples: Bool {
    switch self {
    case .minimum, .maximum, .mean, .percentile: true
    case .first, .last, .sum, .count, .rate, .delta: false
    }
  }

  /// Returns the statistic over runs, from its value in each; the order of the runs does not matter.
  ///
  /// - Returns: also its name; nil without runs.
  func overRuns(_ numbers: [Double]) -> (name: String, number: Double)? {
    // A sum of floating-point numbers depends on their order.
    let sorted = numbers.sorted()
    guard let low = sorted.first, let high = sorted.last else { return nil }
    return switch self {
    case .minimum: ("smallest", low)
    case .maximum: ("largest", high)
    default: ("mean", sorted.reduce(0, +) / Double(sorted.count))
    }
  }
}
