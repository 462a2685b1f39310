import ArgumentParser
import Foundation
import PeerSession
import ScenarioRun
import ScenarioSuite

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Show versions and check that this machine can run scenarios.",
    discussion: """
      Exit codes: 0 scenarios can be run here, 4 they cannot. Whether real programs can take part is told and does not \
      count: scenarios that need them are skipped where they cannot.
      """)

  func run() throws {
    let environment = RunEnvironment.current
    var rows = [("callsim", environment.versionText)]
    rows.append(("Swift", RunEnvironment.swiftVersion))
    rows += environment.libraries.map { ($0.name, $0.version) }
    rows.append(("processor", environment.processorFeatures.joined(separator: " ")))
    rows.append(("processors", "\(ProcessInfo.processInfo.activeProcessorCount)"))
    for (name, value) in rows { Output.text(Self.row(name, value)) }
    let checks = SelfCheck.all
    for check in checks { Output.text(Self.row(check.name, check.isPassed ? "ok" : "FAILED: \(check.advice)")) }
    // The machine may lack this: scenarios with programs are then skipped.
    let problem = ExternalPrograms.problem
    Output.text(Self.row("real programs", problem.map { "no: \($0)" } ?? "ok"))
    for preset in ScorerPreset.all {
      let state = preset.isInstalled ? "ok: \(preset.title)" : "no: \(preset.remedy)"
      Output.text(Self.row("scorer \(preset.name)", state))
    }
    throw (checks.allSatisfy(\.isPassed) ? ExitStatus.pass : .inconclusive).code
  }

  private static func row(_ name: String, _ value: String) -> String {
    name + String(repeating: " ", count: max(1, 16 - name.count)) + value + "\n"
  }
}
