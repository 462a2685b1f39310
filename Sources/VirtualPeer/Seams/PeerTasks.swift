public import CallCore

/// Async code of an app or a server, on the one thread of its run, in virtual time.
///
/// Code that ``start(_:)`` began runs from one `await` to the next in an event of its own, in the order in which it
/// became ready. It is as deterministic as callbacks, if it awaits only things of the simulation:
/// ``PeerClock/sleep(for:)``, ``PeerClock/virtual``, an `AsyncStream` fed by callbacks, child tasks (`async let`, task
/// groups), default actors, another task of the same participant. A resumption from another thread traps; this includes
/// a plain `Task { }`, which runs on threads of the system.
public final class PeerTasks {
  private let executor: PeerExecutor
  private var open: [UInt64: Task<Void, Never>] = [:]
  private var count: UInt64 = 0
  private var isShutDown = false

  package init(clock: PeerClock) { executor = PeerExecutor(clock: clock) }

  /// Starts async code in the next event. Shutdown cancels it; after shutdown it never begins.
  ///
  /// - Returns: The task, for other code of this participant to cancel or await.
  @discardableResult
  public func start(_ body: @escaping () async -> Void) -> Task<Void, Never> {
    count += 1
    let number = count
    // The body stays on this thread: the executor refuses every other thread.
    nonisolated(unsafe) let body = isShutDown ? {} : body
    nonisolated(unsafe) let tasks = self
    let task = Task(executorPreference: executor) {
      await body()
      tasks.open[number] = nil
    }
    open[number] = task
    return task
  }

  /// The number of tasks that have not ended.
  public var openCount: Int { open.count }

  /// Cancels every task, and runs each until it ends or awaits something that cancellation does not end.
  /// Leaves every task where it stands: their process has ended. None runs again.
  func abandon() {
    isShutDown = true
    open = [:]
    executor.abandon()
  }

  package func shutDown() {
    isShutDown = true
    for (_, task) in open.sorted(by: { $0.key < $1.key }) { task.cancel() }
    executor.drain()
  }
}

/// Runs each job in an event of a participant's clock.
private final class PeerExecutor: TaskExecutor, @unchecked Sendable {
  private let clock: PeerClock
  private var ready = FIFO<(job: UnownedJob, event: PeerTimer)>()
  private var isAbandoned = false

  init(clock: PeerClock) { self.clock = clock }

  func enqueue(_ job: consuming ExecutorJob) {
    clock.requireOwnThread("a task of PeerTasks was resumed")
    guard !isAbandoned else { return }
    // Events of the same instant run in the order in which they were scheduled, so each event finds its own job first.
    let event = clock.schedule(after: .zero) { [self] in runFirst() }
    ready.append((UnownedJob(job), event))
  }

  /// Drops all ready jobs, and those that become ready.
  func abandon() {
    isAbandoned = true
    while let next = ready.popFirst() { next.event.cancel() }
  }

  /// Runs all ready jobs, and those that they make ready, without waiting for their events.
  func drain() {
    while let next = ready.first {
      next.event.cancel()
      runFirst()
    }
  }

  private func runFirst() { ready.popFirst()?.job.runSynchronously(on: asUnownedTaskExecutor()) }
}

extension PeerClock {
  /// Waits in virtual time, in code that ``PeerTasks/start(_:)`` began.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  public func sleep(for interval: Interval) async throws(CancellationError) { try await sleep(until: now + interval) }

  /// Waits until a time, as ``sleep(for:)`` does; returns at once if the time is past.
  public func sleep(until time: Instant) async throws(CancellationError) {
    requireOwnThread("a PeerClock was awaited")
    nonisolated(unsafe) let clock = self
    let sleeper = Sleeper(clock: clock)
    let isCancelled = await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in sleeper.begin(until: time, continuation) }
    } onCancel: {
      sleeper.cancel()
    }
    if isCancelled { throw CancellationError() }
  }

  /// The virtual time as a Swift `Clock`, for code that is generic over clocks.
  public var virtual: VirtualClock { VirtualClock(self) }
}

/// One wait. It ends at its time or when its task is cancelled, whichever comes first.
private final class Sleeper: @unchecked Sendable {
  private let clock: PeerClock
  private var continuation: UnsafeContinuation<Bool, Never>?
  private var timer: PeerTimer?
  private var isCancelled = false

  init(clock: PeerClock) { self.clock = clock }

  func begin(until time: Instant, _ continuation: UnsafeContinuation<Bool, Never>) {
    guard !isCancelled, time > clock.now else { return continuation.resume(returning: isCancelled) }
    self.continuation = continuation
    timer = clock.schedule(at: time) { [self] in end() }
  }

  func cancel() {
    clock.requireOwnThread("a task of PeerTasks was cancelled")
    isCancelled = true
    end()
  }

  private func end() {
    timer?.cancel()
    timer = nil
    continuation?.resume(returning: isCancelled)
    continuation = nil
  }
}
