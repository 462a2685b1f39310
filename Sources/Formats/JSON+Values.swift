/// Members of objects by their required types; nil if a value has another type.
extension JSON {
  package static func strings(_ list: [String]) -> JSON { .array(list.map { .string($0) }) }
  package var strings: [String] { array?.compactMap(\.string) ?? [] }

  /// Returns a number; one that exceeds a signed word becomes a string of digits.
  package static func unsigned(_ value: UInt64) -> JSON {
    Int64(exactly: value).map { .integer($0) } ?? .string("\(value)")
  }
  package var unsigned: UInt64? { integer.flatMap { UInt64(exactly: $0) } ?? string.flatMap { UInt64($0) } }

  package var real: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }

  package var flag: Bool? { if case .bool(let value) = self { value } else { nil } }
}
