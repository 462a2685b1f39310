import CallCore

/// Replaces `${name}` by the values of `vars` and `matrix`.
struct Substitution {
  private static let untouched = ["vars", "matrix", "compare"]
  /// Keys without an effect on a run: a variable that appears only there is not used.
  private static let forPeople = ["title", "why"]
  /// The list whose items may have a condition on variables.
  private static let conditional = "expect"

  /// Returns the root of a file with every `${name}` replaced, except in the declarations of variables.
  static func root(_ node: YAMLNode, _ reading: inout Reading) -> YAMLNode {
    guard let entries = node.entries else { return self.node(node, &reading) }
    var copy = node
    copy.content = .mapping(
      entries.map { entry in
        guard !untouched.contains(entry.key) else { return entry }
        return self.entry(entry, in: nil, &reading)
      })
    return copy
  }

  /// Returns a node with every `${name}` replaced.
  ///
  /// - Parameter owner: the key of the node, or of the list that contains it.
  static func node(_ node: YAMLNode, in owner: String? = nil, _ reading: inout Reading) -> YAMLNode {
    reading.valueCount += 1
    // Beyond the limit nothing is decoded; ScenarioLoader reports it.
    guard !reading.hasTooManyValues else { return node }
    var copy = node
    switch node.content {
    case .scalar(let scalar):
      reading.valueCount += scalar.text.utf8.count / 64
      guard scalar.text.utf8.contains(UInt8(ascii: "$")) else { return node }
      copy.content = .scalar(self.scalar(scalar, in: node, &reading))
    case .sequence(let items):
      copy.content = .sequence(items.map { self.node($0, in: owner, &reading) })
    case .mapping(let entries):
      copy.content = .mapping(entries.map { self.entry($0, in: owner, &reading) })
    }
    return copy
  }

  private static func entry(_ entry: YAMLNode.Entry, in owner: String?, _ reading: inout Reading) -> YAMLNode.Entry {
    let isCondition = entry.key == "if" && owner == conditional
    guard forPeople.contains(entry.key) || isCondition else {
      return YAMLNode.Entry(
        key: entry.key, keySpan: entry.keySpan, value: node(entry.value, in: entry.key, &reading))
    }
    let (used, uses) = (reading.scope.used, reading.variableUses)
    let value = node(entry.value, in: entry.key, &reading)
    let way = isCondition ? "asked" : "shown"
    reading.variableUses = uses
    reading.scope.used = used.union(reading.scope.used.subtracting(used).map { "\(way) \($0)" })
    return YAMLNode.Entry(key: entry.key, keySpan: entry.keySpan, value: value)
  }

  private static func scalar(_ scalar: YAMLScalar, in node: YAMLNode, _ reading: inout Reading) -> YAMLScalar {
    let letters = Array(scalar.text.unicodeScalars)
    var out = String.UnicodeScalarView()
    var whole: YAMLScalar?
    var index = 0
    var names: [String] = []
    while index < letters.count {
      guard letters[index] == "$", index + 1 < letters.count, letters[index + 1] == "{" else {
        out.append(letters[index])
        index += 1
        continue
      }
      guard let close = letters[index...].firstIndex(of: "}") else {
        let span = node.span(ofLetters: index, length: letters.count - index)
        reading.report(.unknownVariable, "'${' without '}'", at: span)
        reading.unsubstituted.insert(node.span)
        return scalar
      }
      let name = String(String.UnicodeScalarView(letters[(index + 2)..<close]))
      guard let variable = reading.variables.first(where: { $0.name == name }) else {
        let span = node.span(ofLetters: index, length: close - index + 1)
        let legal = reading.variables.map(\.name)
        reading.reportUnknown(.unknownVariable, "variable", name, among: legal, at: span)
        reading.unsubstituted.insert(node.span)
        return scalar
      }
      reading.scope.used.insert("variable \(name)")
      reading.variableUses[name, default: []].insert(node.span)
      if index == 0, close == letters.count - 1 {
        whole = variable.value
        reading.wholeVariables.insert(node.span)
      }
      out.append(contentsOf: variable.value.text.unicodeScalars)
      reading.valueCount += variable.value.text.utf8.count / 64
      guard !reading.hasTooManyValues else { return scalar }
      names.append(name)
      index = close + 1
    }
    guard !names.isEmpty else { return scalar }
    reading.substitutions[node.span] = names.inOrderOfAppearance
    // A scalar that consists of one variable has the variable's type.
    var result = whole ?? YAMLScalar(text: String(out), isPlain: scalar.isPlain)
    result.positions = nil
    result.isSubstituted = true
    return result
  }
}
