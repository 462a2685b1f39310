import CallCore
import Foundation
import Profiles
import ScenarioFormat
import ScenarioJudge
import ScenarioRun
import Testing

private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent().deletingLastPathComponent()

/// Provokes a bug pattern by a scenario of the suite, in this process: every cell passes, and with the defect planted one
/// does not.
func proves(
  _ defect: Defect, by id: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
  let path = root.appending(path: "scenarios/\(id).yaml").path
  let loaded = ScenarioFile.load(path: path, registry: ProfileCatalogue.builtIn.registry)
  let file = try #require(
    loaded.scenario, "\(loaded.report.rendered(as: .text(color: false)))", sourceLocation: sourceLocation)
  try proves(defect, sourceLocation: sourceLocation) { claims in
    for cell in file.cells {
      let result = try SingleRun(cell: cell, seed: 1, path: "\(id).yaml").execute()
      let findings = result.findings.map { "\($0.title): \($0.actual)" }.joined(separator: "; ")
      claims("\(result.id) passes: \(findings)", result.verdict == .pass)
    }
  }
}
