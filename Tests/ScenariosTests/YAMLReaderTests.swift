import CallCore
import Foundation
import Testing
import Yams

@testable import ScenarioFormat

/// What libyaml makes of a text: the same tree of texts, or nothing.
private enum Reference {
  static func read(_ text: String) -> YAMLTree? {
    do {
      let parser = try Parser(yaml: text, resolver: .basic, encoding: .utf8)
      guard let root = try parser.nextRoot() else { return nil }
      let tree = YAMLTree(root)
      guard try parser.nextRoot() == nil else { return nil }
      return tree
    } catch {
      return nil
    }
  }
}

extension YAMLTree {
  fileprivate init(_ node: Node) {
    switch node {
    case .scalar(let scalar): self = .text(scalar.string, isPlain: scalar.style == .plain)
    case .sequence(let items): self = .list(items.map { YAMLTree($0) })
    case .mapping(let entries):
      self = .mapping(entries.map { YAMLTree.Entry($0.key.string ?? "?", YAMLTree($0.value)) })
    case .alias: self = .text("*", isPlain: true)
    }
  }
}

/// A node without its places.
indirect enum YAMLTree: Equatable {
  struct Entry: Equatable {
    var key: String
    var value: YAMLTree
    init(_ key: String, _ value: YAMLTree) { (self.key, self.value) = (key, value) }
  }

  case text(String, isPlain: Bool)
  case list([YAMLTree])
  case mapping([Entry])

  init(_ node: YAMLNode) {
    switch node.content {
    case .scalar(let scalar): self = .text(scalar.text, isPlain: scalar.isPlain)
    case .sequence(let items): self = .list(items.map { YAMLTree($0) })
    case .mapping(let entries): self = .mapping(entries.map { Entry($0.key, YAMLTree($0.value)) })
    }
  }
}

@Suite struct `The reader of YAML and libyaml` {
  static func read(_ text: String) -> (tree: YAMLTree?, diagnostics: [Diagnostic]) {
    var sources = SourceMap()
    var diagnostics: [Diagnostic] = []
    let node = YAMLReader.read(
      Array(text.utf8), path: "t.yaml", usedFrom: nil, into: &sources, diagnostics: &diagnostics)
    return (diagnostics.isEmpty ? node.map { YAMLTree($0) } : nil, diagnostics)
  }

  /// Whether the reader refuses a text for something that YAML has and the format has not.
  private static func isForbidden(_ problem: Diagnostic) -> Bool {
    switch problem.code {
    case .syntax: problem.message.hasPrefix("directives") || problem.message.contains("U+")
    default: ![.tabIndentation, .notUTF8].contains(problem.code)
    }
  }

  /// - Returns: whether both have accepted it.
  @discardableResult
  static func compare(_ text: String, _ place: SourceLocation = #_sourceLocation) -> Bool {
    // The library holds on to the bytes of short texts, which move.
    let text = text.utf8.count < 16 ? text + "\n# " + String(repeating: "-", count: 16) : text
    let (ours, problems) = read(text)
    let theirs = text.unicodeScalars.contains("\u{FEFF}") ? nil : Reference.read(text)
    if let ours {
      #expect(theirs == ours, "\(text.debugDescription)", sourceLocation: place)
    } else if theirs != nil {
      #expect(problems.contains(where: isForbidden), "\(text.debugDescription): \(problems)", sourceLocation: place)
    }
    return ours != nil && theirs != nil
  }

  private static let files: [String] = {
    let folders = ["scenarios", "Tests/ScenariosTests/Valid", "Tests/ScenariosTests/Broken"]
    return folders.flatMap { folder in
      (FileManager.default.subpaths(atPath: FormatTest.folder + "../../" + folder) ?? []).sorted()
        .filter { $0.hasSuffix(".yaml") }.map { folder + "/" + $0 }
    }
  }()

  private static func text(_ file: String) -> String? {
    FileManager.default.contents(atPath: FormatTest.folder + "../../" + file).flatMap {
      String(validating: $0, as: UTF8.self)
    }
  }

  @Test func `agree on every file there is`() {
    #expect(Self.files.count > 200)
    let count = Self.files.compactMap(Self.text).count { Self.compare($0) }
    #expect(count > 150)
  }

