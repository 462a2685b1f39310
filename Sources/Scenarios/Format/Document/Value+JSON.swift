package import Formats

extension Value {
  /// Converts plain JSON; nil for an object, null, or a list with one.
  package init?(_ json: JSON) {
    switch json {
    case .bool(let flag): self = .flag(flag)
    case .integer(let number): self = .count(Int(number))
    case .number(let number): self = .real(number)
    case .string(let text): self = .text(text)
    case .array(let members):
      let values = members.compactMap { Value($0) }
      guard values.count == members.count else { return nil }
      self = .list(values)
    case .null, .object: return nil
    }
  }

  /// The value as plain JSON; a quantity with a unit as its text.
  package var json: JSON {
    switch self {
    case .flag(let flag): .bool(flag)
    case .count(let number): .integer(Int64(number))
    case .real(let number): .number(number)
    case .list(let members): .array(members.map(\.json))
    case .text, .duration, .rate, .percentage, .byteSize: .string(description)
    }
  }
}
