/// An error in a JSON text, and its byte offset.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds of mistake.
  public enum Reason: String, Sendable {
    /// The text ends within a value.
    case unexpectedEnd
    /// A character that is invalid at its position.
    case unexpectedCharacter
    /// A number that is not valid JSON, or is out of range.
    case badNumber
    /// An escape sequence that is unknown or incomplete.
    case badEscape
    /// Bytes that are not UTF-8.
    case badUTF8
    /// More than 64 levels of nesting.
    case tooDeep
    /// Text after the value.
    case trailingCharacters
  }

  /// The mistake.
  public let reason: Reason
  /// The offset of the mistake in bytes.
  public let offset: Int
  public var description: String { "\(reason) at byte \(offset)" }
}

extension JSON {
  /// Parses one JSON text (RFC 8259). Nesting is limited to 64 levels.
  public init(parsing text: some Sequence<UInt8>) throws(JSONError) {
    var parser = JSONParser(bytes: Array(text))
    self = try parser.parseDocument()
  }
}

private struct JSONParser {
  static let depthLimit = 64

  let bytes: [UInt8]
  var offset = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  func failure(_ reason: JSONError.Reason) -> JSONError { JSONError(reason: reason, offset: offset) }

  mutating func parseDocument() throws(JSONError) -> JSON {
    let value = try parseValue(depth: 0)
    skipWhitespace()
    guard offset == bytes.count else { throw failure(.trailingCharacters) }
    return value
  }

  mutating func skipWhitespace() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
  }

  mutating func expect(_ literal: StaticString) throws(JSONError) {
    for index in 0..<literal.utf8CodeUnitCount {
      guard let byte = current else { throw failure(.unexpectedEnd) }
      guard byte == literal.utf8Start[index] else { throw failure(.unexpectedCharacter) }
      offset += 1
    }
  }

  mutating func parseValue(depth: Int) throws(JSONError) -> JSON {
    guard depth < Self.depthLimit else { throw failure(.tooDeep) }
    skipWhitespace()
    guard let byte = current else { throw failure(.unexpectedEnd) }
    switch byte {
    case UInt8(ascii: "n"):
      try expect("null")
      return .null
    case UInt8(ascii: "t"):
      try expect("true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try expect("false")
      return .bool(false)
    case UInt8(ascii: "\""): return .string(try parseString())
    case UInt8(ascii: "["): return try parseArray(depth: depth)
    case UInt8(ascii: "{"): return try parseObject(depth: depth)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try parseNumber()
    default: throw failure(.unexpectedCharacter)
    }
  }

  mutating func parseArray(depth: Int) throws(JSONError) -> JSON {
    offset += 1
    var elements: [JSON] = []
    skipWhitespace()
    if current == UInt8(ascii: "]") {
      offset += 1
      return .array(elements)
    }
    while true {
      elements.append(try parseValue(depth: depth + 1))
      if try endsList(with: UInt8(ascii: "]")) { return .array(elements) }
    }
  }

  mutating func parseObject(depth: Int) throws(JSONError) -> JSON {
    offset += 1
    var members: [JSON.Member] = []
    skipWhitespace()
    if current == UInt8(ascii: "}") {
      offset += 1
      return .object(members)
    }
    while true {
      skipWhitespace()
      guard current == UInt8(ascii: "\"") else {
        throw failure(current == nil ? .unexpectedEnd : .unexpectedCharacter)
      }
      let key = try parseString()
      skipWhitespace()
      try expect(":")
      members.append(JSON.Member(key, try parseValue(depth: depth + 1)))
      if try endsList(with: UInt8(ascii: "}")) { return .object(members) }
    }
  }

  /// Consumes the comma or the closing bracket after an element.
  mutating func endsList(with close: UInt8) throws(JSONError) -> Bool {
    skipWhitespace()
    guard let byte = current else { throw failure(.unexpectedEnd) }
    guard byte == close || byte == UInt8(ascii: ",") else { throw failure(.unexpectedCharacter) }
    offset += 1
    return byte == close
  }

  mutating func parseNumber() throws(JSONError) -> JSON {
    let start = offset
    if current == UInt8(ascii: "-") { offset += 1 }
    let integerStart = offset
    let integerDigits = skipDigits()
    guard integerDigits > 0, integerDigits == 1 || bytes[integerStart] != UInt8(ascii: "0") else {
      throw failure(.badNumber)
    }
    var isInteger = true
    if current == UInt8(ascii: ".") {
      isInteger = false
      offset += 1
      guard skipDigits() > 0 else { throw failure(.badNumber) }
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      isInteger = false
      offset += 1
      if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { offset += 1 }
      guard skipDigits() > 0 else { throw failure(.badNumber) }
    }
    let text = String(decoding: bytes[start..<offset], as: UTF8.self)
    if isInteger, let value = Int64(text) { return .integer(value) }
    guard let value = Double(text), value.isFinite else { throw failure(.badNumber) }
    return .number(value)
  }

  mutating func skipDigits() -> Int {
    let start = offset
    while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
    return offset - start
  }

  mutating func parseString() throws(JSONError) -> String {
    offset += 1
    var utf8: [UInt8] = []
    while true {
      // In runs: descriptions are long, and little in them is escaped.
      let start = offset
      while offset < bytes.count, Self.isPlain(bytes[offset]) { offset += 1 }
      utf8 += bytes[start..<offset]
      guard let byte = current else { throw failure(.unexpectedEnd) }
      offset += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: utf8, as: UTF8.self) else { throw failure(.badUTF8) }
        return text
      case UInt8(ascii: "\\"): try parseEscape(into: &utf8)
      default: throw failure(.unexpectedCharacter)
      }
    }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  mutating func parseEscape(into utf8: inout [UInt8]) throws(JSONError) {
    guard let byte = current else { throw failure(.unexpectedEnd) }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): utf8.append(byte)
    case UInt8(ascii: "b"): utf8.append(0x08)
    case UInt8(ascii: "f"): utf8.append(0x0C)
    case UInt8(ascii: "n"): utf8.append(0x0A)
    case UInt8(ascii: "r"): utf8.append(0x0D)
    case UInt8(ascii: "t"): utf8.append(0x09)
    case UInt8(ascii: "u"): utf8 += Array(String(try parseUnicodeEscape()).utf8)
    default: throw failure(.badEscape)
    }
  }

  mutating func parseUnicodeEscape() throws(JSONError) -> Unicode.Scalar {
    let first = try parseHexadecimal()
    guard (0xD800..<0xDC00).contains(first) else {
      guard let scalar = Unicode.Scalar(first) else { throw failure(.badEscape) }
      return scalar
    }
    try expect("\\u")
    let second = try parseHexadecimal()
    guard (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(0x1_0000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw failure(.badEscape) }
    return scalar
  }

  mutating func parseHexadecimal() throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = current else { throw failure(.unexpectedEnd) }
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else { throw failure(.badEscape) }
      value = value << 4 | UInt32(digit)
      offset += 1
    }
    return value
  }
}
