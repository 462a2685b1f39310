internal import Formats
internal import Foundation
public import Profiles
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import ScenarioSearch

/// The worker's end of the pipe: reads jobs from standard input and answers each with a line of JSON.
public struct WorkerLoop {
  /// A cell with what moves can act on in it.
  private struct Base {
    let hash: UInt64
    let overrides: [ScenarioOverride]
    let cell: Cell
    /// Nil before the first variation.
    var alphabet: MoveAlphabet?
    /// Nil before the first row of it was asked for.
    var table: MoveTable?
  }

  private let profiles: ProfileCatalogue
  /// The newest scenario: its texts come once, with the first job that needs them.
  private var source: ScenarioSource?
  /// The cells of the latest jobs; the newest is the last. Searches come back to the same few cells.
  private var bases: [Base] = []
  private static let baseLimit = 32

  /// Makes a worker that knows the given profiles.
  public init(profiles: ProfileCatalogue) { self.profiles = profiles }

  /// Runs until standard input ends, or the parent process does.
  public mutating func run() {
    guard ExternalPrograms.endWithParent() else { return }
    // Replies go to the pipe alone: whatever else prints, prints to standard error.
    let replies = dup(STDOUT_FILENO)
    dup2(STDERR_FILENO, STDOUT_FILENO)
    while let line = readLine(strippingNewline: true) {
      let reply: WorkerReply
      if let json = try? JSON(parsing: line.utf8), let job = RunJob(json: json, known: source) {
        source = job.source
        reply = execute(job)
      } else {
        reply = .failure("a job could not be read; are both processes the same version of callsim?")
      }
      ChildPipe.writeAll(Array((reply.json.description + "\n").utf8), to: replies)
    }
  }

  mutating func execute(_ job: RunJob) -> WorkerReply {
    do {
      try load(job)
      let (cell, moveCount, choices) = try varied(by: job)
      var result = try JobExecution(job: job, profiles: profiles).result(cell: cell)
      (result.moveCount, result.choices) = (moveCount, choices)
      let moves = cell.scenario.timeline.suffix(moveCount).map(\.title)
      result.unmetMove = result.findings.first { $0.kind == .vacuous && moves.contains($0.title) }?.actual
      if job.variation != nil { result.reduceToFeatures() }
      if job.needsNoStory { result.story = nil }
      if result.verdict == .pass { result.story = job.wantsStory ? result.story?.thinned() : nil }
      return .result(result)
    } catch {
      return .failure("\(error)")
    }
  }

  /// Makes the job's cell the last of ``bases``.
  private mutating func load(_ job: RunJob) throws {
    if let index = bases.lastIndex(where: {
      $0.cell.id == job.cellID && $0.hash == job.source.hash && $0.overrides == job.overrides
    }) {
      if index != bases.count - 1 { bases.append(bases.remove(at: index)) }
      return
    }
    let loaded = ScenarioFile.load(
      source: job.source, cellID: job.cellID, registry: profiles.registry,
      overrides: job.overrides.map { (name: $0.name, value: $0.value) })
    guard let cell = loaded.scenario?.cells.first(where: { $0.id == job.cellID }) else {
      throw JobError(
        message: "\(job.path) has no cell '\(job.cellID)' for a worker; are both of one version of callsim?")
    }
    if bases.count == Self.baseLimit { bases.removeFirst() }
    bases.append(Base(hash: job.source.hash, overrides: job.overrides, cell: cell))
  }

  /// Returns the last of ``bases`` with the moves of the job, their number, and the choices from which they were drawn.
  private mutating func varied(by job: RunJob) throws -> (Cell, moveCount: Int, choices: [UInt64]) {
    let last = bases.count - 1
    var cell = bases[last].cell
    guard let variation = job.variation else { return (cell, 0, []) }
    let alphabet =
      try bases[last].alphabet
      ?? MoveAlphabet(
        cell.scenario, registry: profiles.registry,
        record: BaseRecord(playing: cell, path: job.path, profiles: profiles))
    bases[last].alphabet = alphabet
    if case .single = variation.origin, bases[last].table == nil {
      bases[last].table = MoveTable(alphabet, kinds: variation.kinds)
    }
    guard let varied = variation.scenario(alphabet, table: bases[last].table) else {
      throw JobError(message: "\(job.cellID) has no such variation for a worker; are both of one version of callsim?")
    }
    cell.scenario = varied.scenario
    return (cell, varied.moves.count, varied.choices)
  }
}

extension RunResult {
  /// Leaves of what the run reached what a search compares: each feature with the magnitude of its count.
  fileprivate mutating func reduceToFeatures() {
    // 1, 2, 4, 8 … times: how often something happens matters less the oftener it happens.
    features = coverage?.features.map { $0.hash ^ UInt64(63 - max(1, $0.count).leadingZeroBitCount) } ?? []
    (story, coverage) = (nil, nil)
  }
}

/// The execution of one job in this process.
struct JobExecution {
  let job: RunJob
  let profiles: ProfileCatalogue

  func result(cell: Cell) throws -> RunResult {
    let run = SingleRun(cell: cell, seed: job.seed, path: job.path, profiles: profiles)
    switch job.output {
    case .nothing:
      var outputs = RunOutputs()
      outputs.wantsCoverage = job.wantsCoverage
      outputs.wantsMessages = job.wantsMessages
      outputs.timesCodecs = job.timesCodecs
      guard !job.scorers.isEmpty else { return try run.execute(outputs: outputs) }
      outputs.comparedWindow = cell.scenario.measuredWindow
      let ofSpeech = job.scorers.filter { !$0.isOfPictures }
      let speech = HeardSpeech(cell.scenario)
      if !ofSpeech.isEmpty { outputs.compared = { speech.add($1, by: $0) } }
      let pictures = SeenPictures(cell.scenario, job.scorers.filter(\.isOfPictures))
      defer { pictures.remove() }
      if job.scorers.contains(where: \.isOfPictures) { outputs.seen = { pictures.add($1, seenBy: $0) } }
      var result = try run.execute(outputs: outputs)
      result.scores = (speech.scores(ofSpeech) + pictures.scores()).map { score in
        var score = score
        (score.opened, score.closed) = (result.comparedTimes?.lowerBound, result.comparedTimes?.upperBound)
        return score
      }
      return result
    case .trace(let path):
      let file = try TraceFile(path: path)
      var outputs = RunOutputs()
      outputs.observers = [file]
      outputs.wantsCoverage = job.wantsCoverage
      let result = try run.execute(outputs: outputs)
      try file.close()
      return result
    case .artifacts(let folder):
      do {
        let artifacts = try RunArtifacts(folder: folder, job: job)
        var outputs = artifacts.outputs
        outputs.wantsCoverage = job.wantsCoverage
        let outcome = Result { try run.execute(outputs: outputs) }
        try artifacts.finish(try? outcome.get())
        return try outcome.get()
      } catch let error as FileError {
        throw JobError(artifacts: error)
      }
    }
  }
}

struct JobError: Error, CustomStringConvertible {
  let message: String
  var description: String { message }
}

extension JobError {
  /// Describes a failure to write a run's files.
  init(artifacts error: FileError) {
    self.init(
      message: "\(error). \(error.isWantOfSpace ? "Free some space" : "Run elsewhere") or choose --artifacts none.")
  }
}
