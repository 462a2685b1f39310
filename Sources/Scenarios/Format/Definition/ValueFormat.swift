import CallCore
import Vocabulary

/// Decoder and encoder of one type of value. The shape, which the schema prints, corresponds to the checks of decoding;
/// an encoded value decodes to the same value.
struct ValueFormat<Value: Sendable>: Sendable {
  let shape: Shape
  let decode: @Sendable (YAMLNode, inout Reading) -> Value?
  let encode: @Sendable (Value) -> YAMLNode

  init(
    _ shape: Shape, decode: @escaping @Sendable (YAMLNode, inout Reading) -> Value?,
    encode: @escaping @Sendable (Value) -> YAMLNode
  ) {
    self.shape = shape
    self.decode = decode
    self.encode = encode
  }

  /// Returns a format that converts decoded values. `transform` reports refused values, and `back` is its inverse.
  func map<Other>(
    _ transform: @escaping @Sendable (Value, SourceSpan, inout Reading) -> Other?,
    back: @escaping @Sendable (Other) -> Value
  ) -> ValueFormat<Other> {
    ValueFormat<Other>(shape) { node, reading in
      guard let value = decode(node, &reading) else { return nil }
      return transform(value, node.span, &reading)
    } encode: {
      encode(back($0))
    }
  }

  /// Returns a format with another decoder.
  func decoded(
    _ shape: Shape? = nil, by decode: @escaping @Sendable (YAMLNode, inout Reading) -> Value?
  ) -> ValueFormat<Value> {
    ValueFormat(shape ?? self.shape, decode: decode, encode: encode)
  }

  /// The format of a value with its location.
  var located: ValueFormat<Located<Value>> {
    map { value, span, _ in
      Located(value, at: span)
    } back: {
      $0.value
    }
  }

  /// Returns the format of a list of `atLeast` to `atMost` members.
  func list(atLeast: Int = 0, atMost: Int = 10_000) -> ValueFormat<[Value]> {
    ValueFormat<[Value]>(.list(shape, atLeast...atMost)) { node, reading in
      guard let items = node.members(atLeast: atLeast, atMost: atMost, &reading, isMember: { decode($0, &$1) != nil })
      else { return nil }
      let decoded = items.map { decode($0, &reading) }
      return decoded.contains { $0 == nil } ? nil : decoded.compactMap(\.self)
    } encode: { values in
      .list(values.map(encode))
    }
  }

  /// Returns the format of one value or a list of values.
  func oneOrMany(atMost: Int = 10_000) -> ValueFormat<[Value]> {
    let many = list(atLeast: 1, atMost: atMost)
    return ValueFormat<[Value]>(.either([shape, many.shape])) { node, reading in
      if node.items != nil { return many.decode(node, &reading) }
      return decode(node, &reading).map { [$0] }
    } encode: { values in
      values.count == 1 ? encode(values[0]) : many.encode(values)
    }
  }

  /// Returns the format of a list without repeated members: a repetition is probably a mistake.
  ///
  /// - Parameter word: the text of a member, for comparison and for messages.
  func distinct<Member>(_ word: @escaping @Sendable (Member) -> String) -> ValueFormat where Value == [Member] {
    decoded(shape.withDistinctMembers) { node, reading in
      guard let members = decode(node, &reading) else { return nil }
      return node.distinctIndices(members.map(word), &reading).map { members[$0] }
    }
  }

  /// Returns a format with a short scalar form and a mapping form.
  ///
  /// - Parameter isScalar: whether the scalar form can express a value.
  static func either(
    scalar: ValueFormat<Value>, mapping: ValueFormat<Value>, isScalar: @escaping @Sendable (Value) -> Bool
  ) -> ValueFormat<Value> {
    ValueFormat(.either([scalar.shape, mapping.shape])) { node, reading in
      node.entries == nil ? scalar.decode(node, &reading) : mapping.decode(node, &reading)
    } encode: {
      isScalar($0) ? scalar.encode($0) : mapping.encode($0)
    }
  }

