internal import CallCore
internal import Foundation
package import Profiles
package import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

/// Two runs that are played and compared event by event.
package struct RunPair {
  /// One of the runs.
  package struct Member {
    /// The name that the user gave it.
    package let name: String
    package let path: String
    package let cell: Cell
    package let seed: UInt64

    package init(name: String, path: String, cell: Cell, seed: UInt64) {
      self.name = name
      self.path = path
      self.cell = cell
      self.seed = seed
    }
  }

  /// The outcome of a comparison.
  package struct Outcome {
    let results: [RunResult]
    let divergence: TraceDivergence?

    /// Whether the worlds of both runs had the same events.
    package var isEqual: Bool { divergence == nil }
  }

  package let members: [Member]

  package init(_ first: Member, _ second: Member) { members = [first, second] }

  /// Plays both runs and compares their traces.
  ///
  /// - Throws: when the harness fails, or a trace cannot be written.
  package func play(_ profiles: ProfileCatalogue) throws -> Outcome {
    let base = NSTemporaryDirectory() + "callsim-diff-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
    let files = ["\(base).0", "\(base).1"]
    defer { for file in files { unlink(file) } }
    let results = try zip(members, files).map { member, path in
      let file = try TraceFile(path: path)
      var outputs = RunOutputs()
      outputs.observers = [file]
      let run = SingleRun(cell: member.cell, seed: member.seed, path: member.path, profiles: profiles)
      let result = try run.execute(outputs: outputs)
      try file.close()
      return result
    }
    let isEqual = results[0].traceHash == results[1].traceHash && results[0].eventCount == results[1].eventCount
    return Outcome(results: results, divergence: isEqual ? nil : TraceDivergence(files[0], files[1]))
  }
}
