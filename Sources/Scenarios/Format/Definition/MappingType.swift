/// The declaration of a mapping: every key with its name, type, default and meaning. Decoder, encoder and schema are
/// derived from it, so that they agree.
struct MappingType<Root: Sendable>: Sendable {
  struct Key: Sendable {
    let name: String
    /// An older name that is still read.
    let alias: String?
    let shape: Shape
    let isRequired: Bool
    let summary: String
    let defaultText: String?
    /// Decodes the value into the root; returns false when it could not.
    let decode: @Sendable (YAMLNode, inout Reading, inout Root) -> Bool
    /// Encodes the value of the first root; nil when it equals that of the second, so that the key can be omitted.
    let encode: @Sendable (Root, _ initial: Root) -> YAMLNode?
  }

  let name: String
  let summary: String
  let keys: [Key]
  private let names: MappingKeys
  let initial: @Sendable () -> Root
  /// Returns the place of an unknown key that belongs elsewhere.
  var elsewhere: @Sendable (YAMLNode.Entry, Reading) -> KeyPlace? = { _, _ in nil }

  init(
    _ name: String, _ summary: String, _ initial: @escaping @autoclosure @Sendable () -> Root, _ keys: [Key]
  ) {
    self.name = name
    self.summary = summary
    self.initial = initial
    let keys = keys.contains { $0.name == "why" } ? keys : keys + [Self.why]
    self.keys = keys
    names = MappingKeys(
      name: name, summary: summary,
      keys: keys.map { .init(name: $0.name, alias: $0.alias, isRequired: $0.isRequired, summary: $0.summary) })
  }

  /// The key `why`, which every mapping may have.
  private static var why: Key {
    Key(
      name: "why", alias: nil, shape: .text, isRequired: false, summary: "the reason, echoed in failures",
      defaultText: nil
    ) { node, reading, _ in
      ValueFormat<String>.text.decode(node, &reading) != nil
    } encode: { _, _ in
      // A reason that the root does not store cannot be written.
      nil
    }
  }

  var keyNames: [String] { names.names }

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

  var format: ValueFormat<Root> {
    ValueFormat(.mapping(shape)) { node, reading in
      decode(node, &reading)
    } encode: {
      encode($0)
    }
  }

  /// Encodes the keys that differ from the initial values, in the order of the declaration.
  func encode(_ root: Root) -> YAMLNode { .mapping(entries(of: root)) }

  func entries(of root: Root) -> [(key: String, value: YAMLNode)] {
    let initial = initial()
    return keys.compactMap { key in key.encode(root, initial).map { (key.name, $0) } }
  }

  /// The format that, after reporting errors, decodes to the valid part of a mapping. One wrong key of a peer then does
  /// not make every reference to the peer an error.
  var partialFormat: ValueFormat<Root> {
    format.decoded { node, reading in
      var partial: Root?
      let whole = decode(node, &reading, partial: &partial)
      return whole ?? partial
    }
  }

  /// Decodes a mapping; keys in `others` are left to another decoder.
  ///
  /// Reports every problem; returns nil when the rest is incomplete.
  ///
  /// - Parameter topic: the topic of `callsim explain`, if not the mapping itself.
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
    guard let found = names.values(of: node, &reading, others: others, topic: topic, elsewhere: elsewhere) else {
      return nil
    }
    var root = base ?? initial()
    var isComplete = found.isComplete
    for (key, value) in found.values {
      if !keys[key].decode(value, &reading, &root) { isComplete = false }
    }
    partial = root
    return isComplete ? root : nil
  }
}

extension MappingType {
  /// Returns the keys as keys of an outer mapping that contains the root.
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

  /// Declares a key with a default in `initial`, or a required one.
  static func key<Value: Equatable>(
    _ name: String, _ format: ValueFormat<Value>, _ path: Path<Value>, alias: String? = nil, required: Bool = false,
    default defaultText: String? = nil, _ summary: String
  ) -> Self {
    Self(
      name: name, alias: alias, shape: format.shape, isRequired: required, summary: summary, defaultText: defaultText
    ) { node, reading, root in
      guard let value = format.decode(node, &reading) else { return false }
      root[keyPath: path] = value
      return true
    } encode: { root, initial in
      let value = root[keyPath: path]
      return required || value != initial[keyPath: path] ? format.encode(value) : nil
    }
  }

  /// Declares an optional key.
  static func key<Value: Equatable>(
    _ name: String, _ format: ValueFormat<Value>, _ path: Path<Value?>, alias: String? = nil, required: Bool = false,
    default defaultText: String? = nil, _ summary: String
  ) -> Self {
    Self(
      name: name, alias: alias, shape: format.shape, isRequired: required, summary: summary, defaultText: defaultText
    ) { node, reading, root in
      guard let value = format.decode(node, &reading) else { return false }
      root[keyPath: path] = value
      return true
    } encode: { root, _ in
      root[keyPath: path].map(format.encode)
    }
  }

  /// Declares a mapping that is merged over the present value.
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
