import ArgumentParser
import Foundation
import Profiles
import ScenarioFormat
import ScenarioSuite

/// The worker process of `run`: reads jobs from standard input.
struct WorkerCommand: ParsableCommand {
  static let name = "worker"
  /// The program that runs workers: this one.
  static var executable: String { Bundle.main.executablePath ?? CommandLine.arguments[0] }
  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Run jobs that '\(ProgramName.current) run' sends.", shouldDisplay: false)

  func run() {
    var loop = WorkerLoop(profiles: CallSimProgram.profiles)
    loop.run()
  }
}