  /// The format of a mapping from names to values, in file order.
  var named: ValueFormat<[Named<Value>]> {
    ValueFormat<[Named<Value>]>(.named(shape)) { node, reading in
      node.namedEntries(&reading)?.compactMap { entry in
        guard reading.checkName(entry.key, at: entry.keySpan) else { return nil }
        return decode(entry.value, &reading).map { Named(name: entry.key, span: entry.keySpan, value: $0) }
      }
    } encode: { named in
      .mapping(named.map { ($0.name, encode($0.value)) })
    }
  }

  /// The format of an undecoded node, which is decoded once all names are known.
  var deferred: ValueFormat<YAMLNode> { .node(shape) }
}

// What formats of all types have in common, once.
extension YAMLNode {
  /// Returns the members of a list; reports another node, and a wrong number of them.
  fileprivate func members(
    atLeast: Int, atMost: Int, _ reading: inout Reading, isMember: (YAMLNode, inout Reading) -> Bool
  ) -> [YAMLNode]? {
    guard let items else {
      var trial = reading
      let isMember = scalar != nil && isMember(self, &trial)
      let hint =
        isMember && atLeast <= 1
        ? scalar.map { "write [\(YAMLNode.abbreviated($0.text))]" }
        : atLeast == atMost ? "write \(atLeast) in brackets" : nil
      reading.report(.wrongNode, "expected a list, found \(description)", at: span, hint: hint)
      return nil
    }
    if items.count < atLeast || items.count > atMost {
      let wanted =
        atLeast == atMost ? "\(atLeast)" : items.count < atLeast ? "at least \(atLeast)" : "at most \(atMost)"
      let message = "expected \(wanted) member\(atLeast == 1 ? "" : "s"), found \(items.count)"
      reading.report(.badListLength, message, at: span)
      return nil
    }
    return items
  }

  /// Returns the indices of the members whose text stands before nowhere in the list; reports the others.
  fileprivate func distinctIndices(_ words: [String], _ reading: inout Reading) -> [Int] {
    var known: Set<String> = []
    return words.indices.filter { index in
      if known.insert(words[index]).inserted { return true }
      reading.report(
        .duplicateKey, "'\(YAMLNode.abbreviated(words[index]))' is listed twice", at: items?[index].span ?? span,
        hint: "leave it out, or name another")
      return false
    }
  }

  /// Returns the entries of a mapping from names; reports another node.
  fileprivate func namedEntries(_ reading: inout Reading) -> [Entry]? {
    if let entries { return entries }
    let hint = items == nil ? nil : "write each as NAME: …, without '-'"
    reading.report(.wrongNode, "expected a mapping from names, found \(description)", at: span, hint: hint)
    return nil
  }
}

extension ValueFormat where Value == YAMLNode {
  /// Returns the format of an undecoded node.
  static func node(_ shape: Shape) -> ValueFormat<YAMLNode> {
    ValueFormat(shape) { node, _ in
      node
    } encode: {
      $0
    }
  }
}

struct Named<Value: Sendable>: Sendable {
  var name: String
  var span: SourceSpan
  var value: Value
}

extension Named: Equatable where Value: Equatable {
  static func == (a: Named, b: Named) -> Bool { a.name == b.name && a.value == b.value }
}

// MARK: - Scalars

extension ValueFormat where Value == YAMLScalar {
  static var scalar: ValueFormat<YAMLScalar> {
    ValueFormat(.anyScalar) { node, reading in
      guard let scalar = node.scalar else {
        reading.report(.wrongNode, "expected a single value, found \(node.description)", at: node.span)
        return nil
      }
      return scalar
    } encode: {
      YAMLNode(content: .scalar($0), span: .builtIn)
    }
  }
}

extension ValueFormat where Value == String {
  static var text: ValueFormat<String> { text(shape: .text) }

  /// Reads a word as text, even if it looks like another type, so that `200` is an unknown code and not a type error.
  static var word: ValueFormat<String> {
    text.decoded { node, reading in
      guard let scalar = node.scalar, scalar.coreType != .null else { return text.decode(node, &reading) }
      return scalar.text
    }
  }

