public import CallCore

extension Simulator {
  /// Wakes the host at `time`, or now if that has passed. Timers due at the same time fire in order of scheduling.
  public func schedule(_ host: HostID, at time: Instant, token: UInt64) -> TimerID {
    let index: UInt32
    if let free = freeTimers.popLast() {
      index = free
    } else {
      index = UInt32(timers.count)
      timers.append(TimerEntry(host: host, token: 0, event: 0, cause: .none))
    }
    let event = fabric.schedule(.timer, index, at: time)
    timers[Int(index)] = TimerEntry(host: host, token: token, event: event, cause: trace.cause)
    hosts[host.index].pendingTimers += 1
    return TimerID(index: index, event: event)
  }

  /// Cancels the timer. Does nothing if it has fired or was cancelled.
  public func cancel(_ timer: TimerID) {
    guard timers[Int(timer.index)].event == timer.event else { return }
    free(timer.index)
  }

  func fire(_ event: Event) {
    let entry = timers[Int(event.index)]
    guard entry.event == event.number else { return }
    free(event.index)
    trace.cause = entry.cause
    hosts[entry.host.index].delegate?.timerFired(entry.token)
  }

  private func free(_ index: UInt32) {
    hosts[timers[Int(index)].host.index].pendingTimers -= 1
    timers[Int(index)].event = 0
    freeTimers.append(index)
  }
}
