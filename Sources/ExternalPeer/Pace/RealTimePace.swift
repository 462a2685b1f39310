internal import CNamespace
package import CallCore
package import ExternalRecords
internal import Glibc
package import SimNet

/// Runs a simulator at the pace of the machine's clock, and handles input from external programs meanwhile.
///
/// Virtual time is the time since the first run. An event happens when the machine's clock has reached it, or as soon
/// after that as the machine can; ``lag`` records the difference.
package final class RealTimePace {
  private unowned let simulator: Simulator
  private var sources: [(descriptor: Int32, action: () -> Void)] = []
  private var origin: Instant?
  package private(set) var lag = LagRecord()
  /// The waits of external programs for a processor.
  let starvation = StarvationWatch()
  package var waits: WaitRecord { starvation.record }

  package init(_ simulator: Simulator) {
    self.simulator = simulator
    Self.askForPunctuality()
  }

  /// Gives this thread real-time priority where the machine allows it: a network that waits for a processor is slower
  /// than specified, and the thread sleeps nearly always. Child processes do not inherit the priority.
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
  package func run(until limit: Instant) {
    while true {
      if present >= starvation.nextLook { starvation.look(at: present) }
      let target = min(present, limit)
      catchUp(to: target)
      if target >= limit { return }
      let next = min(simulator.nextEventTime ?? limit, limit)
      for descriptor in wait(for: next - present) {
        // The input came after the last event and before now.
        catchUp(to: min(present, limit))
        // An event or another source's action may have removed the source.
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

  /// Sleeps until a descriptor is readable, at most for `time`.
  ///
  /// - Returns: the readable descriptors.
  private func wait(for time: Interval) -> [Int32] {
    var descriptors = sources.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    guard callsim_poll(&descriptors, Int32(descriptors.count), max(0, time.nanoseconds)) > 0 else { return [] }
    return descriptors.filter { $0.revents != 0 }.map(\.fd)
  }
}