  static func text(shape: Shape) -> ValueFormat<String> {
    ValueFormat(shape) { node, reading in
      guard let scalar = node.scalar, scalar.coreType == .text else {
        let hint = node.scalar.flatMap { $0.coreType == .null ? nil : "write \"\($0.text)\"" }
        reading.report(.wrongType, "expected text, found \(node.description)", at: node.span, hint: hint)
        return nil
      }
      return scalar.text
    } encode: {
      .text($0)
    }
  }
}

extension ValueFormat where Value == Bool {
  /// Returns advice for a word that is a boolean in YAML 1.1.
  static func hint(for word: String) -> String? {
    switch word.lowercased() {
    case "yes", "on": "write true"
    case "no", "off": "write false"
    default: nil
    }
  }

  static var flag: ValueFormat<Bool> {
    ValueFormat(.flag) { node, reading in
      guard let flag = node.scalar?.flag else {
        let hint = hint(for: node.scalar?.text ?? "")
        reading.report(.wrongType, "expected true or false, found \(node.description)", at: node.span, hint: hint)
        return nil
      }
      return flag
    } encode: {
      .plain("\($0)")
    }
  }
}

extension ValueFormat where Value == Int {
  static func count(_ range: ClosedRange<Int> = 0...1_000_000_000) -> ValueFormat<Int> {
    ValueFormat(.integer(range)) { node, reading in
      guard let scalar = node.scalar, scalar.coreType == .integer else {
        reading.report(.wrongType, "expected a whole number, found \(node.description)", at: node.span)
        return nil
      }
      guard let value = scalar.integer, range.contains(value) else {
        let wanted = "\(range.lowerBound) to \(range.upperBound)"
        reading.report(.outOfRange, "\(scalar.text) is not within \(wanted)", at: node.span)
        return nil
      }
      return value
    } encode: {
      .plain("\($0)")
    }
  }

  /// Reads a port of UDP or TCP.
  static var port: ValueFormat<Int> { .count(1...65_535) }

  static var byteSize: ValueFormat<Int> {
    quantity(Quantity.byteUnits, "a size", example: "1200B") { value in
      guard case .byteSize(let size) = value else { return nil }
      return size
    } back: {
      .byteSize($0)
    }.checked { $0 >= 0 ? nil : "a size is not negative" }
  }
}

extension ValueFormat where Value == ClosedRange<Int> {
  /// Reads a number, or two with a dash between them.
  static func range(_ limits: ClosedRange<Int>) -> ValueFormat<ClosedRange<Int>> {
    let number = ValueFormat<Int>.count(limits)
    return ValueFormat(.either([number.shape, .pattern("^[0-9]+-[0-9]+$")])) { node, reading in
      let parts = node.scalar?.text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) } ?? []
      guard parts.count == 2, let first = parts[0], let last = parts[1] else {
        return number.decode(node, &reading).map { $0...$0 }
      }
      guard first <= last, limits.contains(first), limits.contains(last) else {
        let message = "a range lies within \(limits.lowerBound) to \(limits.upperBound), the lower number first"
        reading.report(.outOfRange, message, at: node.span)
        return nil
      }
      return first...last
    } encode: { range in
      range.count == 1 ? number.encode(range.lowerBound) : .plain(range.written)
    }
  }
}

extension ClosedRange<Int> {
  /// The text of the range in a file.
  var written: String { count == 1 ? "\(lowerBound)" : "\(lowerBound)-\(upperBound)" }
}

extension ValueFormat where Value == Double {
  static var real: ValueFormat<Double> {
    ValueFormat(.real) { node, reading in
      guard let scalar = node.scalar, [.integer, .real].contains(scalar.coreType),
        let value = scalar.integer.map(Double.init) ?? Double(scalar.text), value.isFinite
      else {
        reading.report(.wrongType, "expected a number, found \(node.description)", at: node.span)
        return nil
      }
      return value
    } encode: {
      .plain(Quantity.written(.real($0)))
    }
  }

