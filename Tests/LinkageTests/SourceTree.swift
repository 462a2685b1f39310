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
  /// The modules the file imports, with the line of each.
  var imports: [(module: String, line: Int)] {
    lines.enumerated().compactMap { index, line in
      guard
        let match = line.firstMatch(
          of:
            /^\s*(?:@\w+\s+|public\s+|package\s+|internal\s+|private\s+)*import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+)/
        )
      else { return nil }
      return (String(match.1), index + 1)
    }
  }

  /// The lines without comments and without the insides of string literals.
  var code: [String] {
    lines.map { line in
      line.replacing(/"(?:\\.|[^"\\])*"/, with: "\"\"").replacing(/\/\/.*$/, with: "")
    }
  }
}