  @Test(arguments: [
    "a", "- a\n- b", "a: b", "a:\n- b\n- c\nd: e", "- - a\n  - b\n- c", "- a: b\n  c: d\n-\n  e: f\n- ", "a:\nb:\n",
    "a: b\n c\n\n d\n", "a: 'it''s'\nb: \"x\\ty\\x41\\u00e9\\\n   z\"\n", "a: 'x\n\n  y\n z'",
    "a: |\n  x\n   y\n\n  z\n\nb: c",
    "a: >\n  x\n  y\n\n  z\n   w\n  v\n", "a: |-\n x\n\n", "a: |+\n x\n\n\nb: c", "a: |2\n   x\n  y\n",
    "- |\n x\n- >-\n y\n",
    "{a: b, c: [d, {e: f}], }", "[a, [b], {c}, d: e]", "{a, b: , \"c\":d}", "# x\na: b # y\n  # z\nc: d\n", "--- a",
    "---\na: b\n...\n", "a: b\n---\n", "a:b: c", "a: b:c", "a: http://x/y?z#w", "a: -1\nb: ?x\nc: :y", "? a\n: b",
    "a: {b: c\n, d: e}\n", "a: [b,\nc]", "a: b: c", "a: - b", "- a\nb", "a\nb: c", " a: b\n c: d", "a: b\n c: d",
    "\ta: b",
    "a:\tb", "a: b\t# c", "a: \"b\" c", "a: [b] c", "a: [b", "a: {b", "a: ]", "a: 'b", "a: \"\\q\"", "a: \"\\uD800\"",
    "a: |x\n y", "a: |0\n y", "a: &b c", "a: *b", "a: !b c", "%YAML 1.2\n---\na", "a: @b", "a: `b", "a: %b",
    "a: b\r\nc: d\re: f",
    "'a': b\n\"c\": d\n", "{'a':b}", "[?a]", "[a:]", "{a:}", "[a: , b]", "{a: [}", "- a\n - b\n- c", "a:\n  - b\n - c",
    "a:\n    b: c\n  d: e", "~", "null: ~", "", "# only", "a: \"x\n  y\"\n", "a:\n  \"b\n c\": d", "[a\nb: c]",
    "- [a, b]: c",
    "a: >\n\n\n  x\n\n\n", "a: |\n\n", "a: |", "- |", "|", "a: |\n\tx", "a: x\n\ty", "\"a\" \"b\"", "a: b\n...\nc: d",
    "- # x\n  a",
    "-\n- a", "- \n\n  - a", "a:   # x\n  b", "a: b#c #d", "[a # b\n, c]", "[a, # b\nc]", "a: é\nü: 😀", "[,]", "[a,,b]",
    "{,}", "{a: b,, }",
    "a: '\n---\n'", "a: \"x\\\n\\  y\"", "'a\n b': c", "? [a]\n: b", ": a", "[: a]", "{: a}", "-a", "--- |\n x",
    "--- a: b", "a: !!str\nb: c",
  ]) func `agree on what a text means`(_ text: String) { Self.compare(text) }

  private static let soup = [
    "a", "b1", "key", " ", " ", "  ", "    ", "\n", "\n", "\n  ", "\n    ", "\n- ", "\n  - ", ": ", ": ", ":", "- ",
    "-", ", ", ",", "[",
    "]", "{", "}", "'", "\"", "|", ">", "|-\n  ", ">+\n ", "# c", " # c\n", "?", "? ", "&a ", "*a", "!t ", "\\", "\\n",
    "\t", "---", "---\n",
    "...\n", "''", "\"x\"", "é", "\r\n", "~", "%", "@", "0", "x: y\n",
  ]

  @Test(arguments: 1...8) func `agree on anything that may be a text`(_ seed: UInt64) {
    var random = RandomSource(seed: seed).stream("yaml/soup")
    var accepted = 0
    for _ in 0..<4_000 {
      let count = 1 + Int(random.uniform(below: 14))
      let text = (0..<count).map { _ in Self.soup[Int(random.uniform(below: UInt64(Self.soup.count)))] }.joined()
      if Self.compare(text) { accepted += 1 }
    }
    #expect(accepted > 200)
  }

  @Test(arguments: 1...4) func `agree on files with mistakes`(_ seed: UInt64) {
    var random = RandomSource(seed: seed).stream("yaml/mistakes")
    let texts = Self.files.compactMap(Self.text).filter { $0.utf8.count < 6_000 }
    for _ in 0..<800 {
      var scalars = Array(texts[Int(random.uniform(below: UInt64(texts.count)))].unicodeScalars)
      for _ in 0...Int(random.uniform(below: 3)) where !scalars.isEmpty {
        let at = Int(random.uniform(below: UInt64(scalars.count)))
        let piece = Array(Self.soup[Int(random.uniform(below: UInt64(Self.soup.count)))].unicodeScalars)
        switch random.uniform(below: 4) {
        case 0: scalars.replaceSubrange(at..<(at + 1), with: piece)
        case 1: scalars.insert(contentsOf: piece, at: at)
        case 2: scalars.removeSubrange(at..<min(scalars.count, at + 1 + Int(random.uniform(below: 8))))
        default: scalars.removeSubrange(at...)
        }
      }
      Self.compare(String(String.UnicodeScalarView(scalars)))
    }
  }
}
