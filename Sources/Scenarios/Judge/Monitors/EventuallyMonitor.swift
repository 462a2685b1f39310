internal import CallCore
internal import ScenarioFormat

/// `eventually`: the condition becomes true in time, and stays true as long as required.
final class EventuallyMonitor: Monitor {
  let ruling: Ruling
  private let eventually: Expectation.Eventually
  private let context: MonitorContext
  private let condition: Condition
  private var began: Instant?
  /// The time since which it is true, counted from the anchor.
  private var rise: Instant?
  private var longest: (from: Instant, to: Instant)?

  init(_ eventually: Expectation.Eventually, _ context: MonitorContext) {
    self.eventually = eventually
    self.context = context
    condition = context.condition(eventually.predicate)
    let time = eventually.within.map { " within \($0)\(eventually.of.map { " of \($0.text)" } ?? "")" } ?? ""
    let hold = eventually.hold.map { ", held for \($0)" } ?? ""
    ruling = Ruling(expected: "\(eventually.predicate)\(time)\(hold)")
    condition.listen { [unowned self] _ in context.later { self.look(at: $0) } }
    context.begin(at: eventually.of) { [unowned self] in begin(at: $0) }
  }

  var isPending: Bool { ruling.isOpen }

  private var deadline: Instant? {
    guard let began, let within = eventually.within else { return nil }
    return began + within
  }

  private func begin(at time: Instant) {
    began = time
    if let deadline { context.alarms.schedule(at: deadline) { [weak self] in self?.expire(at: deadline) } }
    // Earlier truth counts from the anchor on. For an entry that is after its effect; for a point in time, before all
    // events at it.
    context.watch.afterEvent { [unowned self] in
      if let anchor = eventually.of, condition.isTrueForGood {
        return ruling.decide(
          .vacuous, at: time,
          "it was true when \(Wording.quoted(anchor)) came, \(Wording.butCountersDoNotFall)")
      }
      look(at: time)
    }
  }

  private func look(at now: Instant) {
    if !ruling.isOpen, condition.isTrue { ruling.cameTrue(at: now, "it became true") }
    guard ruling.isOpen, began != nil else { return }
    switch (condition.isTrue, rise) {
    case (true, nil):
      rise = now
      guard let hold = eventually.hold else { return ruling.decide(.pass, at: now, "true at \(Wording.time(now))") }
      context.alarms.schedule(at: now + hold) { [weak self] in self?.heldSince(now) }
    case (false, let since?):
      // A condition that is lost at the very end of the hold time was held.
      if let hold = eventually.hold, now - since >= hold { return heldSince(since) }
      if longest == nil || now - since > longest!.to - longest!.from { longest = (since, now) }
      rise = nil
      if let deadline, now > deadline { fail(at: now) }
    default: break
    }
  }

  private func heldSince(_ time: Instant) {
    guard rise == time, let hold = eventually.hold else { return }
    ruling.decide(.pass, at: time + hold, "true at \(Wording.time(time)), and for \(hold)")
  }

  private func expire(at deadline: Instant) {
    if rise == nil { fail(at: deadline) }
  }

  private func fail(at time: Instant) {
    let miss = longest.map { span in
      let held = "it was true from \(Wording.time(span.from)) to \(Wording.time(span.to))"
      return eventually.hold.map { "\(held), \(span.to - span.from) of \($0)" } ?? held
    }
    let by = "not true by \(Wording.time(deadline ?? time))"
    ruling.decide(
      .fail, at: time, "\(by): \(context.account(eventually.predicate))", nearestMiss: miss, miss: .infinity)
  }

  func finish(at time: Instant) {
    guard ruling.isOpen else { return }
    guard began != nil else {
      return ruling.decide(.vacuous, at: time, "\(eventually.of.map(Wording.quoted) ?? "the start") never came")
    }
    if let rise {
      return ruling.decide(
        .vacuous, at: time,
        "true since \(Wording.time(rise)), but the run ended at \(Wording.time(time)), before it had held long enough")
    }
    if let deadline, deadline > time {
      return ruling.decide(
        .vacuous, at: time,
        "the run ended at \(Wording.time(time)), before the deadline at \(Wording.time(deadline))")
    }
    fail(at: time)
  }
}
