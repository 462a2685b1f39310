import Foundation
import Profiles
import Testing

@testable import Scenarios

/// What the suite in `scenarios` must be, so that its passing says something: whatever a run reports when an action was
/// refused, a fault met nothing, recovery had nothing to recover from or an entry did not fire is a finding of the run.
///
/// One cell of each file is played here; the suite itself plays all.
@Suite struct `The scenarios that are shipped` {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "scenarios").path

  static let paths = ((try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? [])
    .filter { $0.hasSuffix(".yaml") && !$0.hasPrefix("profiles/") }.sorted()

  @Test func `there are enough of them`() { #expect(Self.paths.count > 100) }

  @Test(arguments: paths) func `a shipped scenario puts all it says to the test`(_ path: String) throws {
    let loaded = ScenarioFile.load(path: Self.root + "/" + path, registry: ProfileCatalogue.builtIn.registry)
    let file = try #require(loaded.scenario, "\(FormatTest.text(loaded))")
    #expect(loaded.diagnostics.isEmpty, "\(FormatTest.text(loaded))")
    let cell = try #require(file.cells.first)
    let result = try SingleRun(cell: cell, seed: file.seeds.all[0], path: path).execute()
    let findings = result.findings.map { "\($0.title): \($0.actual)" }.joined(separator: "; ")
    #expect(result.verdict == .pass, "\(result.id): \(findings)")
  }
}
