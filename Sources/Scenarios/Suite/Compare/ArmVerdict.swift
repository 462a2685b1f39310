internal import ScenarioFormat

/// What can be said of the arms at one point, and of which it cannot.
extension ArmComparison {
  /// Runs of an arm in which a number has no value.
  package struct Gap: Equatable, Sendable {
    package let number: String
    package let arm: String
    /// The seeds of those runs, sorted.
    package let seeds: [UInt64]
    /// Whether no run of the arm has a value.
    package let isWhole: Bool

    /// The gap in words.
    package var text: String {
      let place = isWhole ? "in any run" : "with seed\(seeds.count == 1 ? "" : "s") \(SuiteHeader.ranges(seeds))"
      return "'\(arm)' has no value of \(number) \(place)"
    }
  }

  /// The gaps of numbers that some run has. Those of scores are told with their reasons.
  package var gaps: [Gap] {
    numbers.filter { $0.hasSamples && $0.isMetric }.flatMap { number in
      arms.names.compactMap { arm in
        let missing = Set(runs.filter { $0.arm == arm }.map(\.seed)).subtracting((number.samples[arm] ?? [:]).keys)
        guard !missing.isEmpty else { return nil }
        return Gap(
          number: number.name, arm: arm, seeds: missing.sorted(), isWhole: number.values(of: arm).isEmpty)
      }
    }
  }

  /// The arms that have a value of every number with a direction in every run that any arm has one of. The others
  /// might look better than they are, because their worst runs are missing.
  package var completeArms: [String] {
    let judged = numbers.filter { $0.better != nil }
    return arms.names.filter { arm in
      judged.allSatisfy { number in
        let seeds = number.samples.values.reduce(into: Set<UInt64>()) { $0.formUnion($1.keys) }
        return seeds.isSubset(of: (number.samples[arm] ?? [:]).keys)
      }
    }
  }

  /// Returns the complete arms that no other beats: for each of the others, one that is better in some number and worse
  /// in none, by intervals that do not contain zero. Empty where nothing can be compared.
  package func undominated(confidence: Double) -> [String] {
    guard isPaired else { return [] }
    let judged = numbers.filter { $0.better != nil }
    let complete = completeArms
    return complete.filter { arm in
      !complete.contains { other in
        let signs = judged.map { number in
          difference(number, other, minus: arm, confidence: confidence).sign * (number.better == .higher ? 1 : -1)
        }
        return other != arm && signs.contains(1) && !signs.contains(-1)
      }
    }
  }
}
