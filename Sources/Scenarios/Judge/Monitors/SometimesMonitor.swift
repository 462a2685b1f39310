internal import CallCore

/// `sometimes`: whether this run reached it. Only the runs of all seeds together decide.
final class SometimesMonitor: Monitor {
  let ruling: Ruling
  private let condition: Condition

  init(_ predicate: Predicate, _ context: MonitorContext) {
    condition = context.condition(predicate)
    ruling = Ruling(expected: "\(predicate) in at least one run")
    ruling.measured = 0
    condition.listen { [unowned self] in if $0 { context.later { self.reach(at: $0) } } }
    if condition.isTrue { reach(at: context.trace.now) }
  }

  var isPending: Bool { false }

  private func reach(at now: Instant) {
    guard ruling.isOpen, condition.isTrue else { return }
    ruling.measured = 1
    ruling.decide(.pass, at: now, "true at \(Wording.time(now))")
  }

  func finish(at time: Instant) {
    ruling.decide(.inconclusive, at: time, "not true in this run")
  }
}
