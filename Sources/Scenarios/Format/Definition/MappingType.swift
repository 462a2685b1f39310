/// Where a key belongs, and what `callsim explain` calls that.
struct KeyPlace {
  var hint: String
  var topic: String
}

/// The one declaration of a mapping: every key with its name, type, default and meaning. The decoder and the schema both
/// come from it, so neither can know a key the other does not.
struct MappingType<Root: Sendable>: Sendable {
  struct Key: Sendable {
    let name: String
    /// An older spelling that is still read.
    let alias: String?
    let shape: Shape
    let isRequired: Bool
    let summary: String
    let defaultText: String?
    /// Decodes the value into the root; false when it could not.
    let decode: @Sendable (YAMLNode, inout Reading, inout Root) -> Bool
    /// Writes the value of the first root; nil where leaving the key out says the same, as of the second.
    let encode: @Sendable (Root, _ initial: Root) -> YAMLNode?
  }

  let name: String
  let summary: String
  let keys: [Key]
  let initial: @Sendable () -> Root
  /// Where a key belongs that stands here by mistake, and has its own place elsewhere.
  var elsewhere: @Sendable (YAMLNode.Entry, Reading) -> KeyPlace? = { _, _ in nil }

  init(
    _ name: String, _ summary: String, _ initial: @escaping @autoclosure @Sendable () -> Root, _ keys: [Key]
  ) {
    self.name = name
    self.summary = summary
    self.initial = initial
    self.keys = keys.contains { $0.name == "why" } ? keys : keys + [Self.why]
  }

  /// Every mapping may say why it is there.
  private static var why: Key {
    Key(
      name: "why", alias: nil, shape: .text, isRequired: false, summary: "the reason, echoed in failures",
      defaultText: nil
    ) { node, reading, _ in
      Kind<String>.text.decode(node, &reading) != nil
    } encode: { _, _ in
      // Where nobody keeps the reason, nobody can write it.
      nil
    }
  }

  var keyNames: [String] { keys.map(\.name) }

  var shape: MappingShape {
    MappingShape(
      name: name, summary: summary,
      keys: keys.map {
        MappingShape.Key(
          name: $0.name, shape: $0.shape, isRequired: $0.isRequired, summary: $0.summary, defaultText: $0.defaultText)
      }
        + keys.compactMap { key in
          key.alias.map {
            MappingShape.Key(
              name: $0, shape: key.shape, isRequired: false, summary: "same as \(key.name)", defaultText: nil)
          }
        })
  }

  var kind: Kind<Root> {
    Kind(.mapping(shape)) { node, reading in
      decode(node, &reading)
    } encode: {
      encode($0)
    }
  }

  /// The keys of a root that say something, in the order of the declaration.
  func encode(_ root: Root) -> YAMLNode { .mapping(entries(of: root)) }

  func entries(of root: Root) -> [(key: String, value: YAMLNode)] {
    let initial = initial()
    return keys.compactMap { key in key.encode(root, initial).map { (key.name, $0) } }
  }

  /// As `kind`, but what could be made out stands for the whole once the rest is reported: so one wrong key of a peer
  /// does not make every mention of the peer an error.
  var partialKind: Kind<Root> {
    kind.decoded { node, reading in
      var partial: Root?
      let whole = decode(node, &reading, partial: &partial)
      return whole ?? partial
    }
  }

  /// Decodes a mapping; keys in `others` belong to somebody else and are left alone.
  ///
  /// Every problem is reported; nil means that what is left could not stand for what was meant.
  ///
  /// - Parameter topic: what explains the keys better than the mapping itself.
  func decode(
    _ node: YAMLNode, _ reading: inout Reading, over base: Root? = nil, others: [String] = [], topic: String? = nil
  ) -> Root? {
    var partial: Root?
    return decode(node, &reading, over: base, others: others, topic: topic, partial: &partial)
  }

  private func decode(
    _ node: YAMLNode, _ reading: inout Reading, over base: Root? = nil, others: [String] = [], topic: String? = nil,
    partial: inout Root?
  ) -> Root? {
    guard let entries = node.entries else {
      let isEmpty = node.scalar?.coreType == .null
      reading.report(
        .wrongNode, "expected a mapping (\(summary)), found \(node.description)", at: node.span,
        hint: isEmpty ? "its keys stand below it, further to the right" : nil)
      return nil
    }
    var root = base ?? initial()
    var isComplete = true
    for entry in entries where !others.contains(entry.key) && !isDeclared(entry.key) {
      reportUnknown(entry, in: entries, others: others, topic: topic, &reading)
    }
    for key in keys {
      guard let entry = entries.first(where: { $0.key == key.name || $0.key == key.alias }) else {
        if key.isRequired {
          reading.report(.missingKey, "\(name) needs the key '\(key.name)': \(key.summary)", at: node.span)
          isComplete = false
        }
        continue
      }
      if let alias = key.alias, entry.key == key.name, let second = entries.first(where: { $0.key == alias }) {
        reading.report(.duplicateKey, "'\(alias)' means the same as '\(key.name)'", at: second.keySpan)
      }
      if !key.decode(entry.value, &reading, &root) { isComplete = false }
    }
    partial = root
    return isComplete ? root : nil
  }

