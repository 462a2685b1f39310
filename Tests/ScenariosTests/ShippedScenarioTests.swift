import Foundation
import Profiles
import Testing

@testable import Scenarios

/// What the suite in `scenarios` is before it is played: every file is read without an error or a warning.
///
/// That its passing says something is for each run to tell: a refused action, a fault that met nothing, recovery of what
/// was not lost and an entry that did not fire are findings of the run, and CI plays all of them.
@Suite struct `The scenarios that are shipped` {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "scenarios").path

  static let paths = ((try? FileManager.default.subpathsOfDirectory(atPath: root)) ?? [])
    .filter { $0.hasSuffix(".yaml") }.sorted()

  @Test func `there are enough of them`() { #expect(Self.paths.count > 100) }

  @Test(arguments: paths) func `a shipped file is read without a word`(_ path: String) {
    let loaded = ScenarioFile.load(path: Self.root + "/" + path, registry: ProfileCatalogue.builtIn.registry)
    #expect(loaded.diagnostics.isEmpty, "\(FormatTest.text(loaded))")
  }
}
