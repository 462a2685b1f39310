import ArgumentParser
import Foundation
import Profiles
import ScenarioFormat
import ScenarioSuite

/// The worker process of `run`: reads jobs from standard input.
struct WorkerCommand: ParsableCommand {
  static let name = "worker"
  /// The program that runs workers: this one.
  static var executable: String {
    #if os(Linux)
      // This very file, also after a build has put another one in its place.
      "/proc/self/exe"
    #else
      Bundle.main.executablePath ?? CommandLine.arguments[0]
    #endif
  }
  static let configuration = CommandConfiguration(
    commandName: name, abstract: "Run jobs that '\(ProgramName.current) run' sends.", shouldDisplay: false)

  func run() {
    var loop = WorkerLoop(profiles: CallSimProgram.profiles)
    loop.run()
  }
}
