import Foundation

/// What the sources say of the patterns: which defects can be planted, and which test finds each.
struct PatternTable {
  struct Row {
    let pattern: Int
    let defect: String
    let description: String
    let seenAt: String
    var proofs: [String] = []
  }

  /// The patterns by number, from 1.
  static let titles = [
    "Both control or neither does, after glare", "Only a peer-reflexive pair is good",
    "A pair or candidate learnt late is out of place", "The mapped address is not the base",
    "The sides name one path differently", "Aggressive nomination leads to two pairs",
    "No fail-over once connected", "The end of candidates never comes", "Failed too early",
    "Trickled before the description", "The old generation after a restart", "Credentials in a restart",
    "Glare and rollback of a restart", "A restart on dead sockets", "Consent and lost replies",
    "Suspend and resume", "Wi-Fi to LTE and back", "A NAT that rebinds under keepalive",
    "One NAT without hairpin", "A name that does not resolve", "ICE-lite, and crowds of pairs",
    "438 on each request", "Permissions and channels lapse", "A channel bound again too soon",
    "437 while the old allocation lives", "Allocate repeated, server restarted", "DTLS flights lost early",
    "DTLS's last flight lost", "A ClientHello in fragments", "DTLS roles", "ClientHello before the answer",
    "SRTP begins just before the wrap", "The rollover counter is kept wrongly",
    "Forged and replayed packets move state", "NACK storms", "Key-frame storms", "Transport-wide feedback",
    "Bandwidth estimate without bound", "Playout stuck, deep or empty", "Stale sender reports",
    "VP8 picture identifiers", "Which section a packet belongs to", "Path MTU below 1200",
    "Sections omitted, reordered, recycled", "Rollback leaves traces", "Payload types change their meaning",
  ]

  /// What is not proved yet, and what it waits for.
  static let waiting: [(pattern: Int, what: String, why: String)] = []

  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private(set) var rows: [Row]

  init() throws {
    rows = try Self.comments().compactMap { name, comment in
      guard let parts = comment.wholeMatch(of: /(\d+): (.*) \((.*)\)\./), let number = Int(parts.1) else { return nil }
      return Row(pattern: number, defect: name, description: String(parts.2), seenAt: String(parts.3))
    }
    for (test, body) in try Self.tests() {
      for index in rows.indices where body.contains(try Regex("\\.\(rows[index].defect)\\b")) {
        let scenario = body.firstMatch(of: /by: "([^"]+)"/).map { "scenario `\($0.1)`" }
        rows[index].proofs.append(scenario ?? "“\(test)”")
      }
    }
  }

  /// Every declared defect with its comment, in the order of the source.
  static func comments() throws -> [(defect: String, comment: String)] {
    try read("Sources/CallCore/Defect.swift").matches(
      of: /(?<comment>(?:    \/\/\/ [^\n]*\n)+)    case (?<name>\w+)\n/
    ).map { match in
      let lines = match.comment.split(separator: "\n").map { $0.trimmingPrefix("    /// ") }
      return (String(match.name), lines.joined(separator: " "))
    }
  }

  /// Every test of this target with a prefix such as `02 - ` in its name, and its text with attributes and body.
  static func tests(
    named prefix: Regex<Substring> = /\d\d - ./
  ) throws -> [(name: String, text: String)] {
    let names = FileManager.default.enumerator(atPath: root.appending(path: "Tests/BugPatternTests").path)
    let files = (names?.compactMap { $0 as? String } ?? []).filter { $0.hasSuffix("Tests.swift") }.sorted()
    return try files.flatMap { file in
      try read("Tests/BugPatternTests/\(file)").components(separatedBy: "@Test").dropFirst().compactMap { text in
        guard let name = text.firstMatch(of: /func `([^`]+)`/)?.1, name.prefixMatch(of: prefix) != nil else {
          return nil
        }
        return (String(name), text)
      }
    }
  }

  static func read(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  /// The page's own copy of the table.
  static func page() throws -> String { try read("docs/bug-patterns.md") }

  /// The table in Markdown: by pattern, a line for each defect and for each thing that waits.
  var markdown: String {
    var lines = ["| | Pattern | Planted defect | Seen at | Found by |", "|--:|---|---|---|---|"]
    for (index, title) in Self.titles.enumerated() {
      let entries =
        rows.filter { $0.pattern == index + 1 }.map {
          "\($0.description) (`\($0.defect)`) | \($0.seenAt) | \($0.proofs.joined(separator: "; "))"
        } + Self.waiting.filter { $0.pattern == index + 1 }.map { "*\($0.what)* | | *waits for \($0.why)*" }
      for (position, entry) in entries.enumerated() {
        lines.append(position == 0 ? "| \(index + 1) | \(title) | \(entry) |" : "| | | \(entry) |")
      }
    }
    return lines.joined(separator: "\n")
  }
}
