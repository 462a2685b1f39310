import Foundation
import Testing

/// Kinds of trace events are declared in `Sources/CallCore/Trace/Schema`. Whoever writes or reads one goes by its declaration:
/// no other source has its name as text, makes a kind of its own or reads fields by their places.
@Suite struct TraceSchemaTests {
  /// Declarations of what scenarios may name. TraceCoverageTests holds that each of those names is a kind.
  private static let vocabularies = [
    "Sources/Vocabulary/CommonVocabulary.swift", "Sources/Scenarios/Format/Reading/ProfileRegistry.swift",
  ]
  private static let schema = "Sources/CallCore/Trace/"

  @Test func `kinds are named and read by their declarations alone`() throws {
    let files = SourceTree("Sources").files
    let names = try Self.kinds(declaredIn: files.filter { $0.path.hasPrefix(Self.schema) })
    #expect(names.count > 80, "\(names.sorted())")
    for file in files where !file.path.hasPrefix(Self.schema) && !Self.vocabularies.contains(file.path) {
      for hit in Self.hits(of: names, in: file) { Issue.record("\(hit)") }
    }
  }

  @Test func `the check finds what it looks for`() throws {
    let schema = SourceTree.File(
      path: "x",
      lines: [
        #"static let left = TraceEvent("#, #"  "peer.left", ("why", String.self))"#, #"static let up = state("up")"#,
        #"static let port = selected("port")"#, #"TraceEvent("selected.\(end).port", ("value", Int.self))"#,
      ])
    let names = try Self.kinds(declaredIn: [schema])
    #expect(names == ["peer.left", "up", "selected.port"])
    let file = SourceTree.File(
      path: "x",
      lines: [
        #"if name == "peer.left" {"#, #"print("peer.left came")"#, #"// "peer.left""#, #"let up = json["up"]"#,
        #"watch.slot(peer, "up")"#, "watch.slot(peer, PeerEvents.up)", #"trace.kind(named: "up")"#,
        #"let event = TraceEvent("new")"#, "let bytes = record.values[1]",
        #"PeerEvents.value("call.reason", Int.self)"#,
        #"case "selected.local.port": 1"#, #"PeerEvents.value(name, Int.self)"#,
      ])
    #expect(Self.hits(of: names, in: file) == [1, 5, 7, 8, 9, 10, 11].map { "x:\($0)" })
  }

  /// The names in the schema. Where a part of one is filled in, it is left to ``isSelection(_:)``.
  private static func kinds(declaredIn files: [SourceTree.File]) throws -> Set<String> {
    let text = files.flatMap(\.lines).joined(separator: "\n")
    let pattern = try Regex(
      #"\b(TraceEvent|state|selected|value|note|sample)\(\s*"([^"\\]+)""#, as: (Substring, Substring, Substring).self)
    return Set(
      text.matches(of: pattern).map { $0.output.1 == "selected" ? "selected.\($0.output.2)" : String($0.output.2) })
  }

  private static func isSelection(_ word: String) -> Bool {
    word.hasPrefix("selected.local.") || word.hasPrefix("selected.remote.")
  }

  private static func hits(of names: Set<String>, in file: SourceTree.File) -> [String] {
    file.lines.indices.filter { index in
      let line = file.lines[index]
      guard let code = line.components(separatedBy: "//").first, !code.isEmpty else { return false }
      if strstr(code, "record.values") != nil { return true }
      guard strstr(code, "\"") != nil else { return false }
      let parts = code.components(separatedBy: "\"")
      let literals = stride(from: 1, to: parts.count, by: 2).map { parts[$0] }
      // A word without a dot means other things, too; what asks for a kind by it is found below.
      if literals.contains(where: { isSelection($0) || ($0.contains(".") && names.contains($0)) }) { return true }
      let slot = code.range(of: ".slot(").map { code[$0.upperBound...] }
      return makers.contains { strstr(code, $0) != nil } || slot?.contains(", \"") == true
    }.map { "\(file.path):\($0 + 1)" }
  }

  /// What takes the name of a kind, with a literal.
  private static let makers = [
    "TraceEvent(\"", "kind(named: \"", "Events.value(\"", "Events.state(\"", "Events.note(\"", "Events.sample(\"",
  ]
}
