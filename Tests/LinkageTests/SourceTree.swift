import Foundation

/// The sources of this package, read as text.
struct SourceTree {
  struct File {
    /// From the root of the package: `Sources/CallCore/Instant.swift`.
    let path: String
    let lines: [String]
  }

  let files: [File]

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// Every Swift file below a folder, sorted.
  init(_ folder: String) {
    let names = FileManager.default.enumerator(atPath: "\(Self.root)/\(folder)")?.compactMap { $0 as? String } ?? []
    files = names.filter { $0.hasSuffix(".swift") }.sorted().compactMap { name in
      let path = "\(folder)/\(name)"
      guard let text = try? String(contentsOfFile: "\(Self.root)/\(path)", encoding: .utf8) else { return nil }
      return File(path: path, lines: text.components(separatedBy: "\n"))
    }
  }
}

extension SourceTree.File {
  private static let modifiers: Set<Substring> = ["public", "package", "internal", "private", "fileprivate"]
  private static let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]

  /// The modules the file imports, with the line of each.
  var imports: [(module: String, line: Int)] {
    lines.enumerated().compactMap { index, line in
      guard strstr(line, "import ") != nil else { return nil }
      var words = line.split(separator: " ")[...]
      while let word = words.first, word.hasPrefix("@") || Self.modifiers.contains(word) { words = words.dropFirst() }
      guard words.first == "import" else { return nil }
      words = words.dropFirst()
      if let kind = words.first, Self.kinds.contains(kind) { words = words.dropFirst() }
      return words.first.map { (String($0.prefix { $0 != "." }), index + 1) }
    }
  }

  /// Whether a line stands between an `#if` and its `#endif`.
  func isConditional(_ line: Int) -> Bool {
    let before = lines.prefix(line - 1)
    return before.count { $0.hasPrefix("#if ") } > before.count { $0.hasPrefix("#endif") }
  }
}
