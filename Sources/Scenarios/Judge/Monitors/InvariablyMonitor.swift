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
    if let names = context.unset(in: predicate) {
      let rest = wasTested ? "what it might have broken was not tested" : "it was neither true nor false"
      return ruling.decide(.vacuous, at: time, "\(names) was never set, so that \(rest)")
    }
    guard wasTested else {
      return ruling.decide(.vacuous, at: time, "it was neither true nor false: not all that it reads was set in time")
    }
    if let brevity = span.brevity { return ruling.decide(.vacuous, at: time, brevity) }
    ruling.decide(.pass, at: time, "so it was, \(span.text)")
  }
}
