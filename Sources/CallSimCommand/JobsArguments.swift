import ArgumentParser
import Foundation

/// The number of runs at the same time.
struct JobsArguments: ParsableArguments {
  @Option(
    name: [.customShort("j", allowingJoined: true), .long], parsing: .unconditional,
    help: "Runs at the same time. (default: the number of processors)")
  var jobs: Int?

  /// Checks the number.
  func check() throws {
    if let jobs, !(1...1024).contains(jobs) {
      throw UsageProblem(message: "--jobs takes a count from 1 to 1024, not \(jobs)")
    }
  }

  var count: Int { jobs ?? ProcessInfo.processInfo.activeProcessorCount }
}
