import Foundation
import Testing

@testable import ScenarioFormat

@Suite struct `Files that are wrong` {
  static let folder = FormatTest.folder + "Broken/"
  static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    .filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }.sorted()

  static func load(_ name: String) -> ScenarioFile.Result {
    let bytes = FileManager.default.contents(atPath: folder + name + ".yaml").map { Array($0) } ?? []
    return ScenarioFile.load(
      bytes: bytes, path: name + ".yaml", registry: FormatTest.registry,
      reader: { path in FileManager.default.contents(atPath: folder + path).map { Array($0) } })
  }

  @Test func `there are enough broken files`() {
    #expect(Self.names.count >= 30)
  }

  /// `CALLSIM_RECORD=1` writes what is printed now; read the difference before keeping it.
  @Test(arguments: names) func `a broken file is explained exactly so`(_ name: String) throws {
    let text = FormatTest.text(Self.load(name))
    let golden = Self.folder + name + ".txt"
    if ProcessInfo.processInfo.environment["CALLSIM_RECORD"] != nil {
      try text.write(toFile: golden, atomically: true, encoding: .utf8)
    }
    let expected = try String(contentsOfFile: golden, encoding: .utf8)
    #expect(text == expected)
    #expect(!text.isEmpty)
  }

  @Test func `every code is explained and most are shown by a broken file`() {
    let seen = Set(Self.names.flatMap { Self.load($0).diagnostics.map(\.code) })
    let unseen = DiagnosticCode.allCases.filter { !seen.contains($0) }.map(\.rawValue)
    // Keys that are no scalars are tested with other odd bytes, ambiguous names with several profiles, and fields of
    // messages with a profile that declares some.
    #expect(Set(unseen).isSubset(of: ["E111", "E231", "W417"]))
    #expect(DiagnosticCode.allCases.allSatisfy { !$0.explanation.isEmpty })
  }

  @Test func `a file with errors has no scenario and one with warnings has`() {
    #expect(Self.load("units").scenario == nil)
    #expect(Self.load("nothing-expected").scenario != nil)
  }

  @Test func `at most twenty problems are shown and the rest is counted`() {
    let result = Self.load("too-many")
    #expect(result.diagnostics.count == 30)
    #expect(FormatTest.text(result).hasSuffix("and 7 more, once these are mended or with --format json\n"))
  }

  @Test func `github annotations name file, line and column`() {
    let text = Self.load("unknown-fault").report.rendered(as: .github)
    #expect(
      text == "::error file=unknown-fault.yaml,line=9,col=44,endColumn=53,title=E210"
        + "::unknown fault 'link.dwon'; did you mean 'link.down'?\n")
  }

  @Test func `json names code, place and hint`() throws {
    let text = Self.load("unknown-fault").report.rendered(as: .json)
    let parsed = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
    #expect(parsed?.first?["code"] as? String == "E210")
    #expect(parsed?.first?["line"] as? Int == 9)
    #expect(parsed?.first?["column"] as? Int == 44)
    #expect(parsed?.first?["hint"] as? String == "did you mean 'link.down'?")
  }

  @Test func `control characters of a file do not reach the terminal`() {
    let text = FormatTest.text(FormatTest.load("callsim: 1\nid: \"a\\e[31m\"\n"))
    #expect(!text.unicodeScalars.contains("\u{1B}"))
  }
}
