internal import CallCore
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun

extension Campaign {
  /// A scenario file in the folder `regressions`, after it was played.
  public struct Regression: Sendable {
    /// What became of it.
    public enum Outcome: Sendable, Equatable {
      case passes
      /// It fails; what it broke first.
      case fails(String)
      /// This version cannot read or play it; the reason.
      case unfit(String)
    }

    /// The path of the file.
    public var path: String
    /// What became of it.
    public var outcome: Outcome

    /// Whether it still fails.
    public var fails: Bool { if case .fails = outcome { true } else { false } }
  }

  /// Plays the regressions, before anything is searched.
  ///
  /// - Returns: false when it was interrupted.
  func playRegressions(_ outcome: inout Outcome) throws -> Bool {
    var jobs: [RunJob] = []
    for path in store.regressionPaths {
      let loaded = ScenarioFile.load(path: path, registry: plan.profiles.registry)
      guard let scenario = loaded.scenario, !scenario.cells.isEmpty else {
        let reason = loaded.diagnostics.first { $0.code.severity == .error }
        outcome.regressions.append(
          Regression(path: path, outcome: .unfit(reason.map { "\($0.code.rawValue): \($0.message)" } ?? "no run")))
        continue
      }
      for cell in scenario.cells {
        for seed in scenario.seeds.all {
          var job = RunJob(source: scenario.source, cellID: cell.id, seed: seed)
          job.needsNoStory = true
          jobs.append(job)
        }
      }
    }
    var waiting = jobs.indices[...]
    var played: [(job: Int, outcome: Regression.Outcome)] = []
    let isComplete = try pool(jobs.count).run(
      nextTask: { waiting.popFirst().map { ($0, jobs[$0]) } }, wallLimit: { _ in Self.runLimit },
      follow: { index, _, outcome in
        played.append((index, Regression.Outcome(outcome)))
        return .done
      })
    // A file is what the worst of its runs is.
    for (path, runs) in Dictionary(grouping: played, by: { jobs[$0.job].path }) {
      let outcomes = runs.sorted { $0.job < $1.job }.map(\.outcome)
      let fails = outcomes.first { if case .fails = $0 { true } else { false } }
      let worst = fails ?? outcomes.first { $0 != .passes } ?? .passes
      outcome.regressions.append(Regression(path: path, outcome: worst))
    }
    outcome.regressions.sort { $0.path < $1.path }
    return isComplete
  }
}

extension Campaign.Regression.Outcome {
  fileprivate init(_ outcome: JobOutcome) {
    switch outcome {
    case .result(let result):
      switch result.verdict {
      case .pass: self = .passes
      case .broken, .fail: self = .fails(result.findings.first.map { "\($0.title): \($0.actual)" } ?? "")
      case .vacuous, .inconclusive, .timeout, .nondeterministic, .skipped:
        self = .unfit(result.findings.first?.actual ?? "\(result.verdict)")
      }
    case .crash, .timeout, .oversize: self = .fails(outcome.lack ?? "")
    case .failure(let message): self = .unfit(message)
    }
  }
}
