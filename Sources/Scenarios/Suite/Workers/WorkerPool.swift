internal import CallCore
internal import Formats
internal import Foundation
internal import ScenarioRun

/// The outcome of a job, as the parent of the worker sees it.
enum JobOutcome {
  case result(RunResult)
  /// The harness failed inside the worker.
  case failure(String)
  /// The worker process died.
  case crash(WorkerProcess.Death, lastWords: [String])
  /// The worker exceeded the time limit and was killed.
  case timeout(Interval)
  /// The worker exceeded this amount of memory, in MiB, and was killed.
  case oversize(Int)
}

extension JobOutcome {
  /// The reason why there is no result; nil if there is one.
  var lack: String? {
    switch self {
    case .result: nil
    case .failure(let message): message
    case .crash(let death, _): "its process \(death.description)"
    case .timeout(let limit): "it was still running after \(limit) of machine time"
    case .oversize(let limit): "it took more than \(limit) MiB"
    }
  }
}

/// Runs jobs in several worker processes, one job at a time in each.
///
/// All work happens on the calling thread, which waits for pipes.
final class WorkerPool {
  /// The next step of a task after one of its jobs has ended.
  enum Step {
    case done
    /// Another job of the same task; in a new process when `isFresh`.
    case next(RunJob, isFresh: Bool)
  }

  struct Configuration {
    /// The program that contains the worker loop, and the arguments that start it.
    var executable: String
    var arguments: [String]
    var workerCount: Int
    /// The memory that a worker may take, in MiB.
    var memoryLimit: Int
    /// Whether time limits are of processor time, where the system reports it.
    var limitsProcessorTime = false
  }

  private final class Slot {
    var worker: WorkerProcess?
    var task: Int?
    var job: RunJob?
    var limit = Interval.zero
    var deadline: ContinuousClock.Instant?
    /// The time at which the job ends even if it needs no processor.
    var latest: ContinuousClock.Instant?
    /// The processor time of the worker at the start of the job.
    var processorTime = Interval.zero
    var hearsErrors = true
    /// Whether output of the worker can be read, or has ended.
    var isReady = false
  }

  private let configuration: Configuration
  private var slots: [Slot]
  private var nextMemoryCheck = ContinuousClock.Instant.now
  private static let memoryCheckPeriod = Duration.milliseconds(200)

  init(_ configuration: Configuration) {
    self.configuration = configuration
    slots = (0..<max(1, configuration.workerCount)).map { _ in Slot() }
  }

  /// Runs tasks until there are none left.
  ///
  /// - Parameters:
  ///   - nextTask: the first job of the next task with its number, or nil when there is none left.
  ///   - wallLimit: the time that the next job of a task may take.
  ///   - follow: decides the next step after a job.
  /// - Returns: false when it was interrupted.
  func run(
    nextTask: () -> (task: Int, job: RunJob)?, wallLimit: (Int) -> Interval,
    follow: (Int, RunJob, JobOutcome) -> Step
  ) throws -> Bool {
    let interruption = try Interruption.watch()
    defer {
      for slot in slots { slot.worker?.end() }
      Interruption.unwatch()
    }
    while true {
      for slot in slots where slot.task == nil {
        guard let next = nextTask() else { break }
        slot.task = next.task
        try start(next.job, on: slot, limit: wallLimit(next.task))
      }
      let busy = slots.filter { $0.task != nil }
      if busy.isEmpty { return true }
      guard wait(for: busy, interruption: interruption) else { return false }
      let isMemoryDue = nextMemoryCheck <= .now
      if isMemoryDue { nextMemoryCheck = .now + Self.memoryCheckPeriod }
      for slot in busy {
        let outcome = slot.isReady ? read(slot) : expired(slot) ?? (isMemoryDue ? oversize(slot) : nil)
        guard let outcome, let task = slot.task, let job = slot.job else {
          continue
        }
        switch follow(task, job, outcome) {
        case .done: slot.task = nil
        case .next(let job, let isFresh):
          if isFresh { retire(slot) }
          try start(job, on: slot, limit: wallLimit(task))
        }
      }
    }
  }

  private func start(_ job: RunJob, on slot: Slot, limit: Interval) throws {
    if slot.worker == nil {
      slot.worker = try WorkerProcess(executable: configuration.executable, arguments: configuration.arguments)
      slot.hearsErrors = true
    }
    (slot.job, slot.limit) = (job, limit)
    slot.deadline = .now + slot.limit.duration
    slot.latest = .now + slot.limit.duration * 20
    if configuration.limitsProcessorTime { slot.processorTime = slot.worker?.processorTime ?? .zero }
    slot.worker?.send(job)
  }

  private func retire(_ slot: Slot) {
    slot.worker?.end()
    slot.worker = nil
  }

  // MARK: Waiting

  /// Waits for output of a worker or a deadline.
  ///
  /// - Returns: false after a signal.
  private func wait(for busy: [Slot], interruption: Int32) -> Bool {
    var descriptors = [pollfd(fd: interruption, events: Int16(POLLIN), revents: 0)]
    for slot in busy {
      guard let worker = slot.worker else { continue }
      descriptors.append(pollfd(fd: worker.output, events: Int16(POLLIN), revents: 0))
      descriptors.append(pollfd(fd: slot.hearsErrors ? worker.errors : -1, events: Int16(POLLIN), revents: 0))
    }
    let nearest = min(nextMemoryCheck, busy.compactMap(\.deadline).min() ?? .now)
    let milliseconds = Interval(nearest - .now).milliseconds
    let count = poll(&descriptors, nfds_t(descriptors.count), Int32(clamping: max(0, milliseconds + 1)))
    if count < 0 { return errno == EINTR }
    guard descriptors[0].revents == 0 else { return false }
    for (index, slot) in busy.enumerated() {
      slot.isReady = descriptors[1 + 2 * index].revents != 0
      if descriptors[2 + 2 * index].revents != 0 { slot.hearsErrors = slot.worker?.receiveErrors() ?? false }
    }
    return true
  }

  /// Reads the output of a worker.
  ///
  /// - Returns: the outcome of its job, or nil while the job runs.
  private func read(_ slot: Slot) -> JobOutcome? {
    guard let worker = slot.worker else { return nil }
    let (line, isOpen) = worker.receive()
    if let line {
      let reply = (try? JSON(parsing: line)).flatMap(WorkerReply.init)
      switch reply {
      case .result(let result): return .result(result)
      case .failure(let message): return .failure(message)
      case nil: return .failure("a worker's reply could not be read; are both processes the same version of callsim?")
      }
    }
    guard !isOpen else { return nil }
    let lastWords = worker.lastWords()
    let death = worker.reap()
    retire(slot)
    return .crash(death, lastWords: lastWords)
  }

  private func expired(_ slot: Slot) -> JobOutcome? {
    guard let deadline = slot.deadline, deadline <= .now else { return nil }
    if configuration.limitsProcessorTime, let latest = slot.latest, latest > .now, let time = slot.worker?.processorTime
    {
      let rest = slot.limit - (time - slot.processorTime)
      guard rest <= .zero else {
        slot.deadline = .now + max(rest, Interval.milliseconds(100)).duration
        return nil
      }
    }
    retire(slot)
    return .timeout(slot.limit)
  }

  /// Kills a worker that exceeds the memory limit, before the machine runs out of memory.
  private func oversize(_ slot: Slot) -> JobOutcome? {
    guard let size = slot.worker?.memory, size > configuration.memoryLimit << 20 else { return nil }
    retire(slot)
    return .oversize(configuration.memoryLimit)
  }
}
