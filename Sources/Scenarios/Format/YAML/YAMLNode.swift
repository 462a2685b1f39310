/// A node of a scenario file with the location of every key and value.
///
/// Scenarios are decoded from this tree, so that every problem can be reported at its location.
struct YAMLNode: Sendable, Equatable {
  enum Content: Sendable {
    case scalar(YAMLScalar)
    case sequence([YAMLNode])
    case mapping([Entry])
  }

  struct Entry: Sendable {
    var key: String
    var keySpan: SourceSpan
    var keyRange = 0..<0
    var value: YAMLNode
  }

  /// The style of a node in the text.
  enum Style: Sendable {
    case plain, singleQuoted, doubleQuoted, literal, folded
    case block, flow
    /// `[a: 1]`: a mapping of one entry in a list, without braces.
    case pair
  }

  /// Compares meanings; location and style are ignored.
  static func == (a: YAMLNode, b: YAMLNode) -> Bool {
    switch (a.content, b.content) {
    case (.scalar(let a), .scalar(let b)): a.coreType == b.coreType && (a.text == b.text || a.coreType == .null)
    case (.sequence(let a), .sequence(let b)): a == b
    case (.mapping(let a), .mapping(let b)): a.elementsEqual(b) { $0.key == $1.key && $0.value == $1.value }
    default: false
    }
  }

  var content: Content
  var span: SourceSpan
  var style = Style.plain
  /// The byte range in the text; empty for an omitted value and for a node without a text.
  var range = 0..<0

  var scalar: YAMLScalar? {
    guard case .scalar(let scalar) = content else { return nil }
    return scalar
  }
  var entries: [Entry]? {
    guard case .mapping(let entries) = content else { return nil }
    return entries
  }
  var items: [YAMLNode]? {
    guard case .sequence(let items) = content else { return nil }
    return items
  }

  /// The value of a key of a mapping.
  subscript(_ key: String) -> YAMLNode? { entries?.first { $0.key == key }?.value }
  func entry(_ key: String) -> Entry? { entries?.first { $0.key == key } }

  /// Returns whether a location is that of this node, or of a node or key within it.
  func contains(anyOf places: Set<SourceSpan>) -> Bool {
    if places.contains(span) { return true }
    switch content {
    case .scalar: return false
    case .sequence(let items): return items.contains { $0.contains(anyOf: places) }
    case .mapping(let entries):
      return entries.contains { places.contains($0.keySpan) || $0.value.contains(anyOf: places) }
    }
  }

  /// The locations of the scalars in the node, including its own.
  var scalarSpans: [SourceSpan] {
    switch content {
    case .scalar: [span]
    case .sequence(let items): items.flatMap(\.scalarSpans)
    case .mapping(let entries): entries.flatMap(\.value.scalarSpans)
    }
  }

  /// The name of the node in messages.
  var description: String {
    switch content {
    case .mapping: "a mapping"
    case .sequence: "a list"
    case .scalar(let scalar):
      switch scalar.coreType {
      case .null: "nothing"
      case .flag: "the boolean \(scalar.text)"
      case .integer, .real: "the number \(scalar.text)"
      case .text: "the text '\(Self.abbreviated(scalar.text))'"
      }
    }
  }

  static func abbreviated(_ text: String) -> String {
    text.unicodeScalars.count <= 60 ? text : String(text.prefix(57)) + "…"
  }
}

/// A scalar as it is written; its type follows the YAML 1.2 core schema.
struct YAMLScalar: Sendable, Equatable {
  enum CoreType: Equatable { case null, flag, integer, real, text }

  var text: String
  /// Whether the scalar is plain, so that its text determines its type; quoted and block scalars are text.
  var isPlain: Bool
  /// The location of each Unicode scalar of `text`; nil when they are consecutive.
  var positions: [SourceSpan]?
  /// Whether a `${name}` was replaced, so that offsets in `text` do not correspond to the file.
  var isSubstituted = false

  var coreType: CoreType {
    guard isPlain else { return .text }
    switch text {
    case "", "~", "null", "Null", "NULL": return .null
    case "true", "True", "TRUE", "false", "False", "FALSE": return .flag
    case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", ".nan", ".NaN", ".NAN":
      return .real
    default: return Self.numberType(Array(text.utf8))
    }
  }

  /// Recognises `[-+]?[0-9]+`, `0o[0-7]+`, `0x[0-9a-fA-F]+`,
  /// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, or text.
  private static func numberType(_ utf8: [UInt8]) -> CoreType {
    func digits(from start: Int) -> Int {
      var end = start
      while end < utf8.count, (0x30...0x39).contains(utf8[end]) { end += 1 }
      return end
    }
    if utf8.count > 2, utf8[0] == UInt8(ascii: "0") {
      let isOctal = utf8[1] == UInt8(ascii: "o") && utf8[2...].allSatisfy { (0x30...0x37).contains($0) }
      let isHex = utf8[1] == UInt8(ascii: "x") && utf8[2...].allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
      if isOctal || isHex { return .integer }
    }
    let hasSign = utf8.first == UInt8(ascii: "-") || utf8.first == UInt8(ascii: "+")
    let start = hasSign ? 1 : 0
    var end = digits(from: start)
    let whole = end - start
    if whole > 0, end == utf8.count { return .integer }
    if end < utf8.count, utf8[end] == UInt8(ascii: ".") {
      let fraction = digits(from: end + 1)
      guard whole > 0 || fraction > end + 1 else { return .text }
      end = fraction
    } else if whole == 0 {
      return .text
    }
    if end < utf8.count, utf8[end] | 0x20 == UInt8(ascii: "e") {
      var exponent = end + 1
      if exponent < utf8.count, utf8[exponent] == UInt8(ascii: "-") || utf8[exponent] == UInt8(ascii: "+") {
        exponent += 1
      }
      let last = digits(from: exponent)
      guard last > exponent else { return .text }
      end = last
    }
    return end == utf8.count ? .real : .text
  }

  /// The value of an `integer` scalar that fits 64 bits.
  var integer: Int? {
    guard coreType == .integer else { return nil }
    if text.hasPrefix("0o") { return Int(text.dropFirst(2), radix: 8) }
    if text.hasPrefix("0x") { return Int(text.dropFirst(2), radix: 16) }
    return Int(text)
  }

  var flag: Bool? { coreType == .flag ? text.lowercased() == "true" : nil }
}
