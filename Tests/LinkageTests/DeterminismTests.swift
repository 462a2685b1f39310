import Foundation
import Testing

/// What would make two runs of one seed differ, looked for in the sources that run inside a simulation.
@Suite struct DeterminismTests {
  /// Places that may use what is otherwise forbidden, each with its reason. The list may only shrink: an entry that
  /// nothing needs any more fails the test.
  private static let allowed: [(path: String, text: String, why: String)] = []

  private static let folders = ["Sources/CallCore", "Sources/CallStack", "Sources/SimNet"]

  /// Words that no code inside a simulation needs.
  private static let forbidden: [(words: [String], what: String)] = [
    (
      [
        "Date(", "DispatchTime", "ContinuousClock", "SuspendingClock", "ProcessInfo", "clock_gettime(", "gettimeofday(",
        "mach_absolute_time(",
      ], "reads the machine's clock"
    ),
    (["getenv", "usleep", "nanosleep"], "depends on the machine"),
    (
      [
        "SystemRandomNumberGenerator", "arc4random", "arc4random_uniform", "arc4random_buf", "getrandom", "getentropy",
        "drand48", ".shuffle()", ".shuffled()", ".randomElement()",
      ], "asks the system for randomness"
    ),
    (
      ["Task {", "Task.detached", "Task.sleep", "async let", "DispatchQueue", "pthread_create"],
      "lets the system schedule"
    ),
    (["Hasher(", ".hashValue"], "hashes with the process's seed"),
  ]

  private struct Hit: CustomStringConvertible {
    let path: String
    let line: Int
    let text: String
    let what: String
    var description: String { "\(path):\(line): \(what): \(text)" }
  }

  @Test func `nothing inside a simulation depends on the machine or on the order of hashing`() {
    var used = Set<Int>()
    for file in Self.folders.flatMap({ SourceTree($0).files }) {
      for hit in Self.hits(in: file) {
        if let index = Self.allowed.firstIndex(where: { $0.path == hit.path && hit.text.contains($0.text) }) {
          used.insert(index)
        } else {
          Issue.record("\(hit)")
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
      "table.values.map { $0 }", "names.forEach { print($0) }", "let n = Int.random(in: 0..<5)",
      "let m = Int.random(in: 0..<5, using: &stream)", "// Date() in a comment", "let s = \"Date()\"",
      "let now = ContinuousClock.now", "table[key] = 1", "for x in list {", "return table.keys.min()",
      "suitable.map { $0 }",
      "case .random(let rate): rate", "let index = [Endpoint: Int]()", "for x in index where x.value > 1 {",
      "let updated = MyDate(at: now)",
    ]
    let hits = Self.hits(in: SourceTree.File(path: "x", lines: lines)).map(\.line)
    #expect(hits == [3, 4, 5, 6, 10, 17])
  }

  private static func hits(in file: SourceTree.File) -> [Hit] {
    let code = file.lines.map(SourceLine.code)
    let hashed = Set(code.compactMap(SourceLine.hashedName(in:))).sorted()
    var hits: [Hit] = []
    for (index, line) in code.enumerated() where !line.isEmpty {
      var problems = forbidden.filter { rule in rule.words.contains { SourceLine.has($0, in: line) } }.map(\.what)
      if SourceLine.has(".random(in:", in: line), !SourceLine.has("using:", in: line) {
        problems.append("asks the system for randomness")
      }
      problems += hashed.filter { iterates(line, over: $0) }.map { "follows the order of hashing of '\($0)'" }
      let text = file.lines[index].trimmingCharacters(in: .whitespaces)
      hits += problems.map { Hit(path: file.path, line: index + 1, text: text, what: $0) }
    }
    return hits
  }

  /// What gives the members one after the other. What does not depend on the order, such as `keys.min()`, may stay.
  private static func iterates(_ line: String, over name: String) -> Bool {
    guard SourceLine.has(name, in: line) else { return false }
    let unordered = ["min()", "max()", "sorted", "count", "contains", "isEmpty"]
    let uses = ["map", "forEach", "compactMap", "flatMap", "reduce", "popFirst", "first", "randomElement"]
    if SourceLine.has("in \(name) {", in: line) || SourceLine.has("in \(name) where", in: line) { return true }
    if SourceLine.has("Array(\(name))", in: line) { return true }
    for view in ["keys", "values"] where SourceLine.has("\(name).\(view)", in: line) {
      if !unordered.contains(where: { SourceLine.has("\(name).\(view).\($0)", in: line) }) { return true }
    }
    return uses.contains { SourceLine.has("\(name).\($0)", in: line) }
  }
}

/// Reads Swift line by line, as far as these checks need it. Plain loops: there are many lines.
enum SourceLine {
  /// The line without its comment and without what its string literals say.
  static func code(_ line: String) -> String {
    guard strstr(line, "\"") != nil || strstr(line, "//") != nil else { return line }
    var out: [UInt8] = []
    var isInString = false
    var previous: UInt8 = 0
    for byte in line.utf8 {
      if byte == UInt8(ascii: "\""), previous != UInt8(ascii: "\\") {
        isInString.toggle()
      } else if !isInString {
        if byte == UInt8(ascii: "/"), previous == UInt8(ascii: "/") {
          out.removeLast()
          break
        }
        out.append(byte)
      }
      previous = byte
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Whether the words stand there and are not part of longer ones.
  static func has(_ words: String, in line: String) -> Bool {
    guard strstr(line, words) != nil else { return false }
    let (text, wanted) = (Array(line.utf8), Array(words.utf8))
    return text.indices.contains { start in
      guard text[start...].starts(with: wanted) else { return false }
      let end = start + wanted.count
      let joinsBefore = start > 0 && isWord(text[start - 1]) && isWord(wanted[0])
      let joinsAfter = end < text.count && isWord(text[end]) && isWord(wanted[wanted.count - 1])
      return !joinsBefore && !joinsAfter
    }
  }

  /// The name that the line declares as a dictionary or a set.
  static func hashedName(in line: String) -> String? {
    guard let keyword = line.range(of: "var ") ?? line.range(of: "let ") else { return nil }
    let rest = line[keyword.upperBound...]
    let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    let type = rest[name.endIndex...].drop { $0 == " " || $0 == ":" || $0 == "=" }
    guard !name.isEmpty, rest[name.endIndex...].first != "(" else { return nil }
    if type.hasPrefix("Set<") || type.hasPrefix("Dictionary<") { return String(name) }
    guard type.hasPrefix("[") else { return nil }
    // A type `[Key: Value]`, alone or made with `()`; a literal has values, not types.
    let inside = type.dropFirst().prefix { $0 != "]" && $0 != "," }
    guard let colon = inside.firstIndex(of: ":"), inside.first?.isUppercase == true else { return nil }
    return inside[..<colon].allSatisfy { $0.isLetter || $0.isNumber || $0 == "." || $0 == "_" } ? String(name) : nil
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
    default: false
    }
  }
}
