/// Writes nodes as YAML: long collections in block style, those that fit on a line in flow style.
struct YAMLWriter {
  private static let width = 110

  /// Returns the text of a document, with a line end.
  static func text(of root: YAMLNode) -> String {
    guard isBlock(root, indent: 0, isRoot: true) else { return flow(root) + "\n" }
    return block(root, indent: 0).joined(separator: "\n") + "\n"
  }

  // MARK: - Block style

  /// Returns whether a collection is written with one entry per line.
  static func isBlock(_ node: YAMLNode, indent: Int, isRoot: Bool = false) -> Bool {
    switch node.content {
    case .scalar: return false
    case .sequence(let items) where items.isEmpty: return false
    case .mapping(let entries) where entries.isEmpty: return false
    case .sequence, .mapping:
      switch node.style {
      case .flow, .pair: return false
      case .block: return true
      default: return isRoot || node.depth > 2 || indent + flow(node).unicodeScalars.count > width
      }
    }
  }

  /// Returns the lines of a collection in block style; the first comes without its indentation.
  static func block(_ node: YAMLNode, indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    func add(_ text: String) { lines.append(lines.isEmpty ? text : margin + text) }
    switch node.content {
    case .scalar: add(flow(node))
    case .sequence(let items):
      for item in items {
        guard isBlock(item, indent: indent + 2) else {
          add("- " + flow(item, isInFlow: false))
          continue
        }
        let inner = block(item, indent: indent + 2)
        add("- " + inner[0])
        lines += inner.dropFirst()
      }
    case .mapping(let entries):
      for entry in entries {
        let own = self.entry(entry.key, entry.value, indent: indent)
        add(own[0])
        lines += own.dropFirst()
      }
    }
    return lines
  }

  /// Returns the lines of one entry of a mapping in block style; the first comes without its indentation.
  static func entry(_ key: String, _ value: YAMLNode, indent: Int) -> [String] {
    let name = self.key(key, isInFlow: false)
    guard isBlock(value, indent: indent + name.unicodeScalars.count + 2) else {
      return [name + ": " + flow(value, isInFlow: false)]
    }
    let inner = block(value, indent: indent + 2)
    return [name + ":", String(repeating: " ", count: indent + 2) + inner[0]] + inner.dropFirst()
  }

  // MARK: - Flow style

  /// Returns a node on one line.
  ///
  /// - Parameter isInFlow: whether the node is within brackets.
  static func flow(_ node: YAMLNode, isInFlow: Bool = false) -> String {
    switch node.content {
    case .scalar(let scalar): return self.scalar(scalar, style: node.style, isInFlow: isInFlow)
    case .sequence(let items):
      return "[" + items.map { flow($0, isInFlow: true) }.joined(separator: ", ") + "]"
    case .mapping(let entries):
      guard !entries.isEmpty else { return "{}" }
      return "{ "
        + entries.map { key($0.key, isInFlow: true) + ": " + flow($0.value, isInFlow: true) }.joined(separator: ", ")
        + " }"
    }
  }

  static func key(_ name: String, isInFlow: Bool) -> String {
    let isYAML11 = YAMLParser.yaml11Words.contains(name.lowercased())
    return isYAML11 || !isPlain(name, isInFlow: isInFlow) ? quoted(name) : name
  }

  private static func scalar(_ scalar: YAMLScalar, style: YAMLNode.Style, isInFlow: Bool) -> String {
    if scalar.coreType == .null { return "~" }
    if scalar.isPlain, isPlain(scalar.text, isInFlow: isInFlow) { return scalar.text }
    if style == .singleQuoted, scalar.text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && isPrintable($0) }) {
      return "'" + scalar.text.replacing("'", with: "''") + "'"
    }
    return quoted(scalar.text)
  }

  /// Returns whether a text can be a plain scalar, of any type.
  static func isPlain(_ text: String, isInFlow: Bool) -> Bool {
    let scalars = Array(text.unicodeScalars)
    guard let first = scalars.first, let last = scalars.last, first != " ", last != " ", last != ":" else {
      return false
    }
    if first == "-" { guard scalars.count > 1, scalars[1] != " " else { return false } }
    guard !"?:,[]{}#&*!|>'\"%@`".unicodeScalars.contains(first), !text.hasPrefix("---"), !text.hasPrefix("...") else {
      return false
    }
    for (index, scalar) in scalars.enumerated() {
      guard scalar.value >= 0x20, isPrintable(scalar) else { return false }
      if isInFlow, ",[]{}".unicodeScalars.contains(scalar) { return false }
      let next = index + 1 < scalars.count ? scalars[index + 1] : " "
      if scalar == ":", next == " " || (isInFlow && ",?[]{}".unicodeScalars.contains(next)) { return false }
      if scalar == " ", next == "#" { return false }
    }
    return true
  }

  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool { !YAMLReader.isForbidden(scalar) }

  /// Returns a text in double quotes, on one line.
  static func quoted(_ text: String) -> String {
    var out = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case "\r": out += "\\r"
      case "\t": out += "\\t"
      case _ where isPrintable(scalar): out.unicodeScalars.append(scalar)
      default:
        let number = String(scalar.value, radix: 16, uppercase: true)
        let (letter, width) = scalar.value < 0x100 ? ("x", 2) : ("u", 4)
        out += "\\" + letter + String(repeating: "0", count: max(0, width - number.count)) + number
      }
    }
    return out + "\""
  }
}

extension YAMLNode {
  /// The number of nested collections, including this one.
  fileprivate var depth: Int {
    switch content {
    case .scalar: 0
    case .sequence(let items): 1 + (items.map(\.depth).max() ?? 0)
    case .mapping(let entries): 1 + (entries.map(\.value.depth).max() ?? 0)
    }
  }
}

// MARK: - Nodes without a text

extension YAMLNode {
  /// Returns a plain scalar.
  static func plain(_ text: String) -> YAMLNode {
    YAMLNode(content: .scalar(YAMLScalar(text: text, isPlain: true)), span: .builtIn)
  }

  /// Returns a text, in quotes if a plain scalar would have another type.
  static func text(_ text: String) -> YAMLNode {
    let isPlain = YAMLScalar(text: text, isPlain: true).coreType == .text
    return YAMLNode(content: .scalar(YAMLScalar(text: text, isPlain: isPlain)), span: .builtIn)
  }

  static func list(_ items: [YAMLNode]) -> YAMLNode { YAMLNode(content: .sequence(items), span: .builtIn) }

  static func mapping(_ entries: [(key: String, value: YAMLNode)]) -> YAMLNode {
    YAMLNode(
      content: .mapping(entries.map { Entry(key: $0.key, keySpan: .builtIn, value: $0.value) }), span: .builtIn)
  }

  /// Creates a text in quotes.
  init(quoting text: String) {
    self.init(content: .scalar(YAMLScalar(text: text, isPlain: false)), span: .builtIn)
  }
}
