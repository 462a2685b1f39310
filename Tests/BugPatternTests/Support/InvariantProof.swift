import CallCore
import Foundation
import Profiles
import ScenarioFormat
import ScenarioJudge
import ScenarioRun
import Testing

/// A scenario that stands in a test: two phones, a puppet, and moves. It expects nothing: invariants judge it.
struct Provocation {
  var peers = """
      alice: { profile: knotos, network: wifi, devices: { mic: tone } }
      bob: { profile: knotos, network: wifi, devices: { mic: tone } }
    """
  /// Further keys of the file.
  var rest = ""
  var length = "20s"
  /// The peer in whose name the puppet sends.
  var sender = "mallory"
  var timeline: String
  var profiles = ProfileCatalogue.builtIn

  /// Returns the invariants that a run breaks, with what happened.
  func violations() throws -> [(invariant: String, actual: String)] {
    try play().findings.filter { $0.kind == .invariant || $0.kind == .crash }.map { ($0.title, $0.actual) }
  }

  func play() throws -> RunResult {
    let text = """
      callsim: 1
      id: class
      run: \(length)
      \(rest)
      peers:
      \(peers)
        mallory: { stack: puppet }
      timeline:
      \(timeline.replacing("from: mallory", with: "from: \(sender)"))
      """
    let loaded = ScenarioFile.load(text: text, path: "class.yaml", registry: profiles.registry)
    let file = try #require(loaded.scenario, "\(loaded.report.rendered(as: .text(color: false)))")
    return try SingleRun(cell: file.cells[0], seed: 1, path: "class.yaml", profiles: profiles).execute()
  }
}

/// Provokes a class of defects twice: the app as it is breaks no invariant, and with the defect planted it breaks this
/// one.
func proves(
  _ defect: Defect, breaks invariant: String, sourceLocation: SourceLocation = #_sourceLocation,
  by provocation: Provocation
) throws {
  for (invariant, actual) in try provocation.violations() {
    Issue.record("the app as it is breaks \(invariant): \(actual)", sourceLocation: sourceLocation)
  }
  let broken = try Defect.$planted.withValue(defect) { try provocation.violations() }
  #expect(
    broken.contains { $0.invariant == invariant },
    "\(defect) is planted and \(invariant) holds; broken are \(broken.map { "\($0.invariant): \($0.actual)" })",
    sourceLocation: sourceLocation)
}
