/// A JSON value with its members in the order they were added.
public indirect enum JSON: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int)
  case real(Double)
  case string(String)
  case array([JSON])
  case object([Member])

  public struct Member: Sendable, Equatable {
    public var name: String
    public var value: JSON
  }

  static func object(_ members: KeyValuePairs<String, JSON>) -> JSON {
    .object(members.map { Member(name: $0.key, value: $0.value) })
  }

  public subscript(_ name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// The object with these members added at its end.
  func adding(_ more: KeyValuePairs<String, JSON>) -> JSON {
    guard case .object(let members) = self else { return self }
    return .object(members + more.map { Member(name: $0.key, value: $0.value) })
  }

  /// On one line.
  public var text: String { write(indent: nil, depth: 0) }
  /// Indented by two spaces a level.
  public var prettyText: String { write(indent: 2, depth: 0) }

  private func write(indent: Int?, depth: Int) -> String {
    let open = indent.map { "\n" + String(repeating: " ", count: $0 * (depth + 1)) } ?? ""
    let close = indent.map { "\n" + String(repeating: " ", count: $0 * depth) } ?? ""
    let separator = indent == nil ? "," : ","
    switch self {
    case .null: return "null"
    case .bool(let value): return "\(value)"
    case .integer(let value): return "\(value)"
    case .real(let value): return value.isFinite ? "\(value)" : "null"
    case .string(let value): return Self.quote(value)
    case .array(let items):
      guard !items.isEmpty else { return "[]" }
      return "[" + items.map { open + $0.write(indent: indent, depth: depth + 1) }.joined(separator: separator) + close
        + "]"
    case .object(let members):
      guard !members.isEmpty else { return "{}" }
      let colon = indent == nil ? ":" : ": "
      return "{"
        + members.map { open + Self.quote($0.name) + colon + $0.value.write(indent: indent, depth: depth + 1) }
        .joined(separator: separator) + close + "}"
    }
  }

  private static func quote(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case "\r": out += "\\r"
      case "\t": out += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let hex = String(scalar.value, radix: 16)
        out += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out + "\""
  }
}
