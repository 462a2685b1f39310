import CallCore
import Vocabulary

extension PredicateParser {
  /// Evaluates an `if:` guard in the cell being decoded, where names are matrix variables; nil after reporting.
  static func guardValue(_ node: YAMLNode, _ reading: inout Reading) -> Bool? {
    let variables = reading.variables.map { ($0.name, Value($0.value)) }
    return parse(node, &reading, variables: variables)?.constantValue
  }

  /// Returns whether a guard holds in some arms and not in others, at the point of the matrix that is being decoded.
  static func dependsOnArm(_ node: YAMLNode, _ reading: Reading) -> Bool {
    guard let own = reading.variables.firstIndex(where: { $0.name == Scenario.Arms.variable }) else { return false }
    let values = reading.arms.map { arm in
      var copy = reading
      copy.variables[own].value.text = arm
      return guardValue(node, &copy)
    }
    return Set(values).count > 1
  }

  /// Compares two constants of a guard; nil when they are not comparable.
  static func evaluate(_ left: Value, _ comparison: Comparison, _ right: Value) -> Bool? {
    if case .text(let a) = left, case .text(let b) = right {
      return switch comparison {
      case .equal: a == b
      case .notEqual: a != b
      default: nil
      }
    }
    guard left.family == right.family, let a = left.number, let b = right.number else { return nil }
    return switch comparison {
    case .equal: a == b
    case .notEqual: a != b
    case .less: a < b
    case .lessOrEqual: a <= b
    case .greater: a > b
    case .greaterOrEqual: a >= b
    }
  }
}

extension Predicate {
  /// The truth value of a predicate without watched values.
  var constantValue: Bool? {
    switch kind {
    case .constant(let value): value
    case .and(let parts):
      parts.allSatisfy { $0.constantValue != nil } ? parts.allSatisfy { $0.constantValue == true } : nil
    case .or(let parts):
      parts.allSatisfy { $0.constantValue != nil } ? parts.contains { $0.constantValue == true } : nil
    case .not(let part): part.constantValue.map { !$0 }
    case .defined(_, let part): part.constantValue
    case .compare, .isIn, .holds: nil
    }
  }
}

extension Value {
  fileprivate enum Family { case number, duration, rate, percentage, text, flag, list }

  fileprivate var family: Family {
    switch self {
    case .flag: .flag
    case .count, .real, .byteSize: .number
    case .duration: .duration
    case .rate: .rate
    case .percentage: .percentage
    case .text: .text
    case .list: .list
    }
  }

  /// The type of a constant without context.
  var type: ValueType {
    switch self {
    case .flag: .flag
    case .count: .count
    case .real: .real
    case .duration: .duration
    case .rate: .rate
    case .percentage: .percentage
    case .byteSize: .byteSize
    case .text, .list: .text
    }
  }
}
