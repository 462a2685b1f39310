extension Comparison {
  /// Whether it is so of two values: of numbers in their base units, of all else as it is written.
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
  /// Whether a measured number, in base units, meets the bound.
  package func admits(_ number: Double) -> Bool { comparison.holds(.real(number), value) }

  /// Whether more may break it.
  package var isUpper: Bool { comparison != .greater && comparison != .greaterOrEqual }
}
