internal import CallCore
internal import ScenarioFormat

/// `always` and `never`: the condition at every moment of the window.
///
/// Events at a border by the clock are after it, so values from before count in a window that it opens. A window that
/// an entry or an event of a peer opens begins after the change made by it.
final class InvariablyMonitor: Monitor {
  let ruling: Ruling
  private let isNever: Bool
  private let predicate: Predicate
  private let context: MonitorContext
  private let span: ObservedWindow
  private let comparisons: TestedComparisons
  /// Whether the condition was known at any moment of the window.
  private var wasTested = false
  /// The state just before the clock opened the window: whether the condition was known, and its breach.
  private var opening: (isKnown: Bool, breach: String?)?

  init(_ invariably: Expectation.Invariably, isNever: Bool, _ context: MonitorContext) {
    self.isNever = isNever
    self.context = context
    predicate = invariably.predicate
    comparisons = TestedComparisons(of: predicate, breachedBy: isNever, watch: context.watch)
    span = ObservedWindow(invariably.window, context)
    ruling = Ruling(expected: "\(isNever ? "never" : "always") \(predicate), \(span.text)")
    comparisons.listen { [unowned self] in context.later { self.look(at: $0) } }
    span.beforeClockOpens { [weak self] in
      guard let self else { return }
      opening = (comparisons.truth != .unknown, breach)
      comparisons.look()
    }
    span.onChange = { [unowned self] in look(at: $0) }
    span.start()
  }

  var isPending: Bool { ruling.isOpen && span.waitsForAnchor }

  private func look(at now: Instant) {
    guard ruling.isOpen else { return }
    if span.contains(now) {
      if let opening {
        self.opening = nil
        test(isKnown: opening.isKnown, breach: opening.breach, at: now)
      }
      comparisons.look()
      test(isKnown: comparisons.truth != .unknown, breach: breach, at: now)
    } else if let closed = span.closedAt {
      conclude(at: closed)
    }
  }

  /// The values that break the condition at this moment, if they do.
  private var breach: String? {
    guard comparisons.truth == Truth(isNever) else { return nil }
    return context.account(predicate)
  }

  private func test(isKnown: Bool, breach: String?, at time: Instant) {
    wasTested = wasTested || isKnown
    guard let breach else { return }
    ruling.decide(.fail, at: time, "\(isNever ? "true" : "false") at \(Wording.time(time)): \(breach)")
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
    guard wasTested || comparisons.wereKnown else {
      return ruling.decide(.vacuous, at: time, "it was neither true nor false: not all that it reads was set in time")
    }
    if !isNever, let reason = comparisons.lostWithProcess { return ruling.decide(.vacuous, at: time, reason) }
    if let reason = comparisons.untested { return ruling.decide(.vacuous, at: time, reason) }
    if let brevity = span.brevity { return ruling.decide(.vacuous, at: time, brevity) }
    ruling.decide(.pass, at: time, "so it was, \(span.text)")
  }
}
