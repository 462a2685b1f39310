internal import CallCore

/// `always` and `never`: the condition at every moment of the window.
final class InvariablyMonitor: Monitor {
  let ruling: Ruling
  private let isNever: Bool
  private let predicate: Predicate
  private let context: MonitorContext
  private let condition: Condition
  private let span: ObservedWindow
  /// Whether the condition was known at any moment of the window.
  private var wasTested = false

  init(_ invariably: Expectation.Invariably, isNever: Bool, _ context: MonitorContext) {
    self.isNever = isNever
    self.context = context
    predicate = invariably.predicate
    condition = context.condition(predicate)
    span = ObservedWindow(invariably.window, context)
    ruling = Ruling(expected: "\(isNever ? "never" : "always") \(predicate), \(span.text)")
    condition.listen { [unowned self] _ in context.later { self.look(at: $0) } }
    span.onChange = { [unowned self] in look(at: $0) }
    span.start()
  }

  var isPending: Bool { ruling.isOpen && span.waitsForAnchor }

  private func look(at now: Instant) {
    guard ruling.isOpen else { return }
    if span.contains(now) {
      guard condition.truth != .unknown else { return }
      wasTested = true
      guard condition.isTrue == isNever else { return }
      let truth = isNever ? "true" : "false"
      ruling.decide(.fail, at: now, "\(truth) at \(Wording.time(now)): \(context.account(predicate))")
    } else if let closed = span.closedAt {
      conclude(at: closed)
    }
  }

  func finish(at time: Instant) {
    guard ruling.isOpen else { return }
    look(at: time)
    conclude(at: time)
  }

  private func conclude(at time: Instant) {
    if let emptiness = span.emptiness { return ruling.decide(.vacuous, at: time, emptiness) }
    guard wasTested else {
      let names = context.unset(in: predicate) ?? "nothing it reads"
      return ruling.decide(.vacuous, at: time, "\(names) was never set, so that it was neither true nor false")
    }
    if let brevity = span.brevity { return ruling.decide(.vacuous, at: time, brevity) }
    ruling.decide(.pass, at: time, "so it was, \(span.text)")
  }
}
