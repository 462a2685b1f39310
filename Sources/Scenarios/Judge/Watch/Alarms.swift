package import CallCore

/// Points in time at which somebody wants to look, even when nothing happens then.
///
/// An alarm goes off after everything that happens at its time, so that a deadline includes its own instant.
package final class Alarms {
  private struct Alarm {
    let time: Instant
    let number: UInt64
    let action: () -> Void
  }

  /// Sorted, the earliest last.
  private var alarms: [Alarm] = []
  private var count: UInt64 = 0

  /// The earliest alarm, or nil when there is none.
  package var next: Instant? { alarms.last?.time }

  func removeAll() { alarms.removeAll() }

  package func schedule(at time: Instant, _ action: @escaping () -> Void) {
    count += 1
    let position = alarms.firstIndex { $0.time <= time } ?? alarms.endIndex
    alarms.insert(Alarm(time: time, number: count, action: action), at: position)
  }

  /// Goes off for everything due earlier than `time`, in order.
  func fire(before time: Instant) {
    while let alarm = alarms.last, alarm.time < time {
      alarms.removeLast()
      alarm.action()
    }
  }

  /// Goes off for everything due up to and including `time`: all that happens at `time` has happened.
  package func fire(through time: Instant) {
    fire(before: Instant(nanoseconds: time.nanoseconds == .max ? .max : time.nanoseconds + 1))
  }
}
