internal import ScenarioFormat

/// The reduction of one finding to a small scenario file that fails alike when it is played alone.
struct FindingReduction {
  private let check: BrokenCheck
  private let limit: Int
  private let registry: ProfileRegistry
  private var reducer: ScenarioReducer?
  private var seed: UInt64
  private var stage = Stage.plainSeed
  private var proposed: [String] = []
  private var current = ""
  /// The number of runs so far.
  private(set) var runCount = 0
  /// Whether the finding was repeated from a file.
  private(set) var isRepeated = false

  /// The reason why there is no smaller file; nil while there may be one.
  var obstacle: Campaign.Obstacle? {
    if limit == 0 { return .notWanted }
    if check.isEndless { return .endless }
    if check.needsTwoPlays { return .needsTwoPlays }
    return stage == .done && !isRepeated ? .notRepeated : nil
  }

  private enum Stage {
    /// The file with seed 1, so that no seed needs to be named.
    case plainSeed
    /// The file with the seed of the run.
    case ownSeed
    case reducing
    case done
  }

  init(text: String, check: BrokenCheck, seed: UInt64, limit: Int, registry: ProfileRegistry) {
    self.check = check
    self.seed = seed
    self.limit = limit
    self.registry = registry
    current = text
    if limit == 0 || check.isEndless || check.needsTwoPlays { stage = .done }
  }

  private var id: String { "found/\(check.name)" }

  /// Whether there is another run to make.
  var hasWork: Bool { stage != .done }

  /// The number of entries in the timeline.
  var entryCount: Int { reducer?.entryCount ?? 0 }

  /// The smallest file so far, with the finding as its reason.
  var text: String { reducer?.text ?? current }

  /// Returns the next run; nil at the end.
  mutating func nextJob() -> RunJob? {
    while true {
      switch stage {
      case .plainSeed:
        guard let text = named(current, seed: 1) else {
          stage = .done
          return nil
        }
        return job(text, seed: 1)
      case .ownSeed:
        guard seed != 1, let text = named(current, seed: seed) else {
          stage = .done
          return nil
        }
        return job(text, seed: seed)
      case .reducing:
        if proposed.isEmpty { proposed = runCount < limit ? reducer?.candidates(atMost: 1) ?? [] : [] }
        guard let candidate = proposed.first else {
          stage = .done
          return nil
        }
        return job(candidate, seed: seed)
      case .done: return nil
      }
    }
  }

  /// Takes the outcome of the last run.
  mutating func take(_ outcome: JobOutcome) {
    runCount += 1
    let isAlike = outcome.breaks(check)
    switch stage {
    case .plainSeed:
      if isAlike { begin(seed: 1) } else { stage = .ownSeed }
    case .ownSeed:
      if isAlike { begin(seed: seed) } else { stage = .done }
    case .reducing:
      reducer?.took(isAlike ? 0 : nil)
      proposed = []
    case .done: break
    }
  }

  private mutating func begin(seed: UInt64) {
    self.seed = seed
    guard let text = named(current, seed: seed) else { return stage = .done }
    current = text
    isRepeated = true
    reducer = ScenarioReducer(text: text, registry: registry)
    stage = reducer == nil ? .done : .reducing
  }

  private func named(_ text: String, seed: UInt64) -> String? {
    guard var scenario = ScenarioFile.load(text: text, registry: registry).scenario?.cells.first?.scenario else {
      return nil
    }
    (scenario.id, scenario.title, scenario.why, scenario.tags) = (id, "Broken: \(check.title)", check.actual, [])
    var seeds = Seeds()
    if seed != 1 { seeds.list = [Int(clamping: seed)] }
    return scenario.text(seeds: seeds)
  }

  private func job(_ text: String, seed: UInt64) -> RunJob {
    var job = RunJob(source: ScenarioSource([.init(path: "\(id).yaml", text: text)]), cellID: id, seed: seed)
    job.needsNoStory = true
    return job
  }
}
