import Foundation
import Profiles
import Testing

@testable import ScenarioFormat
@testable import ScenarioRun

/// What the suite in `scenarios` is before it is played: every file is read without an error or a warning.
///
/// That its passing says something is for each run to tell: a refused action, a fault that met nothing, recovery of what
/// was not lost and an entry that did not fire are findings of the run, and CI plays all of them.
@Suite struct `The scenarios that are shipped` {
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "scenarios").path

  static let paths = ((try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? [])
    .filter { $0.hasSuffix(".yaml") }.sorted()

  @Test func `there are enough of them`() { #expect(Self.paths.count > 100) }

  @Test(arguments: paths) func `a shipped file is read without a word`(_ path: String) {
    let loaded = ScenarioFile.load(path: Self.root + "/" + path, registry: ProfileCatalogue.builtIn.registry)
    #expect(loaded.diagnostics.isEmpty, "\(FormatTest.text(loaded))")
  }

  @Test func `the matrix that the documentation shows is three cells that differ, and sound`() throws {
    let page = try String(contentsOfFile: Self.root + "/../docs/scenario-format.md", encoding: .utf8)
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
    let start = try #require(lines.firstIndex(of: "    matrix:"))
    let shown = lines[start...].prefix { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }.joined(separator: "\n")
    let calls = "  - { id: go, at: 1s, do: alice.call, to: bob }"
    let loss = "metric: alice.stats.remote-inbound-rtp.audio.packetsLost, gt: 0, if: loss > 0%"
    let text =
      "callsim: 1\nid: t\n\(shown)\n\(calls)\nexpect:\n  - { ends: alice, code: ring-timeout }\n  - { \(loss) }\n"
    let loaded = ScenarioFile.load(text: text, path: "t.yaml", registry: ProfileCatalogue.builtIn.registry)
    #expect(loaded.diagnostics.isEmpty, "\(FormatTest.text(loaded))")
    let names = loaded.scenario?.cells.map(\.id)
    #expect(names == ["t[access=wifi,loss=0%]", "t[access=lte,loss=0%]", "t[access=lte,loss=5%]"])
  }
}
