internal import CallCore

/// `recovers`: what was there when a fault began is lost after it, and is back in time and stays.
///
/// A fault is felt late: the target is still there when it strikes. What was not there then the fault did not take, and
/// what is never lost by the deadline needed no recovery: neither puts recovery to the test. Nor does what is lost
/// without the fault, too, which only another run can tell; see ``claim``.
///
/// Each firing of the fault's entry is judged with a deadline and a hold of its own. A loss is laid to the last firing
/// before it.
final class RecoversMonitor: Monitor {
  /// One beginning of the fault that is not decided yet.
  private struct Firing {
    let time: Instant
    /// How often the target had been missing before it.
    let earlierAbsences: Int
    /// How often it had been when the fault began again.
    var laterAbsences = Int.max
  }

  let ruling: Ruling
  private let recovers: Expectation.Recovers
  private let context: MonitorContext
  private let target: RecoveryTarget
  /// Whether the entry may fire again, so that only the end of the run tells that it recovered each time.
  private let isRepeated: Bool
  /// In order of time.
  private var firings: [Firing] = []
  private var slowest: (recovered: Instant, after: Interval)?
  private var recoveryCount = 0
  private var unharmedCount = 0
  /// When the fault came and found nothing that it could take, and why.
  private var missed: (time: Instant, account: String)?
  /// The first firing that took the target.
  private var taken: Firing?
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

  var isPending: Bool { ruling.isOpen && (target.began == nil || !firings.isEmpty) }

  // MARK: While it runs

  /// The fault is about to begin.
  private func begin(at time: Instant) {
    guard ruling.isOpen else { return }
    guard target.isThere else {
      // What an earlier firing took is judged with that.
      if !firings.contains(where: { loss(of: $0) != nil }), missed == nil { missed = (time, target.account) }
      if !isRepeated { decideAtEnd(at: time) }
      return
    }
    let count = target.absences.count
    if let last = firings.indices.last { firings[last].laterAbsences = min(firings[last].laterAbsences, count) }
    firings.append(Firing(time: time, earlierAbsences: count))
    let deadline = time + recovers.within
    context.alarms.schedule(at: deadline) { [weak self] in self?.expire(time, at: deadline) }
  }

  /// The first absence that is laid to a firing.
  private func loss(of firing: Firing) -> Int? {
    let index = firing.earlierAbsences
    return index < min(target.absences.count, firing.laterAbsences) ? index : nil
  }

  private func look(at now: Instant) {
    guard let absence = target.absences.last else { return }
    guard ruling.isOpen else {
      // What was back in time and did not stay is not late.
      if absence.end != nil, ruling.miss == .infinity { ruling.cameTrue(at: now, "it was back") }
      return
    }
    for firing in firings where loss(of: firing) != nil {
      if absence.end != nil {
        hold(firing, from: now)
      } else if let rise = rise(of: firing), let hold = recovers.hold, now - rise >= hold {
        // What is lost at the very end of the time for which it was to hold was held for it.
        pass(firing, rise, at: now)
      } else if now > firing.time + recovers.within {
        fail(firing, at: now)
      }
    }
  }

  /// When the target was back last, after a firing and before its newest absence.
  private func rise(of firing: Firing) -> Instant? {
    let count = target.absences.count
    return count - 2 >= firing.earlierAbsences ? target.absences[count - 2].end : nil
  }

  private func hold(_ firing: Firing, from time: Instant) {
    guard let hold = recovers.hold else { return pass(firing, time, at: time) }
    context.alarms.schedule(at: time + hold) { [weak self] in
      guard let self, target.absences.last?.end == time else { return }
      pass(firing, time, at: time + hold)
    }
  }

  private func expire(_ time: Instant, at deadline: Instant) {
    guard ruling.isOpen, let index = firings.firstIndex(where: { $0.time == time }) else { return }
    guard loss(of: firings[index]) != nil else {
      firings.remove(at: index)
      unharmedCount += 1
      if !isRepeated { decideAtEnd(at: deadline) }
      return
    }
    if target.absences.last?.end == nil { fail(firings[index], at: deadline) }
  }

  private func pass(_ firing: Firing, _ recovered: Instant, at time: Instant) {
    guard ruling.isOpen, let index = firings.firstIndex(where: { $0.time == firing.time }) else { return }
    firings.remove(at: index)
    let after = recovered - firing.time
    if slowest.map({ after > $0.after }) ?? true { slowest = (recovered, after) }
    if taken == nil { taken = firing }
    recoveryCount += 1
    if !isRepeated { decideAtEnd(at: time) }
  }

  private func fail(_ firing: Firing, at time: Instant) {
    guard ruling.isOpen, let loss = target.absences.last?.start else { return }
    claim = claim(of: firing, failure: time)
    var actual = "lost at \(Wording.time(loss)), and not back by \(Wording.time(firing.time + recovers.within))"
    var miss = Double.infinity
    if let hold = recovers.hold, let rise = rise(of: firing) {
      actual = "back at \(Wording.time(rise)), and lost again at \(Wording.time(loss)), before it had held for \(hold)"
      miss = (hold - (loss - rise)).seconds
    }
    ruling.decide(.fail, at: time, actual, nearestMiss: target.account, miss: miss)
  }

  private func claim(of firing: Firing, failure: Instant?) -> RecoveryClaim? {
    guard let began = target.began, let last = target.absences.last, let first = loss(of: firing) else { return nil }
    return RecoveryClaim(
      recovers: recovers, began: began, firing: firing.time, firstLoss: target.absences[first].start,
      lastLoss: last.start, failure: failure)
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

  // MARK: At the end

  func finish(at time: Instant) {
    guard ruling.isOpen else { return }
    if let firing = firings.last {
      return ruling.decide(
        .vacuous, at: time,
        "the run ended at \(Wording.time(time)), before it was decided; the fault came at \(Wording.time(firing.time))")
    }
    decideAtEnd(at: time)
  }

  /// No firing is open any more.
  private func decideAtEnd(at time: Instant) {
    if let missed {
      let when =
        recoveryCount + unharmedCount == 0
        ? "when the fault began" : "when the fault came at \(Wording.time(missed.time))"
      let reason = "it was not there \(when), so that nothing could be lost: \(missed.account)"
      return ruling.decide(.vacuous, at: time, reason)
    }
    guard let slowest, let taken else {
      let reason =
        target.began == nil
        ? "the fault '\(recovers.fault.value)' never came"
        : "it was never lost, so that there was nothing to recover from (for what must not be lost, write always:)"
      return ruling.decide(.vacuous, at: time, reason)
    }
    claim = claim(of: taken, failure: nil)
    let times = recoveryCount == 1 ? "" : " \(Wording.times(recoveryCount)), the slowest"
    let rest = unharmedCount == 0 ? "" : "; \(Wording.times(unharmedCount)) the fault took nothing"
    let text = "recovered\(times) at \(Wording.time(slowest.recovered)), after \(slowest.after)\(rest)"
    ruling.decide(.pass, at: time, text)
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
