internal import CNamespace
public import CallCore
public import ExternalRecords
internal import Glibc
public import SimNet

/// Runs a simulator at the pace of the machine's clock, and takes in what programs outside it say meanwhile.
///
/// Virtual time is the time since the first run: an event happens when the machine's clock has reached it, or as soon
/// after it as the machine can, and ``lag`` says how soon that was.
public final class RealTimePace {
  private unowned let simulator: Simulator
  private var sources: [(descriptor: Int32, action: () -> Void)] = []
  private var origin: Instant?
  public private(set) var lag = LagRecord()
  /// Whether the programs outside had time for what they do.
  let starvation = StarvationWatch()
  public var waits: WaitRecord { starvation.record }

  public init(_ simulator: Simulator) {
    self.simulator = simulator
    Self.askForPunctuality()
  }

  /// A network that waits for the processor is slower than it says, so this thread goes before others where it may:
  /// it sleeps nearly always. What it starts does not inherit that.
  private static func askForPunctuality() {
    var parameters = sched_param()
    parameters.sched_priority = 1
    _ = sched_setscheduler(0, SCHED_RR | callsim_reset_on_fork, &parameters)
  }

  /// Calls `action` in virtual time, from the run loop, whenever the descriptor can be read.
  func watch(_ descriptor: Int32, _ action: @escaping () -> Void) { sources.append((descriptor, action)) }

  func unwatch(_ descriptor: Int32) { sources.removeAll { $0.descriptor == descriptor } }

  /// The virtual time that the machine's clock has reached.
  private var present: Instant {
    let now = MonotonicClock.now
    let start = origin ?? now
    origin = start
    return .zero + (now - start)
  }

  /// Runs until the machine's clock has reached `limit`.
  public func run(until limit: Instant) {
    while true {
      if present >= starvation.nextLook { starvation.look(at: present) }
      let target = min(present, limit)
      catchUp(to: target)
      if target >= limit { return }
      let next = min(simulator.nextEventTime ?? limit, limit)
      for descriptor in wait(for: next - present) {
        // What came is older than now and younger than the last event.
        catchUp(to: min(present, limit))
        // An event, or the action of another, may have taken the source away.
        sources.first { $0.descriptor == descriptor }?.action()
      }
    }
  }

  private func catchUp(to target: Instant) {
    while let due = simulator.nextEventTime, due <= target {
      lag.add(present - due, at: due)
      simulator.step()
    }
    simulator.run(until: target)
  }

  /// Sleeps until something can be read, or so long.
  ///
  /// - Returns: what can be read.
  private func wait(for time: Interval) -> [Int32] {
    var descriptors = sources.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    guard callsim_poll(&descriptors, Int32(descriptors.count), max(0, time.nanoseconds)) > 0 else { return [] }
    return descriptors.filter { $0.revents != 0 }.map(\.fd)
  }
}
