/// A JSON value (RFC 8259) whose objects keep the order of their members, so that the same message has the same bytes.
public enum JSON: Hashable, Sendable {
  /// The literal `null`.
  case null
  /// The literal `true` or `false`.
  case bool(Bool)
  /// A number without fraction and exponent that fits into 64 bits.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([JSON])
  /// An object, with its members in the order of the text.
  case object([Member])

  /// A member of an object.
  public struct Member: Hashable, Sendable {
    /// The member's name.
    public let key: String
    /// The member's value.
    public let value: JSON

    /// Makes a member.
    public init(_ key: String, _ value: JSON) {
      self.key = key
      self.value = value
    }
  }

  /// The value of the first member called `key`, or nil if there is none or this is not an object.
  public subscript(key: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.key == key }?.value
  }

  /// The string, or nil if this is another value.
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  /// The integer, or nil if this is another value.
  public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  /// The elements, or nil if this is not an array.
  public var array: [JSON]? { if case .array(let value) = self { value } else { nil } }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements.map { Member($0, $1) }) }
}

extension JSON: CustomStringConvertible {
  /// Compact text. Non-finite numbers, which JSON cannot represent, become null.
  public var description: String {
    var text = ""
    write(into: &text, indentation: nil)
    return text
  }

  /// Text over many lines, indented by two spaces per level.
  public var prettyText: String {
    var text = ""
    write(into: &text, indentation: "")
    return text
  }

  /// Appends the text of this value.
  ///
  /// - Parameter indentation: The indentation of the line on which this value begins; nil to write everything on one
  ///   line.
  private func write(into text: inout String, indentation: String?) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .number(let value): text += value.isFinite ? "\(value)" : "null"
    case .string(let value): Self.quote(value, into: &text)
    case .array(let elements):
      Self.write(elements, "[", "]", into: &text, indentation) { element, text, inner in
        element.write(into: &text, indentation: inner)
      }
    case .object(let members):
      Self.write(members, "{", "}", into: &text, indentation) { member, text, inner in
        Self.quote(member.key, into: &text)
        text += inner == nil ? ":" : ": "
        member.value.write(into: &text, indentation: inner)
      }
    }
  }

  private static func write<Element>(
    _ elements: [Element], _ open: String, _ close: String, into text: inout String, _ indentation: String?,
    _ writeOne: (Element, inout String, String?) -> Void
  ) {
    text += open
    let inner = indentation.map { $0 + "  " }
    for (index, element) in elements.enumerated() {
      if index > 0 { text += "," }
      if let inner { text += "\n" + inner }
      writeOne(element, &text, inner)
    }
    if let indentation, !elements.isEmpty { text += "\n" + indentation }
    text += close
  }

  private static func quote(_ value: String, into text: inout String) {
    text += "\""
    // In runs: descriptions are long, and little in them is escaped.
    var rest = value[...]
    while let index = rest.utf8.firstIndex(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") })
    {
      text += rest[..<index]
      text += escape(rest.utf8[index])
      rest = rest[rest.utf8.index(after: index)...]
    }
    text += rest
    text += "\""
  }

  private static func escape(_ byte: UInt8) -> String {
    switch byte {
    case UInt8(ascii: "\""): return "\\\""
    case UInt8(ascii: "\\"): return "\\\\"
    case UInt8(ascii: "\n"): return "\\n"
    case UInt8(ascii: "\r"): return "\\r"
    case UInt8(ascii: "\t"): return "\\t"
    default:
      let digits = String(byte, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }
}
