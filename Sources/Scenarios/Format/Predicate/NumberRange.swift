import CallCore
import Vocabulary

/// The numbers from one to another, each end in or out; of whole numbers alone where it says so.
struct NumberRange: Equatable {
  private(set) var low = -Double.infinity
  private(set) var isLowIn = false
  private(set) var high = Double.infinity
  private(set) var isHighIn = false
  private(set) var isWhole = false

  /// Every number from `low` to `high`, both in.
  init(from low: Double = -.infinity, to high: Double = .infinity, isWhole: Bool = false) {
    (self.low, self.isLowIn) = (low, low.isFinite)
    (self.high, self.isHighIn) = (high, high.isFinite)
    self.isWhole = isWhole
  }

  /// How often something happens.
  static let count = NumberRange(from: 0, isWhole: true)
  static let share = NumberRange(from: 0, to: 1)

  var isEmpty: Bool { low > high || (low == high && !(isLowIn && isHighIn)) }

  /// The same numbers and those between them.
  var filled: NumberRange { NumberRange(from: low, to: high) }

  func contains(_ number: Double) -> Bool {
    (isLowIn ? number >= low : number > low) && (isHighIn ? number <= high : number < high)
      && (!isWhole || number == number.rounded())
  }

  /// Those of its numbers that meet every bound.
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

  /// `0 to 1`, `0 or more`; nil when any number is in it.
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
  /// The numbers that the value can be.
  var range: NumberRange {
    let member = name.split(separator: ".").last ?? ""
    switch type {
    case .count where counting == .net: return NumberRange(isWhole: true)
    case .count where member == "port": return NumberRange(from: 0, to: 65_535, isWhole: true)
    case .count: return .count
    case .byteSize, .rate, .duration: return NumberRange(from: 0)
    case .percentage: return .share
    case .real where name == HarnessEvents.meanOpinionScore.name: return NumberRange(from: 1, to: 5)
    case .real where member == "audioLevel": return NumberRange(from: 0, to: 1)
    case .real where member.hasPrefix("total"): return NumberRange(from: 0)
    case .real, .flag, .text, .peer, .choice: return NumberRange()
    }
  }
}

extension Expectation.Statistic {
  /// The numbers that the statistic of a value can be, where there is any.
  func range(of path: ValuePath) -> NumberRange {
    let range = path.range
    let grows = NumberRange(from: range.low >= 0 ? 0 : -.infinity)
    switch self {
    case .first, .last, .minimum, .maximum: return range
    case .mean, .percentile: return range.filled
    // Without a sample there is no verdict.
    case .count: return NumberRange(from: 1, isWhole: true)
    case .sum: return NumberRange(from: grows.low, isWhole: range.isWhole)
    case .rate: return grows
    case .delta:
      let width = range.high - range.low
      // What crosses the wire is counted from the start of the run on, and nothing begins it anew.
      return NumberRange(from: path.wire == nil ? -width : 0, to: width, isWhole: range.isWhole)
    }
  }
}
