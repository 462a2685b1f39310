/// One `a=` line (RFC 8866 §5.13): `name`, or `name:value`.
package struct Attribute: Hashable, Sendable {
  package var name: String
  package var value: String?

  package init(_ name: String, _ value: String? = nil) {
    self.name = name
    self.value = value
  }

  init(line: String) {
    let (name, value) = line.halves(":")
    self.init(String(name), value.map(String.init))
  }

  var text: String { value.map { "\(name):\($0)" } ?? name }
}

/// The attributes of one section in order, known and unknown alike.
///
/// The text is stored and the typed accessors parse it, so that nothing in a peer's description is lost.
package struct AttributeList: Hashable, Sendable, ExpressibleByArrayLiteral {
  package var all: [Attribute]

  package init(_ all: [Attribute] = []) { self.all = all }
  package init(arrayLiteral elements: Attribute...) { all = elements }

  package func contains(_ name: String) -> Bool { all.contains { $0.name == name } }

  /// Returns the value of the first attribute of this name that has one.
  package func value(_ name: String) -> String? { all.first { $0.name == name && $0.value != nil }?.value }

  package func values(_ name: String) -> [String] { all.compactMap { $0.name == name ? $0.value : nil } }

  package mutating func append(_ name: String, _ value: String? = nil) { all.append(Attribute(name, value)) }

  package mutating func removeAll(_ name: String) { all.removeAll { $0.name == name } }

  /// Replaces all attributes of this name with one, at the place of the first.
  package mutating func set(_ name: String, _ value: String? = nil) {
    let position = all.firstIndex { $0.name == name } ?? all.count
    removeAll(name)
    all.insert(Attribute(name, value), at: position)
  }
}
