import Foundation

/// What the sources say of the classes of defects in the state machines of calls: which defects can be planted, and which
/// oracle finds each.
struct ClassTable {
  struct Row {
    let number: Int
    let defect: String
    let description: String
    let seenAt: String
    var oracles: [String] = []
    var proofs: [String] = []
  }

  /// The classes by number, from 1.
  static let titles = [
    "Accept in the wrong direction", "Candidates bypass their gate", "A mute that completes too late",
    "An update before the accept", "A change of the members answers the call", "Caller and callee confused",
    "The microphone opens early or stays open", "Mute lost by renegotiation", "Addresses revealed before the answer",
    "Signalling early or out of order", "Stale and replayed messages", "A message of the wrong sender",
    "Glare and recall", "Several devices of one user", "Glare of renegotiations", "A state that never ends",
    "The sides disagree", "Leak at the end", "DTLS of an unverified source", "The fingerprint is not the signalled one",
    "Forged and replayed media", "ICE: roles, generations, consent", "TURN: nonces and lifetimes",
    "NAT mappings that change", "A trap in a parser", "Resources without bound", "Wrong statistics",
    "Hidden nondeterminism",
  ]

  /// Classes of which a bug pattern (docs/bug-patterns.md) is an instance, with its planted defects.
  static let patterns: [(number: Int, defects: [String])] = [
    (15, ["rolledBackRestartStands", "rollbackKeepsMid"]),
    (19, ["earlyHelloDropped", "earlyFragmentDropped"]),
    (21, ["receptionCountedBeforeAuthentication", "rolloverForgottenOnPathChange", "oldNumberUnderNewRollover"]),
    (22, ["roleConflictIgnored", "retiredCandidateAccepted", "consentRunsFromRequest", "consentOutlivesSuspension"]),
    (23, ["staleNonceFailsRefresh", "staleNonceFailsPermission", "permissionRefreshedTooLate", "lostAllocationKept"]),
    (24, ["mappedPortNotFollowed", "restartReusesDeadSockets"]),
    (26, ["pairLimitDropsBest", "hugeGapRequested", "nackFasterThanRoundTrip"]),
    (27, ["staleSenderReportBelieved", "lateArrivalNotTold"]),
  ]

  /// Classes without a planted defect, and what they wait for.
  static let waiting: [(number: Int, why: String)] = [(14, "several devices of one user")]

  private(set) var rows: [Row]

  init() throws {
    rows = try PatternTable.comments().compactMap { name, comment in
      guard let parts = comment.wholeMatch(of: /class (\d+): (.*) \((.*)\)\./), let number = Int(parts.1) else {
        return nil
      }
      return Row(number: number, defect: name, description: String(parts.2), seenAt: String(parts.3))
    }
    for (test, body) in try PatternTable.tests(named: /class \d+ - ./) {
      for index in rows.indices where body.contains(try Regex("\\.\(rows[index].defect)\\b")) {
        rows[index].proofs.append(test)
        if let oracle = Self.oracle(in: body), !rows[index].oracles.contains(oracle) {
          rows[index].oracles.append(oracle)
        }
      }
    }
  }

  /// Returns the oracle by which a test finds its defect; nil if it only shows when nothing is found.
  private static func oracle(in test: String) -> String? {
    if let invariant = test.firstMatch(of: /breaks: "([^"]+)"/) { return "`\(invariant.1)`" }
    if test.contains("processExitsWith") { return "`no-trap`" }
    if test.contains("traceHash") { return "`--check-determinism`" }
    return test.contains("try proves(") ? "its test" : nil
  }

  /// The page's own copy of the table.
  static func page() throws -> String { try PatternTable.read("docs/defect-classes.md") }

  /// The table in Markdown: by class, a line for each defect.
  var markdown: String {
    var lines = ["| | Class | Planted defect | Oracle | Seen at |", "|--:|---|---|---|---|"]
    for (index, title) in Self.titles.enumerated() {
      let number = index + 1
      let entries =
        rows.filter { $0.number == number }.map {
          "\($0.description) (`\($0.defect)`) | \($0.oracles.joined(separator: ", ")) | \($0.seenAt)"
        }
        + Self.patterns.filter { $0.number == number }.map {
          "as a bug pattern: \($0.defects.map { "`\($0)`" }.joined(separator: ", ")) | [its test](bug-patterns.md) |"
        }
        + Self.waiting.filter { $0.number == number }.map { "| | *waits for \($0.why)*" }
      for (position, entry) in entries.enumerated() {
        lines.append(position == 0 ? "| \(number) | \(title) | \(entry) |" : "| | | \(entry) |")
      }
    }
    return lines.joined(separator: "\n")
  }

  /// The products besides Knotos, in the order of the page's columns.
  static let products = ["ConnectyCube", "Twilio", "Vonage"]

  /// Returns what the tests of a product prove, as `class defect`.
  static func planted(in product: String) throws -> [String] {
    let tests = try PatternTable.read("Tests/BugPatternTests/Classes/\(product)ClassTests.swift")
    return tests.components(separatedBy: "@Test").dropFirst().map { test in
      let number = test.firstMatch(of: /func `class (\d+) -/)?.1
      let defect = test.firstMatch(of: /(?:proves\(\s*|ofProcess = )\.(\w+)/)?.1
      return "\(number ?? "") \(defect ?? "")"
    }
  }

  /// Returns what the page's table of products shows of one, as `class defect`.
  static func shown(of product: String) throws -> [String] {
    let column = (products.firstIndex(of: product) ?? 0) + 2
    let sections = try page().components(separatedBy: "\n## ")
    let section = sections.first { $0.hasPrefix("In the other products") } ?? ""
    return section.split(separator: "\n").compactMap { line in
      let cells = line.dropFirst().split(separator: "|", omittingEmptySubsequences: false)
      guard cells.count == products.count + 3, let number = Int(cells[0].filter(\.isNumber)),
        let defect = cells[column].firstMatch(of: /`(\w+)`/)?.1
      else { return nil }
      return "\(number) \(defect)"
    }
  }
}