  /// Reads a share from 0 to `atMost`, as a fraction.
  ///
  /// - Parameter unit: the probable unit of a number without one.
  static func percentage(atMost: Double = 1, allowsNegative: Bool = false, unit: String = "%") -> ValueFormat<Double> {
    quantity(Quantity.percentUnits, "a share", example: "5\(unit)") { value in
      guard case .percentage(let fraction) = value else { return nil }
      return fraction
    } back: {
      .percentage($0)
    }.checked { fraction in
      if fraction > atMost || (allowsNegative && fraction < -atMost) {
        return "\(Quantity.percentText(fraction)) is more than \(Quantity.percentText(atMost))"
      }
      return fraction < 0 && !allowsNegative ? "a share is not negative" : nil
    }
  }
}

extension ValueFormat where Value == Interval {
  enum Sign { case positive, notNegative, any }

  static func duration(_ sign: Sign = .notNegative) -> ValueFormat<Interval> {
    quantity(Quantity.durationUnits, "a time", example: "250ms") { value in
      guard case .duration(let interval) = value else { return nil }
      return interval
    } back: {
      .duration($0)
    }.checked { interval in
      switch sign {
      case .positive: interval > .zero ? nil : "\(interval) is not longer than nothing"
      case .notNegative: interval >= .zero ? nil : "\(interval) is negative"
      case .any: nil
      }
    }
  }
}

extension ValueFormat where Value == DataRate {
  static var rate: ValueFormat<DataRate> {
    quantity(Quantity.rateUnits, "a rate", example: "1.5Mbps") { value in
      guard case .rate(let rate) = value else { return nil }
      return rate
    } back: {
      .rate($0)
    }.checked { $0.bitsPerSecond > 0 ? nil : "a rate is more than nothing; use link.down for no capacity" }
  }
}

extension ValueFormat where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// Reads one of a closed list.
  static var choice: ValueFormat<Value> { choice(Value.allCases.map(\.rawValue)) }

  static func choice(_ legal: [String]) -> ValueFormat<Value> {
    ValueFormat<String>.choice(of: legal).map { text, _, _ in
      Value(rawValue: text)
    } back: {
      $0.rawValue
    }
  }
}

extension ValueFormat where Value == String {
  static func choice(of legal: [String], noun: String = "") -> ValueFormat<String> {
    ValueFormat(.choice(legal)) { node, reading in
      guard let scalar = node.scalar else {
        reading.report(.wrongNode, "expected one word, found \(node.description)", at: node.span)
        return nil
      }
      guard legal.contains(scalar.text) else {
        let what = YAMLNode.abbreviated(scalar.text)
        let hint = Suggestion.hint(for: scalar.text, among: legal)
        reading.report(.notAChoice, "'\(what)' is not one of the choices here", at: node.span, hint: hint)
        return nil
      }
      return scalar.text
    } encode: {
      .text($0)
    }
  }
}

extension ValueFormat {
  /// Reads a number with a unit of one family.
  static func quantity(
    _ units: [String], _ noun: String, example: String,
    _ take: @escaping @Sendable (ScenarioFormat.Value) -> Value?,
    back: @escaping @Sendable (Value) -> ScenarioFormat.Value
  ) -> ValueFormat<Value> {
    ValueFormat(.quantity(units)) { node, reading in
      guard let scalar = node.scalar else {
        reading.report(.wrongNode, "expected \(noun) such as \(example), found \(node.description)", at: node.span)
        return nil
      }
      switch Quantity.read(scalar.text) {
      case .value(let quantity):
        if let value = take(quantity) { return value }
        reading.report(.wrongType, "expected \(noun) such as \(example), found '\(scalar.text)'", at: node.span)
      case .bare:
        let hint = Quantity.hint(scalar.text, unit: units.last(where: example.hasSuffix) ?? units[0])
        reading.report(.missingUnit, "\(scalar.text) has no unit", at: node.span, hint: hint)
      case .unknownUnit(let unit):
        let hint = Suggestion.hint(for: unit, among: units, noun: "units")
        reading.report(.unknownUnit, "there is no unit '\(unit)'", at: node.span, hint: hint)
      case .tooLarge(let reason):
        reading.report(.outOfRange, "\(YAMLNode.abbreviated(scalar.text)) is too large: \(reason)", at: node.span)
      case nil:
        let hint = Quantity.meant(by: scalar.text).map { "write \($0)" }
        let message = "expected \(noun) such as \(example), found \(node.description)"
        reading.report(.wrongType, message, at: node.span, hint: hint)
      }
      return nil
    } encode: {
      .plain(Quantity.written(back($0)))
    }
  }

