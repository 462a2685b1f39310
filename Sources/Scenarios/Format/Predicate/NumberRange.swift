import CallCore
import Vocabulary

/// A range of numbers with open or closed ends, optionally of whole numbers only.
struct NumberRange: Equatable {
  private(set) var low = -Double.infinity
  private(set) var isLowIn = false
  private(set) var high = Double.infinity
  private(set) var isHighIn = false
  private(set) var isWhole = false

  /// Creates a range that includes both ends.
  init(from low: Double = -.infinity, to high: Double = .infinity, isWhole: Bool = false) {
    (self.low, self.isLowIn) = (low, low.isFinite)
    (self.high, self.isHighIn) = (high, high.isFinite)
    self.isWhole = isWhole
  }

  /// The range of a number of occurrences.
  static let count = NumberRange(from: 0, isWhole: true)
  static let share = NumberRange(from: 0, to: 1)

  var isEmpty: Bool { low > high || (low == high && !(isLowIn && isHighIn)) }

  /// The range without the restriction to whole numbers, with both ends closed.
  var filled: NumberRange { NumberRange(from: low, to: high) }

  /// The range of the difference between two numbers of this one, and of a mean of differences.
  var differences: NumberRange { NumberRange(from: low - high, to: high - low) }

  func contains(_ number: Double) -> Bool {
    (isLowIn ? number >= low : number > low) && (isHighIn ? number <= high : number < high)
      && (!isWhole || number == number.rounded())
  }

  /// Returns the part of the range that meets every bound.
  func meeting(_ bounds: [Expectation.Bound]) -> NumberRange {
    var range = self
    for bound in bounds {
      guard let number = bound.value.number else { continue }
      switch bound.comparison {
      case .less: range.end(at: number, isIn: false)
      case .lessOrEqual: range.end(at: number, isIn: true)
      case .greater: range.begin(at: number, isIn: false)
      case .greaterOrEqual: range.begin(at: number, isIn: true)
      case .equal:
        range.begin(at: number, isIn: true)
        range.end(at: number, isIn: true)
      case .notEqual: break
      }
    }
    return range
  }

  private mutating func begin(at number: Double, isIn: Bool) {
    let (number, isIn) = isWhole ? (isIn ? number.rounded(.up) : number.rounded(.down) + 1, true) : (number, isIn)
    guard number >= low else { return }
    isLowIn = number > low ? isIn : isLowIn && isIn
    low = number
  }

  private mutating func end(at number: Double, isIn: Bool) {
    let (number, isIn) = isWhole ? (isIn ? number.rounded(.down) : number.rounded(.up) - 1, true) : (number, isIn)
    guard number <= high else { return }
    isHighIn = number < high ? isIn : isHighIn && isIn
    high = number
  }

  /// Returns `0 to 1` or `0 or more`; nil for an unbounded range.
  func text(_ name: (Double) -> String) -> String? {
    switch (low.isFinite, high.isFinite) {
    case (true, true): "\(name(low)) to \(name(high))"
    case (true, false): "\(name(low)) or more"
    case (false, true): "\(name(high)) or less"
    case (false, false): nil
    }
  }
}

extension ValuePath {
  /// The possible numbers of the value.
  var range: NumberRange {
    let member = name.split(separator: ".").last ?? ""
    switch type {
    case .count where counting == .net: return NumberRange(isWhole: true)
    case .count where member == "port": return NumberRange(from: 0, to: 65_535, isWhole: true)
    case .count: return .count
    case .duration where name == HarnessEvents.lipSync.name: return NumberRange()
    case .byteSize, .rate, .duration: return NumberRange(from: 0)
    case .percentage: return .share
    case .real where name == HarnessEvents.meanOpinionScore.name: return NumberRange(from: 1, to: 5)
    case .real where member == "audioLevel": return NumberRange(from: 0, to: 1)
    case .real where member.hasPrefix("total"): return NumberRange(from: 0)
    case .real, .flag, .text, .peer, .peers, .choice: return NumberRange()
    }
  }
}

extension Expectation.Statistic {
  /// Returns the possible numbers of the statistic of a value, if the value has samples.
  func range(of path: ValuePath) -> NumberRange {
    let range = path.range
    let grows = NumberRange(from: range.low >= 0 ? 0 : -.infinity)
    switch self {
    case .first, .last, .minimum, .maximum: return range
    case .mean, .percentile: return range.filled
    // A metric without samples is not judged.
    case .count: return NumberRange(from: 1, isWhole: true)
    case .sum: return NumberRange(from: grows.low, isWhole: range.isWhole)
    case .rate: return grows
    case .delta:
      let width = range.high - range.low
      // Wire quantities are counted from the start of the run and are never reset.
      return NumberRange(from: path.wire == nil ? -width : 0, to: width, isWhole: range.isWhole)
    }
  }
}
