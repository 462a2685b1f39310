/// The place where a key belongs, with its topic in `callsim explain`.
struct KeyPlace {
  var hint: String
  var topic: String
}

/// The names of a mapping's keys: what is missing, unknown or written twice.
///
/// It knows nothing of values, so that the compiler makes one copy of it and not one for each ``MappingType``.
struct MappingKeys: Sendable {
  struct Key: Sendable {
    let name: String
    let alias: String?
    let isRequired: Bool
    let summary: String
  }

  let name: String
  let summary: String
  let keys: [Key]

  var names: [String] { keys.map(\.name) }

  /// The values of a mapping by the index of the key, in the order of the declaration.
  struct Found {
    var values: [(key: Int, node: YAMLNode)] = []
    /// Whether no required key is missing.
    var isComplete = true
  }

  /// Reports what is wrong with the keys of a mapping, and returns the values of those that are declared; nil for another
  /// node.
  ///
  /// - Parameters:
  ///   - others: Keys that are left to another decoder.
  ///   - topic: The topic of `callsim explain`, if not the mapping itself.
  ///   - elsewhere: Returns the place of an unknown key that belongs elsewhere.
  func values(
    of node: YAMLNode, _ reading: inout Reading, others: [String], topic: String?,
    elsewhere: (YAMLNode.Entry, Reading) -> KeyPlace?
  ) -> Found? {
    guard let entries = node.entries else {
      let isEmpty = node.scalar?.coreType == .null
      reading.report(
        .wrongNode, "expected a mapping (\(summary)), found \(node.description)", at: node.span,
        hint: isEmpty ? "its keys stand below it, further to the right" : nil)
      return nil
    }
    for entry in entries where !others.contains(entry.key) && !isDeclared(entry.key) {
      reportUnknown(entry, in: entries, others: others, topic: topic, place: elsewhere(entry, reading), &reading)
    }
    var found = Found()
    for (index, key) in keys.enumerated() {
      guard let entry = entries.first(where: { $0.key == key.name || $0.key == key.alias }) else {
        if key.isRequired {
          reading.report(.missingKey, "\(name) needs the key '\(key.name)': \(key.summary)", at: node.span)
          found.isComplete = false
        }
        continue
      }
      if let alias = key.alias, entry.key == key.name, let second = entries.first(where: { $0.key == alias }) {
        reading.report(.duplicateKey, "'\(alias)' means the same as '\(key.name)'", at: second.keySpan)
      }
      found.values.append((index, entry.value))
    }
    return found
  }

  private func isDeclared(_ name: String) -> Bool { keys.contains { $0.name == name || $0.alias == name } }

  private func reportUnknown(
    _ entry: YAMLNode.Entry, in entries: [YAMLNode.Entry], others: [String], topic: String?, place: KeyPlace?,
    _ reading: inout Reading
  ) {
    var legal: [String] = []
    for name in names + others where !legal.contains(name) && !entries.contains(where: { $0.key == name }) {
      legal.append(name)
    }
    let message = "\(name) has no key '\(YAMLNode.abbreviated(entry.key))'"
    let hint =
      Self.joined(entry.key, among: legal) ?? place?.hint
      ?? Suggestion.hint(for: entry.key, among: legal, noun: "its other keys")
    reading.report(
      .unknownKey, message, at: entry.keySpan, hint: hint,
      explain: place?.topic ?? topic ?? name.replacing(" ", with: "-"))
  }

  /// Returns advice for `network:wifi` and `at=1s`, which are plain scalars in YAML.
  private static func joined(_ text: String, among legal: [String]) -> String? {
    guard let sign = text.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return nil }
    let (key, value) = (String(text[..<sign]), text[text.index(after: sign)...])
    guard legal.contains(key), !value.isEmpty else { return nil }
    return "write \(key): \(value), with ':' and a space"
  }
}