  /// Returns a format that reports values for which `problem` returns a message.
  func checked(_ problem: @escaping @Sendable (Value) -> String?) -> ValueFormat<Value> {
    map { value, span, reading in
      guard let message = problem(value) else { return value }
      reading.report(.outOfRange, message, at: span)
      return nil
    } back: {
      $0
    }
  }
}

extension ValueFormat where Value == IPPrefix {
  static var prefix: ValueFormat<IPPrefix> {
    ValueFormat<String>.text(shape: .pattern("^[0-9a-fA-F:.]+/[0-9]{1,3}$")).map { text, span, reading in
      guard let prefix = IPPrefix(text) else {
        reading.report(.badPrefix, "'\(YAMLNode.abbreviated(text))' is not an address prefix", at: span)
        return nil
      }
      guard
        text.prefix(while: { $0 != "/" }) == "\(prefix.address)"
          || IPAddress(String(text.prefix { $0 != "/" })) == prefix.address
      else {
        let hint = "write \(prefix)"
        reading.report(.badPrefix, "'\(text)' has bits set outside its prefix", at: span, hint: hint)
        return nil
      }
      return prefix
    } back: {
      "\($0)"
    }
  }
}

extension ValueFormat where Value == ScenarioFormat.Value {
  /// Reads a value of a type that a vocabulary or the fault catalogue declares.
  static func declared(_ type: ValueType) -> ValueFormat<ScenarioFormat.Value> {
    switch type {
    case .count: ValueFormat<Int>.count().value { .count($0) }
    case .real: ValueFormat<Double>.real.value { .real($0) }
    case .flag: ValueFormat<Bool>.flag.value { .flag($0) }
    case .text: ValueFormat<String>.text.value { .text($0) }
    case .duration: ValueFormat<Interval>.duration(.any).value { .duration($0) }
    case .rate: ValueFormat<DataRate>.rate.value { .rate($0) }
    case .percentage: ValueFormat<Double>.percentage().value { .percentage($0) }
    case .byteSize: ValueFormat<Int>.byteSize.value { .byteSize($0) }
    case .peer: ValueFormat<Located<String>>.peer.value { .text($0.value) }
    case .peers:
      ValueFormat<Located<String>>.peer.oneOrMany().distinct(\.value).value { .list($0.map { .text($0.value) }) }
    case .choice(let legal): ValueFormat<String>.choice(of: legal).value { .text($0) }
    }
  }

  /// Reads any scalar, with the type that its text suggests.
  static var any: ValueFormat<ScenarioFormat.Value> {
    ValueFormat<YAMLScalar>.scalar.value { ScenarioFormat.Value($0) }
  }
}

extension ValueFormat {
  /// Converts the format to one of ``Value``, which is encoded by its own case.
  func value(_ make: @escaping @Sendable (Value) -> ScenarioFormat.Value) -> ValueFormat<ScenarioFormat.Value> {
    ValueFormat<ScenarioFormat.Value>(shape) { node, reading in
      decode(node, &reading).map(make)
    } encode: {
      $0.node
    }
  }
}

extension ScenarioFormat.Value {
  /// The node of the value in a scenario file.
  var node: YAMLNode {
    switch self {
    case .text(let text): .text(text)
    case .list(let values): .list(values.map(\.node))
    default: .plain(Quantity.written(self))
    }
  }
}

extension ScenarioFormat.Value {
  /// Creates the value of a scalar without a declared type.
  init(_ scalar: YAMLScalar) {
    if let flag = scalar.flag {
      self = .flag(flag)
    } else if let integer = scalar.integer {
      self = .count(integer)
    } else if scalar.coreType == .real, let real = Double(scalar.text) {
      self = .real(real)
    } else if case .value(let quantity) = Quantity.read(scalar.text) {
      self = quantity
    } else {
      self = .text(scalar.text)
    }
  }
}
