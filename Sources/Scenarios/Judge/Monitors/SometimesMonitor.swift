internal import CallCore
internal import ScenarioFormat

/// `sometimes`: whether this run reached the condition. Only the runs of all seeds decide it together.
final class SometimesMonitor: Monitor {
  let ruling: Ruling
  private let context: MonitorContext
  private let condition: Condition

  init(_ predicate: Predicate, _ context: MonitorContext) {
    self.context = context
    condition = context.condition(predicate)
    ruling = Ruling(expected: "\(predicate) in at least one run")
    condition.listen { [unowned self] _ in context.later { self.look(at: $0) } }
    look(at: context.trace.now)
  }

  var isPending: Bool { false }

  private func look(at now: Instant) {
    guard ruling.isOpen, condition.truth != .unknown else { return }
    ruling.measured = condition.isTrue ? 1 : 0
    guard condition.isTrue else { return }
    ruling.decide(.pass, at: now, "true at \(Wording.time(now))")
  }

  func finish(at time: Instant) {
    ruling.decide(.shared, at: time, "not true in this run")
  }
}
