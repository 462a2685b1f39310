internal import CallCore

/// `recovers`: what was there when a fault began is lost after it, and is back in time and stays.
///
/// A fault is felt late: the target is still there when it strikes. What was not there then the fault did not take, and
/// what is never lost by the deadline needed no recovery: neither puts recovery to the test. Nor does what is lost
/// without the fault, too, which only another run can tell; see ``claim``.
final class RecoversMonitor: Monitor {
  let ruling: Ruling
  private let recovers: Expectation.Recovers
  private let context: MonitorContext
  private let target: RecoveryTarget
  /// What the verdict lays to the fault; nil when there is none, or it is vacuous.
  private(set) var claim: RecoveryClaim?

  init(_ recovers: Expectation.Recovers, _ context: MonitorContext) {
    self.recovers = recovers
    self.context = context
    target = RecoveryTarget(recovers, context)
    let hold = recovers.hold.map { ", held for \($0)" } ?? ""
    ruling = Ruling(expected: "\(target.name) within \(recovers.within) of \(recovers.fault.value)\(hold)")
    target.onBegin = { [unowned self] in begin(at: $0) }
    target.onChange = { [unowned self] in look(at: $0) }
  }

  var isPending: Bool { ruling.isOpen }

  /// The fault is about to begin.
  private func begin(at time: Instant) {
    guard target.wasThere else {
      let reason = "it was not there when the fault began, so that nothing could be lost: \(target.account)"
      return ruling.decide(.vacuous, at: time, reason)
    }
    let deadline = time + recovers.within
    context.alarms.schedule(at: deadline) { [weak self] in self?.expire(at: deadline) }
  }

  private func look(at now: Instant) {
    guard let began = target.began, let absence = target.absences.last else { return }
    let isBack = absence.end != nil
    guard ruling.isOpen else {
      if isBack { ruling.cameTrue(at: now, "it was back") }
      return
    }
    if isBack { return hold(from: now) }
    // What is lost at the very end of the time for which it was to hold was held for it.
    if let hold = recovers.hold, let rise = target.absences.dropLast().last?.end, now - rise >= hold {
      return pass(rise, at: now)
    }
    if now > began + recovers.within { fail(at: now) }
  }

  private func hold(from time: Instant) {
    guard let hold = recovers.hold else { return pass(time, at: time) }
    context.alarms.schedule(at: time + hold) { [weak self] in
      guard let self, target.absences.last?.end == time else { return }
      pass(time, at: time + hold)
    }
  }

  private func expire(at deadline: Instant) {
    guard ruling.isOpen else { return }
    guard let absence = target.absences.last else {
      return ruling.decide(
        .vacuous, at: deadline,
        "it was never lost, so that there was nothing to recover from (for what must not be lost, write always:)")
    }
    if absence.end == nil { fail(at: deadline) }
  }

  private func pass(_ recovered: Instant, at time: Instant) {
    guard ruling.isOpen, let began = target.began else { return }
    claim(nil)
    ruling.decide(.pass, at: time, "recovered at \(Wording.time(recovered)), after \(recovered - began)")
  }

  private func fail(at time: Instant) {
    guard let began = target.began, let loss = target.absences.last?.start else { return }
    claim(time)
    let end = began + recovers.within
    ruling.decide(
      .fail, at: time, "lost at \(Wording.time(loss)), and not back by \(Wording.time(end))",
      nearestMiss: target.account, miss: .infinity)
  }

  private func claim(_ failure: Instant?) {
    guard let began = target.began, let first = target.absences.first, let last = target.absences.last else { return }
    claim = RecoveryClaim(
      recovers: recovers, began: began, firstLoss: first.start, lastLoss: last.start, failure: failure)
  }

  /// The run without the fault has shown that the fault did not do it.
  ///
  /// - Parameter loss: when the target is lost there.
  func refute(lossWithoutFault loss: Instant) {
    guard let claim else { return }
    let lost = "lost at \(Wording.time(claim.firstLoss))"
    let what = claim.failure == nil ? "it was \(lost)" : ruling.decision?.actual ?? lost
    ruling.overrule(
      .vacuous,
      "\(what), but without '\(recovers.fault.value)' it is lost at \(Wording.time(loss)), too: name the fault that "
        + "takes it, or let them be further apart")
  }

  func finish(at time: Instant) {
    guard ruling.isOpen else { return }
    guard let began = target.began else {
      return ruling.decide(.vacuous, at: time, "the fault '\(recovers.fault.value)' never came")
    }
    ruling.decide(
      .vacuous, at: time,
      "the run ended at \(Wording.time(time)), before it was decided; the fault came at \(Wording.time(began))")
  }
}
