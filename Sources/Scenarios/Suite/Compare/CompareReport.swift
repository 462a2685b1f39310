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
    /// The value at which a straight line between the two differences is zero.
    package let near: String
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
    correct()
  }

  /// Holm's procedure: the smallest probability is compared with the error over the number of all, and so on, until one
  /// fails.
  private mutating func correct() {
    let tested = differences.indices.filter { isTested(differences[$0]) }
      .sorted { (differences[$0].estimate.probability ?? 1) < (differences[$1].estimate.probability ?? 1) }
    for (rank, index) in tested.enumerated() {
      guard let probability = differences[index].estimate.probability,
        probability <= (1 - confidence) / Double(tested.count - rank)
      else { break }
      differences[index].isCorrected = true
    }
  }

  /// Whether chance is a question: of what is measured on this machine nothing follows.
  private func isTested(_ difference: Difference) -> Bool {
    difference.estimate.probability != nil && !points[difference.point].numbers[difference.number].isOfThisMachine
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
    var found: [Crossing] = []
    let example = points[first.point]
    for number in example.numbers where number.better != nil {
      for arm in example.arms.names where arm != example.arms.baseline {
        var last: (value: Double, text: String, mean: Double, sign: Int)?
        for place in line {
          guard let index = points[place.point].numbers.firstIndex(where: { $0.name == number.name }),
            let difference = difference(point: place.point, number: index, arm: arm), difference.estimate.sign != 0
          else { continue }
          let now = (place.value, place.text, difference.estimate.mean, difference.estimate.sign)
          if let last, last.sign != now.3 {
            let share = last.mean / (last.mean - now.2)
            let near = last.value + share * (place.value - last.value)
            found.append(
              Crossing(
                scenario: example.path, variable: variable, number: number.name, arm: arm,
                baseline: example.arms.baseline, from: last.text, to: place.text,
                near: Value(text: place.text).text(ofNumber: near), others: others))
          }
          last = now
        }
      }
    }
    return found
  }
}
