internal import CallCore

/// `recovers`: what was there when a fault began is lost after it, and is back in time and stays.
///
/// A fault is felt late: the target is still there when it strikes. What was not there then the fault did not take, and
/// what is never lost by the deadline needed no recovery: neither puts recovery to the test. Nor does what is lost
/// without the fault, too, which only another run can tell; see ``claim``.
///
/// Of an entry that fires several times, each firing that finds the target there is judged with a deadline of its own,
/// and what is lost from one firing to the next is laid to the first of the two. A firing before the hold is over takes
/// the place of the one before.
final class RecoversMonitor: Monitor {
  let ruling: Ruling
  private let recovers: Expectation.Recovers
  private let context: MonitorContext
  private let target: RecoveryTarget
  /// Whether the entry may fire again, so that only the end of the run tells that it recovered each time.
  private let isRepeated: Bool
  private var hasBegun = false
  /// The firing that is being judged, and how often the target had been missing before it.
  private var firing: (time: Instant, earlierAbsences: Int)?
  /// The slowest recovery so far.
  private var slowest: (recovered: Instant, after: Interval)?
  private var recoveryCount = 0
  /// What the verdict lays to the fault; nil when there is none, or it is vacuous.
  private(set) var claim: RecoveryClaim?

  init(_ recovers: Expectation.Recovers, _ context: MonitorContext) {
    self.recovers = recovers
    self.context = context
    target = RecoveryTarget(recovers, context)
    isRepeated = context.scenario.mayFireAgain(recovers.fault.value)
    let hold = recovers.hold.map { ", held for \($0)" } ?? ""
    ruling = Ruling(expected: "\(target.name) within \(recovers.within) of \(recovers.fault.value)\(hold)")
    target.onBegin = { [unowned self] in begin(at: $0) }
    target.onChange = { [unowned self] in look(at: $0) }
  }

  var isPending: Bool { ruling.isOpen && (!hasBegun || firing != nil) }

  /// Those since the firing that is being judged.
  private var absences: ArraySlice<RecoveryTarget.Absence> { target.absences.dropFirst(firing?.earlierAbsences ?? 0) }

  /// The fault is about to begin.
  private func begin(at time: Instant) {
    guard ruling.isOpen else { return }
    guard target.isThere else {
      // What is missing since an earlier firing is judged with that.
      guard !hasBegun else { return }
      let reason = "it was not there when the fault began, so that nothing could be lost: \(target.account)"
      return ruling.decide(.vacuous, at: time, reason)
    }
    hasBegun = true
    firing = (time, target.absences.count)
    let deadline = time + recovers.within
    context.alarms.schedule(at: deadline) { [weak self] in self?.expire(time, at: deadline) }
  }

  private func look(at now: Instant) {
    guard let absence = target.absences.last else { return }
    let isBack = absence.end != nil
    guard ruling.isOpen else {
      // What was back in time and did not stay is not late.
      if isBack, ruling.miss == .infinity { ruling.cameTrue(at: now, "it was back") }
      return
    }
    guard let firing, !absences.isEmpty else { return }
    if isBack { return hold(from: now, firing.time) }
    // What is lost at the very end of the time for which it was to hold was held for it.
    if let hold = recovers.hold, let rise = absences.dropLast().last?.end, now - rise >= hold {
      return pass(rise, at: now)
    }
    if now > firing.time + recovers.within { fail(at: now) }
  }

  private func hold(from time: Instant, _ firing: Instant) {
    guard let hold = recovers.hold else { return pass(time, at: time) }
    context.alarms.schedule(at: time + hold) { [weak self] in
      guard let self, self.firing?.time == firing, target.absences.last?.end == time else { return }
      pass(time, at: time + hold)
    }
  }

  private func expire(_ time: Instant, at deadline: Instant) {
    guard ruling.isOpen, firing?.time == time else { return }
    guard let absence = absences.last else {
      firing = nil
      if !isRepeated { decideUnlost(at: deadline) }
      return
    }
    if absence.end == nil { fail(at: deadline) }
  }

  private func decideUnlost(at time: Instant) {
    ruling.decide(
      .vacuous, at: time,
      "it was never lost, so that there was nothing to recover from (for what must not be lost, write always:)")
  }

  private func pass(_ recovered: Instant, at time: Instant) {
    guard ruling.isOpen, let firing else { return }
    let after = recovered - firing.time
    if slowest.map({ after > $0.after }) ?? true { slowest = (recovered, after) }
    recoveryCount += 1
    self.firing = nil
    if !isRepeated { decidePass(at: time) }
  }

  private func decidePass(at time: Instant) {
    guard let slowest else { return }
    claim(nil)
    let times = recoveryCount == 1 ? "" : " \(Wording.times(recoveryCount)), the slowest"
    let text = "recovered\(times) at \(Wording.time(slowest.recovered)), after \(slowest.after)"
    ruling.decide(.pass, at: time, text)
  }

  private func fail(at time: Instant) {
    guard let firing, let loss = absences.last?.start else { return }
    claim(time)
    let deadline = firing.time + recovers.within
    var actual = "lost at \(Wording.time(loss)), and not back by \(Wording.time(deadline))"
    var miss = Double.infinity
    if let hold = recovers.hold, let rise = absences.dropLast().last?.end {
      actual = "back at \(Wording.time(rise)), and lost again at \(Wording.time(loss)), before it had held for \(hold)"
      miss = (hold - (loss - rise)).seconds
    }
    ruling.decide(.fail, at: time, actual, nearestMiss: target.account, miss: miss)
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
    if let firing {
      ruling.decide(
        .vacuous, at: time,
        "the run ended at \(Wording.time(time)), before it was decided; the fault came at \(Wording.time(firing.time))")
    } else if !hasBegun {
      ruling.decide(.vacuous, at: time, "the fault '\(recovers.fault.value)' never came")
    } else if recoveryCount == 0 {
      decideUnlost(at: time)
    } else {
      decidePass(at: time)
    }
  }
}

extension Scenario {
  /// Whether an entry may fire more than once.
  fileprivate func mayFireAgain(_ id: String) -> Bool {
    var next: String? = id
    // Entries that wait for each other in a ring are refused.
    for _ in 0...timeline.count {
      guard let trigger = timeline.first(where: { $0.id == next })?.trigger else { return false }
      switch trigger {
      case .at: return false
      case .when(_, _, let times): return times > 1
      case .every: return true
      case .after(_, let anchor):
        switch anchor.kind {
        case .time, .end: return false
        case .entry(let id): next = id
        case .definition, .becomesTrue: return false
        case .entersState, .event: return true
        }
      }
    }
    return true
  }
}
