internal import Formats
internal import Foundation
public import Profiles
internal import ScenarioFormat
internal import ScenarioJudge
internal import ScenarioRun
internal import ScenarioSearch

/// The worker's end of the pipe: reads jobs from standard input and answers each with a line of JSON.
public struct WorkerLoop {
  private let profiles: ProfileCatalogue
  /// The newest scenario: its texts come once, with the first job that needs them.
  private var source: ScenarioSource?
  /// The newest cell: jobs come cell by cell, so one is enough.
  private var newest: (job: RunJob, cell: Cell)?
  /// What moves can act on in that cell, and its table of single moves once a row of it was asked for.
  private var moves: (alphabet: MoveAlphabet, table: MoveTable?)?

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
      let (cell, choices) = try varied(try cell(of: job), by: job)
      var result = try JobExecution(job: job, profiles: profiles).result(cell: cell)
      result.choices = choices
      if job.variation != nil { result.reduceToFeatures() }
      if result.verdict == .pass { result.story = job.wantsStory ? result.story?.thinned() : nil }
      return .result(result)
    } catch {
      return .failure("\(error)")
    }
  }

  /// Returns the cell with the moves of the job, and the choices from which they were drawn.
  private mutating func varied(_ cell: Cell, by job: RunJob) throws -> (Cell, choices: [UInt64]) {
    guard let variation = job.variation else { return (cell, []) }
    let alphabet = moves?.alphabet ?? MoveAlphabet(cell.scenario, registry: profiles.registry)
    var table = moves?.table
    if table == nil, case .single = variation.origin { table = MoveTable(alphabet, kinds: variation.kinds) }
    moves = (alphabet, table)
    guard let varied = variation.scenario(alphabet, table: table) else {
      throw JobError(message: "\(job.cellID) has no such variation for a worker; are both of one version of callsim?")
    }
    var cell = cell
    cell.scenario = varied.scenario
    return (cell, varied.choices)
  }

  private mutating func cell(of job: RunJob) throws -> Cell {
    if let (known, cell) = newest, known.cellID == job.cellID, known.source.hash == job.source.hash,
      known.overrides == job.overrides
    {
      return cell
    }
    let loaded = ScenarioFile.load(
      source: job.source, cellID: job.cellID, registry: profiles.registry,
      overrides: job.overrides.map { (name: $0.name, value: $0.value) })
    guard let cell = loaded.scenario?.cells.first(where: { $0.id == job.cellID }) else {
      throw JobError(
        message: "\(job.path) has no cell '\(job.cellID)' for a worker; are both of one version of callsim?")
    }
    (newest, moves) = ((job, cell), nil)
    return cell
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
      return try run.execute(outputs: outputs)
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
