internal import CallCore
internal import ScenarioFormat

/// How far two rankings of the same things agree.
package enum RankCorrelation {
  /// Returns Spearman's coefficient: the correlation of the ranks, equal values with their mean rank. Nil if one side
  /// has a single rank.
  package static func spearman(_ pairs: [(Double, Double)]) -> Double? {
    let (x, y) = (ranks(pairs.map(\.0)), ranks(pairs.map(\.1)))
    let mean = Double(pairs.count + 1) / 2
    var (product, squareX, squareY) = (0.0, 0.0, 0.0)
    for (a, b) in zip(x, y) {
      product += (a - mean) * (b - mean)
      squareX += (a - mean) * (a - mean)
      squareY += (b - mean) * (b - mean)
    }
    return squareX > 0 && squareY > 0 ? product / (squareX * squareY).squareRoot() : nil
  }

  /// Returns Kendall's tau-b: pairs in the same order less those in the other, over the pairs that are no ties.
  package static func kendall(_ pairs: [(Double, Double)]) -> Double? {
    var (balance, differingX, differingY) = (0, 0, 0)
    for (index, one) in pairs.enumerated() {
      for other in pairs[..<index] {
        let (x, y) = (sign(one.0 - other.0), sign(one.1 - other.1))
        balance += x * y
        differingX += abs(x)
        differingY += abs(y)
      }
    }
    guard differingX > 0, differingY > 0 else { return nil }
    return Double(balance) / (Double(differingX) * Double(differingY)).squareRoot()
  }

  private static func sign(_ number: Double) -> Int { number > 0 ? 1 : number < 0 ? -1 : 0 }

  private static func ranks(_ values: [Double]) -> [Double] {
    let order = values.indices.sorted { values[$0] < values[$1] }
    var ranks = Array(repeating: 0.0, count: values.count)
    var start = 0
    while start < order.count {
      var end = start + 1
      while end < order.count, values[order[end]] == values[order[start]] { end += 1 }
      for index in order[start..<end] { ranks[index] = Double(start + end + 1) / 2 }
      start = end
    }
    return ranks
  }
}

extension CompareReport {
  /// How far a number ranks the arms at all points as the reference does.
  package struct Correlation: Sendable {
    package let reference: String
    package let number: String
    /// The number of arms at points that have both numbers.
    package let count: Int
    package let spearman: Double?
    package let kendall: Double?
  }

  /// The fewest arms at points of which a rank correlation says anything.
  private static let leastCount = 5

  /// Why there is no correlation with a reference, in words.
  package var uncorrelated: [String] {
    references.filter { correlations(with: $0).isEmpty }.map { reference in
      "no rank correlation with \(reference): fewer than \(Self.leastCount) arms at points have it and another number "
        + "with a direction"
    }
  }

  /// The names of all numbers, without their windows.
  package var titles: [String] { points.flatMap(\.numbers).map(\.title).inOrderOfAppearance }

  /// Returns the rank correlation of every number that has a direction with the reference: over the means of each arm at
  /// each point, of the runs that have both. A number that a point has of several windows has a row for each.
  package func correlations(with reference: String) -> [Correlation] {
    let windowed = windowedTitles
    let label = { (number: ArmComparison.Number) in windowed.contains(number.title) ? number.name : number.title }
    let numbers = points.flatMap(\.numbers)
    let references = numbers.filter { $0.title == reference }.map(label).inOrderOfAppearance
    let others = numbers.filter { $0.isScore && $0.title != reference }.map(label).inOrderOfAppearance
    return references.flatMap { reference in
      others.compactMap { other in
        let pairs = points.flatMap { point in
          point.arms.names.compactMap { arm in
            means(
              of: [reference, other].map { name in point.numbers.first { label($0) == name }?.samples[arm] ?? [:] })
          }
        }
        guard pairs.count >= Self.leastCount else { return nil }
        return Correlation(
          reference: reference, number: other, count: pairs.count, spearman: RankCorrelation.spearman(pairs),
          kendall: RankCorrelation.kendall(pairs))
      }
    }
  }

  /// Returns the correlations with a reference, in groups of one window of it.
  func correlationTables(with reference: String) -> [[Correlation]] {
    let all = correlations(with: reference)
    return all.map(\.reference).inOrderOfAppearance.map { name in all.filter { $0.reference == name } }
  }

  /// The names without windows that some point has several numbers of.
  private var windowedTitles: Set<String> {
    Set(
      points.flatMap { point in
        Dictionary(grouping: point.numbers, by: \.title).filter { $0.value.count > 1 }.map(\.key)
      })
  }

  private func means(of samples: [[UInt64: Double]]) -> (Double, Double)? {
    let seeds = samples[0].keys.filter { samples[1][$0] != nil }.sorted()
    guard !seeds.isEmpty else { return nil }
    let sums = samples.map { samples in seeds.reduce(0.0) { $0 + samples[$1, default: 0] } }
    return (sums[0] / Double(seeds.count), sums[1] / Double(seeds.count))
  }
}
