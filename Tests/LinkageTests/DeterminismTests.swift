import Foundation
import Testing

/// What would make two runs of one seed differ, looked for in the sources that run inside a simulation.
@Suite struct DeterminismTests {
  /// Places that may use what is otherwise forbidden, each with its reason. The list may only shrink: an entry that
  /// nothing needs any more fails the test.
  private static let allowed: [(path: String, text: String, why: String)] = []

  private static let folders = ["Sources/CallCore", "Sources/CallStack", "Sources/SimNet"]

  private static var forbidden: [(pattern: Regex<Substring>, what: String)] {
    [
      (/\b(?:Date|DispatchTime|NSDate)\s*\(/, "reads the machine's clock"),
      (/\b(?:ContinuousClock|SuspendingClock|ProcessInfo|DispatchQueue)\b/, "reads the machine's clock"),
      (
        /\b(?:clock_gettime|gettimeofday|mach_absolute_time|getenv|usleep|nanosleep)\s*\(/,
        "reads or waits for the machine"
      ),
      (
        /\b(?:SystemRandomNumberGenerator|arc4random\w*|getrandom|getentropy|drand48)\b/,
        "asks the system for randomness"
      ),
      (/\.random\((?!.*using:)/, "asks the system for randomness"),
      (/\.(?:shuffle|shuffled|randomElement)\(\)/, "asks the system for randomness"),
      (/\bTask\s*(?:\.detached\s*)?\{|\bTask\.sleep\b|\basync let\b/, "lets the system schedule"),
      (/\bHasher\s*\(|\.hashValue\b/, "hashes with the process's seed"),
      (/\bThread\b|\bpthread_create\b/, "lets the system schedule"),
    ]
  }

  private struct Hit: CustomStringConvertible {
    let path: String
    let line: Int
    let text: String
    let what: String
    var description: String { "\(path):\(line): \(what): \(text)" }
  }

  @Test func `nothing inside a simulation depends on the machine or on the order of hashing`() {
    var used = Set<Int>()
    for folder in Self.folders {
      for file in SourceTree(folder).files {
        for hit in Self.hits(in: file) {
          if let index = Self.allowed.firstIndex(where: { $0.path == hit.path && hit.text.contains($0.text) }) {
            used.insert(index)
          } else {
            Issue.record("\(hit)")
          }
        }
      }
    }
    for (index, entry) in Self.allowed.enumerated() where !used.contains(index) {
      Issue.record("\(entry.path) no longer needs its exception for '\(entry.text)': take it off the list")
    }
  }

  @Test func `the check finds what it looks for`() {
    let lines = [
      "var table: [String: Int] = [:]", "var names = Set<String>()", "for (key, value) in table {",
      "table.values.map { $0 }",
      "names.forEach { print($0) }", "let n = Int.random(in: 0..<5)", "let m = Int.random(in: 0..<5, using: &stream)",
      "// Date() in a comment", "let s = \"Date()\"", "let now = ContinuousClock.now", "table[key] = 1",
      "for x in list {",
    ]
    let hits = Self.hits(in: SourceTree.File(path: "x", lines: lines)).map(\.line)
    #expect(hits == [3, 4, 5, 6, 10])
  }

  private static func hits(in file: SourceTree.File) -> [Hit] {
    let code = file.code
    var hits: [Hit] = []
    let hashed = hashedNames(in: code)
    for (index, line) in code.enumerated() {
      let text = file.lines[index].trimmingCharacters(in: .whitespaces)
      // By default `\b` follows Unicode, where no word ends between `ContinuousClock` and `.now`.
      for (pattern, what) in forbidden where line.contains(pattern.wordBoundaryKind(.simple)) {
        hits.append(Hit(path: file.path, line: index + 1, text: text, what: what))
      }
      for name in hashed where iterates(line, name) {
        hits.append(
          Hit(path: file.path, line: index + 1, text: text, what: "follows the order of hashing of '\(name)'"))
      }
    }
    return hits
  }

  /// Names that a file declares as a dictionary or set.
  private static func hashedNames(in code: [String]) -> Set<String> {
    var names: Set<String> = []
    for line in code {
      let patterns: [Regex<(Substring, Substring)>] = [
        /\b(?:var|let)\s+(\w+)\s*:\s*\[[\w.]+\s*:\s*[^\]]+\]/,
        /\b(?:var|let)\s+(\w+)\s*(?::\s*|=\s*)(?:Set|Dictionary)</,
        /\b(?:var|let)\s+(\w+)\s*=\s*\[[\w.]+\s*:\s*[^\]]+\]\(\)/,
      ]
      for pattern in patterns { for match in line.matches(of: pattern) { names.insert(String(match.1)) } }
    }
    return names
  }

  private static func iterates(_ line: String, _ name: String) -> Bool {
    let uses = [
      "in \(name) {", "in \(name) where", "in self.\(name) {", "\(name).keys", "\(name).values", "\(name).map",
      "\(name).filter",
      "\(name).forEach", "\(name).compactMap", "\(name).flatMap", "\(name).reduce", "\(name).first", "\(name).sorted",
      "\(name).popFirst", "Array(\(name))",
    ]
    return uses.contains { use in
      guard let range = line.range(of: use) else { return false }
      guard range.lowerBound > line.startIndex else { return true }
      // Not the end of a longer name.
      let before = line[line.index(before: range.lowerBound)]
      return use.hasPrefix("in ") || !(before.isLetter || before.isNumber || before == "_")
    }
  }
}
