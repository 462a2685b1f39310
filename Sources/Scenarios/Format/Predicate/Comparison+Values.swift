extension Comparison {
  /// Returns the result for two values: numbers are compared in base units, other values as text.
  package func holds(_ a: Value, _ b: Value) -> Bool {
    if let left = a.number, let right = b.number {
      switch self {
      case .equal: return left == right
      case .notEqual: return left != right
      case .less: return left < right
      case .lessOrEqual: return left <= right
      case .greater: return left > right
      case .greaterOrEqual: return left >= right
      }
    }
    switch self {
    case .equal: return a.description == b.description
    case .notEqual: return a.description != b.description
    case .less, .lessOrEqual, .greater, .greaterOrEqual: return false
    }
  }
}

extension Expectation.Bound {
  /// Returns whether a measured number, in base units, meets the bound.
  package func admits(_ number: Double) -> Bool { comparison.holds(.real(number), value) }

  /// Whether a larger number may violate the bound.
  package var isUpper: Bool { comparison != .greater && comparison != .greaterOrEqual }
}
