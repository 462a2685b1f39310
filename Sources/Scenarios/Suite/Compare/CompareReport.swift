internal import CallCore
internal import ScenarioFormat

/// Comparisons of one command, with what follows from all of them together.
package struct CompareReport: Sendable {
  /// A difference between an arm and the baseline.
  package struct Difference: Sendable {
    /// The index of the point in ``points``.
    package let point: Int
    /// The index of the number in the point's numbers.
    package let number: Int
    package let arm: String
    package let estimate: MeanEstimate
    /// Whether it stays after Holm's correction for the number of differences.
    package var isCorrected = false
  }

  /// Two values of a variable between which the order of two arms flips.
  package struct Crossing: Sendable {
    package let scenario: String
    package let variable: String
    package let number: String
    package let arm: String
    package let baseline: String
    package let from: String
    package let to: String
    /// The values at which the line through the mean differences at all points between is zero.
    package let near: [String]
    /// The other variables, which are the same.
    package let others: String
  }

  /// The compared points of all scenarios, in order.
  package let points: [ArmComparison]
  /// The differences of every arm from the baseline, in every number at every point where arms can be compared.
  package private(set) var differences: [Difference] = []
  private struct Place: Hashable { var point, number: Int, arm: String }
  private var places: [Place: Int] = [:]
  /// The confidence of every interval that is shown.
  package let confidence: Double

  /// The arms that another one beats, for each point.
  private var beaten: [Set<String>] = []
  /// Of each difference of which ``beaten`` takes account the point.
  private var judgedPoints: [Int] = []
  /// The number of those differences.
  package var duelCount: Int { judgedPoints.count }

  /// The numbers whose ranks the others are compared with, without their windows.
  let references: [String]

  /// Evaluates comparisons.
  package init(_ points: [ArmComparison], confidence: Double = 0.95, correlatingWith references: [String] = []) {
    self.points = points
    self.confidence = confidence
    self.references = references
    for (index, point) in points.enumerated() where point.isPaired {
      for number in point.numbers.indices {
        for arm in point.arms.names where arm != point.arms.baseline {
          let estimate = point.difference(
            point.numbers[number], arm, minus: point.arms.baseline, confidence: confidence)
          places[Place(point: index, number: number, arm: arm)] = differences.count
          differences.append(Difference(point: index, number: number, arm: arm, estimate: estimate))
        }
      }
    }
    let tested = differences.indices.filter { isTested(differences[$0]) }
    for index in surviving(tested.map { differences[$0].estimate }) { differences[tested[index]].isCorrected = true }
    judgeArms()
  }

  /// Holm's procedure: the smallest probability is compared with the error over the number of all, and so on, until one
  /// fails.
  ///
  /// - Returns: the indices of the estimates that stay.
  private func surviving(_ estimates: [MeanEstimate]) -> [Int] {
    let sorted = estimates.indices.sorted { (estimates[$0].probability ?? 1) < (estimates[$1].probability ?? 1) }
    return sorted.enumerated().prefix { rank, index in
      (estimates[index].probability ?? 1) <= (1 - confidence) / Double(estimates.count - rank)
    }.map(\.element)
  }

  /// Whether chance is a question: of what is measured on this machine nothing follows, and in equal runs there is none.
  private func isTested(_ difference: Difference) -> Bool {
    let point = points[difference.point]
    return difference.estimate.probability != nil && !point.numbers[difference.number].isOfThisMachine
      && !point.areEqual(difference.arm, point.arms.baseline)
  }

  // MARK: Arms that are not beaten

  /// The difference between two complete arms in a number with a direction.
  private struct Duel {
    let point: Int
    let arms: (first: String, second: String)
    /// Of the first arm minus the second.
    let estimate: MeanEstimate
    let better: Expectation.Delta.Better
  }

  /// Finds the arms that another one beats: it is better in some number with a confidence that is corrected for all
  /// pairs of arms and numbers at all points by Holm's procedure, and its mean is worse in none.
  private mutating func judgeArms() {
    let duels = points.indices.filter { points[$0].isPaired }.flatMap(duels)
    let tested = duels.indices.filter { duels[$0].estimate.probability != nil }
    let sure = Set(surviving(tested.map { duels[$0].estimate }).map { tested[$0] })
    judgedPoints = tested.map { duels[$0].point }
    beaten = points.indices.map { point in
      let own = duels.indices.filter { duels[$0].point == point }
      let pairs = Dictionary(grouping: own) { [duels[$0].arms.first, duels[$0].arms.second] }
      return Set(
        pairs.compactMap { arms, indices in
          let gains = indices.map { duels[$0].estimate.mean * (duels[$0].better == .higher ? 1 : -1) }
          guard indices.contains(where: sure.contains) else { return nil }
          if gains.allSatisfy({ $0 >= 0 }) { return arms[1] }
          return gains.allSatisfy { $0 <= 0 } ? arms[0] : nil
        })
    }
  }

  private func duels(at index: Int) -> [Duel] {
    let point = points[index]
    let arms = point.completeArms
    return point.numbers.filter(\.isJudged).flatMap { number in
      arms.indices.flatMap { second in
        arms[..<second].filter { !point.areEqual($0, arms[second]) }.map { first in
          Duel(
            point: index, arms: (first, arms[second]),
            estimate: point.difference(number, first, minus: arms[second], confidence: confidence),
            better: number.better ?? .higher)
        }
      }
    }
  }

  /// Returns the complete arms of a point that no other beats. Empty where nothing can be compared: without pairs, with
  /// fewer than two complete arms, where no difference has a probability, and where nothing but costs is measured.
  package func notBeaten(at index: Int) -> [String] {
    guard hasScores(at: index), judgedPoints.contains(index) else { return [] }
    return points[index].completeArms.filter { !beaten[index].contains($0) }
  }

  /// Whether arms can gain or lose something at a point.
  func hasScores(at index: Int) -> Bool {
    let point = points[index]
    return point.isPaired && point.numbers.contains { $0.isJudged && !$0.isCost && $0.hasSamples }
  }

  /// The number of differences that have a probability.
  package var testedCount: Int { differences.count(where: isTested) }

  /// Returns the difference of an arm from the baseline.
  package func difference(point: Int, number: Int, arm: String) -> Difference? {
    places[Place(point: point, number: number, arm: arm)].map { differences[$0] }
  }

  /// The places where the order of an arm and the baseline flips, by intervals that do not contain zero.
  package var crossings: [Crossing] {
    Self.scenarios(of: points).flatMap { indices in
      let variables = points[indices[0]].assignments.map(\.variable)
      return variables.flatMap { crossings(along: $0, indices) }
    }
  }

  /// The indices of the points of each scenario.
  package static func scenarios(of points: [ArmComparison]) -> [[Int]] {
    var groups: [[Int]] = []
    for index in points.indices {
      if let last = groups.last, points[last[0]].path == points[index].path {
        groups[groups.count - 1].append(index)
      } else {
        groups.append([index])
      }
    }
    return groups
  }

  private func crossings(along variable: String, _ indices: [Int]) -> [Crossing] {
    var lines: [String: [(value: Double, text: String, point: Int)]] = [:]
    var order: [String] = []
    for index in indices {
      guard let own = points[index].assignments.first(where: { $0.variable == variable }),
        let value = Value(text: own.value).number
      else { return [] }
      let others = points[index].assignments.filter { $0.variable != variable }
        .map { "\($0.variable)=\($0.value)" }.joined(separator: " ")
      if lines[others] == nil { order.append(others) }
      lines[others, default: []].append((value, own.value, index))
    }
    return order.flatMap { others in
      crossings(on: (lines[others] ?? []).sorted { $0.value < $1.value }, variable, others)
    }
  }

  private func crossings(
    on line: [(value: Double, text: String, point: Int)], _ variable: String, _ others: String
  ) -> [Crossing] {
    guard let first = line.first else { return [] }
    let example = points[first.point]
    // A number with a condition is not at every point.
    let names = line.flatMap { points[$0.point].numbers.filter { $0.better != nil }.map(\.name) }.inOrderOfAppearance
    return names.flatMap { name in
      example.arms.names.filter { $0 != example.arms.baseline }.flatMap { arm in
        let places: [Sample] = line.compactMap { place in
          guard let index = points[place.point].numbers.firstIndex(where: { $0.name == name }),
            let estimate = difference(point: place.point, number: index, arm: arm)?.estimate, estimate.count > 0
          else { return nil }
          return (place.value, place.text, estimate.mean, estimate.sign)
        }
        return Self.flips(in: places).map { from, to, zeros in
          Crossing(
            scenario: example.path, variable: variable, number: name, arm: arm,
            baseline: example.arms.baseline, from: from.text, to: to.text,
            near: zeros.map { Value(text: to.text).text(ofNumber: $0) }.inOrderOfAppearance, others: others)
        }
      }
    }
  }

  /// A value of a variable with the mean difference there, and its sign if that is certain.
  private typealias Sample = (value: Double, text: String, mean: Double, sign: Int)

  /// Returns the neighbours among the samples of a certain sign that have opposite ones, with the values at which the
  /// line through all samples between them is zero.
  private static func flips(in samples: [Sample]) -> [(from: Sample, to: Sample, zeros: [Double])] {
    let certain = samples.indices.filter { samples[$0].sign != 0 }
    return zip(certain, certain.dropFirst()).filter { samples[$0].sign != samples[$1].sign }.map { first, last in
      let part = samples[first...last]
      let zeros = zip(part, part.dropFirst()).compactMap { one, next -> Double? in
        if next.mean == 0 { return next.value }
        guard one.mean * next.mean < 0 else { return nil }
        return one.value + one.mean / (one.mean - next.mean) * (next.value - one.value)
      }
      return (samples[first], samples[last], zeros)
    }
  }
}