  private func isDeclared(_ name: String) -> Bool { keys.contains { $0.name == name || $0.alias == name } }

  private func reportUnknown(
    _ entry: YAMLNode.Entry, in entries: [YAMLNode.Entry], others: [String], topic: String?,
    _ reading: inout Reading
  ) {
    var legal: [String] = []
    for name in keyNames + others where !legal.contains(name) && !entries.contains(where: { $0.key == name }) {
      legal.append(name)
    }
    let message = "\(name) has no key '\(YAMLNode.abbreviated(entry.key))'"
    let place = elsewhere(entry, reading)
    let hint =
      Self.joined(entry.key, among: legal) ?? place?.hint
      ?? Suggestion.hint(for: entry.key, among: legal, noun: "its other keys")
    reading.report(
      .unknownKey, message, at: entry.keySpan, hint: hint,
      explain: place?.topic ?? topic ?? name.replacing(" ", with: "-"))
  }
}

extension MappingType {
  /// What was meant by `network:wifi` and `at=1s`, which are names to YAML.
  private static func joined(_ text: String, among legal: [String]) -> String? {
    guard let sign = text.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return nil }
    let (key, value) = (String(text[..<sign]), text[text.index(after: sign)...])
    guard legal.contains(key), !value.isEmpty else { return nil }
    return "write \(key): \(value), with ':' and a space"
  }

  /// These keys as keys of a larger mapping that holds what they describe.
  func keys<Outer>(of path: any WritableKeyPath<Outer, Root> & Sendable) -> [MappingType<Outer>.Key] {
    keys.filter { $0.name != "why" }.map { key in
      MappingType<Outer>.Key(
        name: key.name, alias: key.alias, shape: key.shape, isRequired: key.isRequired, summary: key.summary,
        defaultText: key.defaultText
      ) { node, reading, outer in
        key.decode(node, &reading, &outer[keyPath: path])
      } encode: { outer, initial in
        key.encode(outer[keyPath: path], initial[keyPath: path])
      }
    }
  }
}

extension MappingType.Key {
  typealias Path<Value> = any WritableKeyPath<Root, Value> & Sendable

  /// A key that has a default in `initial`, or is required.
  static func key<Value: Equatable>(
    _ name: String, _ kind: Kind<Value>, _ path: Path<Value>, alias: String? = nil, required: Bool = false,
    default defaultText: String? = nil, _ summary: String
  ) -> Self {
    Self(
      name: name, alias: alias, shape: kind.shape, isRequired: required, summary: summary, defaultText: defaultText
    ) { node, reading, root in
      guard let value = kind.decode(node, &reading) else { return false }
      root[keyPath: path] = value
      return true
    } encode: { root, initial in
      let value = root[keyPath: path]
      return required || value != initial[keyPath: path] ? kind.encode(value) : nil
    }
  }

  /// A key that may be left out.
  static func key<Value: Equatable>(
    _ name: String, _ kind: Kind<Value>, _ path: Path<Value?>, alias: String? = nil, required: Bool = false,
    default defaultText: String? = nil, _ summary: String
  ) -> Self {
    Self(
      name: name, alias: alias, shape: kind.shape, isRequired: required, summary: summary, defaultText: defaultText
    ) { node, reading, root in
      guard let value = kind.decode(node, &reading) else { return false }
      root[keyPath: path] = value
      return true
    } encode: { root, _ in
      root[keyPath: path].map(kind.encode)
    }
  }

  /// A mapping that is merged over what the path already holds.
  static func nested<Value>(_ name: String, _ type: MappingType<Value>, _ path: Path<Value>, _ summary: String) -> Self
  {
    Self(name: name, alias: nil, shape: .mapping(type.shape), isRequired: false, summary: summary, defaultText: nil) {
      node, reading, root in
      guard let value = type.decode(node, &reading, over: root[keyPath: path]) else { return false }
      root[keyPath: path] = value
      return true
    } encode: { root, _ in
      let entries = type.entries(of: root[keyPath: path])
      return entries.isEmpty ? nil : .mapping(entries)
    }
  }
}
