package import CallCore

/// Points in time at which a monitor must look, even if no event happens then.
///
/// An alarm fires after all events at its time, so that a deadline includes its own instant.
package final class Alarms {
  private struct Alarm {
    let time: Instant
    let number: UInt64
    let action: () -> Void
  }

  /// The alarms in descending order of time.
  private var alarms: [Alarm] = []
  private var count: UInt64 = 0

  /// The time of the earliest alarm, or nil when there is none.
  package var next: Instant? { alarms.last?.time }

  func removeAll() { alarms.removeAll() }

  package func schedule(at time: Instant, _ action: @escaping () -> Void) {
    count += 1
    let position = alarms.firstIndex { $0.time <= time } ?? alarms.endIndex
    alarms.insert(Alarm(time: time, number: count, action: action), at: position)
  }

  /// Fires all alarms due before `time`, in order.
  func fire(before time: Instant) {
    while let alarm = alarms.last, alarm.time < time {
      alarms.removeLast()
      alarm.action()
    }
  }

  /// Fires all alarms due up to and including `time`, at which all events have happened.
  package func fire(through time: Instant) {
    fire(before: Instant(nanoseconds: time.nanoseconds == .max ? .max : time.nanoseconds + 1))
  }
}
