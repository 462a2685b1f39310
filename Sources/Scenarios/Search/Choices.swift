internal import CallCore

/// The choices from which a run is drawn: recorded ones first, then random ones.
///
/// The same choices draw the same run, so a run can be stored, repeated and changed by its choices alone.
package struct Choices: ~Copyable {
  private let given: [UInt64]
  private var random: RandomStream
  /// The choices so far.
  package private(set) var made: [UInt64] = []

  package init(_ given: [UInt64] = [], thenRandom seed: UInt64) {
    self.given = given
    random = RandomSource(seed: seed).stream("choices")
  }

  /// Chooses a number below a bound. A recorded choice that is too large is reduced to the bound.
  package mutating func below(_ bound: Int) -> Int {
    let limit = UInt64(max(1, bound))
    let choice = made.count < given.count ? given[made.count] % limit : random.uniform(below: limit)
    made.append(choice)
    return Int(choice)
  }

  /// Chooses an element.
  ///
  /// - Precondition: there is one.
  package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  /// Chooses true with a probability in percent.
  package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  /// Chooses an index by weights; any index if all weights are zero.
  package mutating func index(weights: [Int]) -> Int {
    let sum = weights.reduce(0, +)
    guard sum > 0 else { return below(weights.count) }
    var rest = below(sum)
    for (index, weight) in weights.enumerated() {
      if rest < weight { return index }
      rest -= weight
    }
    return 0
  }
}
