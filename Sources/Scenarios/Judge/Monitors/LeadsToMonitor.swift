internal import CallCore
internal import ScenarioFormat

/// `leads_to`: each time the condition becomes true, the consequence is true in time.
final class LeadsToMonitor: Monitor {
  let ruling: Ruling
  private let leadsTo: Expectation.LeadsTo
  private let context: MonitorContext
  private let condition: Condition
  private let consequence: Condition
  private var wasTrue = false
  private var triggerCount = 0
  /// Whether the consequence could have been missing at some time.
  private var wasTested = false
  /// The times at which the condition became true, without a consequence yet, oldest first.
  private var pending: [Instant] = []
  private var slowest = Interval.zero

  init(_ leadsTo: Expectation.LeadsTo, _ context: MonitorContext) {
    self.leadsTo = leadsTo
    self.context = context
    condition = context.condition(leadsTo.condition)
    consequence = context.condition(leadsTo.consequence)
    ruling = Ruling(
      expected: "whenever \(leadsTo.condition), then \(leadsTo.consequence) within \(leadsTo.within)")
    condition.listen { [unowned self] _ in context.later { self.look(at: $0) } }
    consequence.listen { [unowned self] _ in context.later { self.look(at: $0) } }
    look(at: context.trace.now)
  }

  /// Whether it has not been tested once, or a consequence is pending.
  var isPending: Bool { ruling.isOpen && (triggerCount == 0 || !pending.isEmpty) }

  private func look(at now: Instant) {
    if !ruling.isOpen, consequence.isTrue { ruling.cameTrue(at: now, "it became true") }
    guard ruling.isOpen else { return }
    if condition.isTrue, !wasTrue {
      triggerCount += 1
      if !consequence.isTrueForGood { wasTested = true }
      pending.append(now)
      context.alarms.schedule(at: now + leadsTo.within) { [weak self] in self?.expire(now) }
    }
    wasTrue = condition.isTrue
    guard consequence.isTrue, let oldest = pending.first else { return }
    slowest = max(slowest, now - oldest)
    pending.removeAll()
  }

  private func expire(_ trigger: Instant) {
    guard pending.first == trigger else { return }
    let at = trigger + leadsTo.within
    let fulfilled = triggerCount - pending.count
    ruling.decide(
      .fail, at: at,
      "the condition became true at \(Wording.time(trigger)), and by \(Wording.time(at)) "
        + "\(context.account(leadsTo.consequence))",
      nearestMiss: fulfilled > 0 ? "it followed \(Wording.times(fulfilled)) before, after \(slowest) at most" : nil,
      miss: .infinity)
  }

  func finish(at time: Instant) {
    guard ruling.isOpen else { return }
    if let oldest = pending.first {
      ruling.decide(
        .vacuous, at: time,
        "the condition became true at \(Wording.time(oldest)), and the run ended at \(Wording.time(time)), "
          + "before the time was up")
    } else if triggerCount == 0 {
      ruling.decide(.vacuous, at: time, "the condition was never true")
    } else if !wasTested {
      ruling.decide(
        .vacuous, at: time,
        "\(leadsTo.consequence) was true each time, \(Wording.butCountersDoNotFall)")
    } else if let names = context.unset(in: leadsTo.condition) {
      ruling.decide(.vacuous, at: time, "\(names) was never set, so that the condition was only tested in part")
    } else {
      ruling.decide(.pass, at: time, "it followed \(Wording.times(triggerCount)), after \(slowest) at most")
    }
  }
}
