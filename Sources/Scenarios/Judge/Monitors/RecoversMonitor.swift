package import CallCore
internal import ScenarioFormat

/// `recovers`: what was there when a fault began is lost after it, and is back in time and stays.
///
/// A fault is felt late: the target is still there when it strikes. What was not there then the fault did not take, and
/// what is never lost by the deadline needed no recovery: neither puts recovery to the test. Nor does what is lost
/// without the fault, too, which only another run can tell; see ``claims``.
///
/// Each firing of the fault's entry is judged with a deadline and a hold of its own. A loss is laid to the last firing
/// before it. The first failure is the verdict; the later ones are judged, too, for it may turn out to be another fault's.
package final class RecoversMonitor: Monitor {
  /// One beginning of the fault that is not decided yet, or failed and is not back.
  private struct Firing {
    let watch: RecoveryWatch
    var failure: Ruling?
    /// How often the target had been missing when the fault began again.
    var laterAbsences = Int.max

    var time: Instant { watch.began }
    var absences: [RecoveryWatch.Absence] { watch.absences }
    /// Whether a loss is laid to it.
    var hasLoss: Bool { min(absences.count, laterAbsences) > 0 }
    /// When the target was back last, before its newest absence.
    var rise: Instant? { absences.count > 1 ? absences[absences.count - 2].end : nil }
  }

  private(set) var ruling: Ruling
  private let recovers: Expectation.Recovers
  private let context: MonitorContext
  private let target: RecoveryTarget
  /// Whether the entry may fire again, so that only the end of the run tells that it recovered each time.
  private let isRepeated: Bool
  /// In order of time.
  private var firings: [Firing] = []
  private var firstFiring: Instant?
  private var slowest: (recovered: Instant, after: Interval)?
  private var unharmedCount = 0
  /// When the fault came and found nothing that it could take, and why.
  private var missed: (time: Instant, account: String)?
  /// What is laid to the fault of each firing that it recovered from so far.
  private var recovered: [RecoveryClaim] = []
  /// The same of each that it did not recover from, and the verdict if that stands. In order of time.
  private var failures: [(claim: RecoveryClaim, ruling: Ruling)] = []
  private var isOver = false

  init(_ recovers: Expectation.Recovers, _ context: MonitorContext) {
    self.recovers = recovers
    self.context = context
    target = RecoveryTarget(recovers, context)
    isRepeated = context.scenario.mayFireAgain(recovers.fault.value)
    let hold = recovers.hold.map { ", held for \($0)" } ?? ""
    ruling = Ruling(expected: "\(target.name) within \(recovers.within) of \(recovers.fault.value)\(hold)")
    context.anchors.listen(.entry(recovers.fault)) { [unowned self] in begin(at: $0) }
  }

  package var fault: String { recovers.fault.value }

  /// What the verdict lays to the fault, each firing by itself; none when it is vacuous.
  package var claims: [RecoveryClaim] {
    switch ruling.decision?.verdict {
    case .pass: recovered
    case .fail: failures.map(\.claim)
    default: []
    }
  }

  var isPending: Bool { isWatching && (firstFiring == nil || firings.contains { $0.failure == nil }) }

  private var isWatching: Bool { !isOver && (ruling.isOpen || !failures.isEmpty) }

  // MARK: While it runs

  /// The fault is about to begin.
  private func begin(at time: Instant) {
    guard isWatching else { return }
    if firstFiring == nil { firstFiring = time }
    // Who is in a call is asked anew each time. Whom an earlier firing has taken is judged with that.
    let all = target.participants
    let taken = firings.filter { $0.hasLoss && $0.absences.last?.end == nil }
    for firing in taken { target.leave(firing.watch, only: { !target.isThere(for: [$0]) }) }
    let participants = all.filter { peer in !taken.contains { $0.watch.awaited.contains(peer) } }
    guard target.isThere(for: participants) else {
      let isJudged = participants.isEmpty && firings.contains(where: \.hasLoss)
      if !isJudged, missed == nil { missed = (time, target.account(of: participants)) }
      if !isRepeated { decideAtEnd(at: time) }
      return
    }
    if let last = firings.indices.last {
      firings[last].laterAbsences = min(firings[last].laterAbsences, firings[last].absences.count)
    }
    let watch = target.watch(for: participants, from: time)
    watch.onChange = { [unowned self, unowned watch] in look(watch, at: $0) }
    firings.append(Firing(watch: watch))
    let deadline = time + recovers.within
    context.alarms.schedule(at: deadline) { [weak self] in self?.expire(time, at: deadline) }
  }

  private func firing(at time: Instant) -> Firing? { firings.first { $0.time == time } }

  private func look(_ watch: RecoveryWatch, at now: Instant) {
    guard let firing = firing(at: watch.began), firing.hasLoss, let absence = firing.absences.last else { return }
    if let failure = firing.failure {
      guard absence.end != nil else { return }
      // What was back in time and did not stay is not late.
      if failure.miss == .infinity { failure.cameTrue(at: now, "it was back") }
      return end(firing)
    }
    if absence.end != nil {
      hold(firing, from: now)
    } else if let rise = firing.rise, let hold = recovers.hold, now - rise >= hold {
      // What is lost at the very end of the time for which it was to hold was held for it.
      pass(firing, rise, at: now)
    } else if now > firing.time + recovers.within {
      fail(firing, at: now)
    }
  }

  private func hold(_ firing: Firing, from time: Instant) {
    guard let hold = recovers.hold else { return pass(firing, time, at: time) }
    context.alarms.schedule(at: time + hold) { [weak self] in
      guard firing.absences.last?.end == time else { return }
      self?.pass(firing, time, at: time + hold)
    }
  }

  private func expire(_ time: Instant, at deadline: Instant) {
    guard isWatching, let firing = firing(at: time), firing.failure == nil else { return }
    guard firing.hasLoss else {
      end(firing)
      unharmedCount += 1
      if !isRepeated { decideAtEnd(at: deadline) }
      return
    }
    if firing.absences.last?.end == nil { fail(firing, at: deadline) }
  }

  private func pass(_ firing: Firing, _ recovered: Instant, at time: Instant) {
    guard isWatching, let current = self.firing(at: firing.time), current.failure == nil else { return }
    end(firing)
    let after = recovered - firing.time
    if slowest.map({ after > $0.after }) ?? true { slowest = (recovered, after) }
    if let claim = claim(of: firing, failure: nil) { self.recovered.append(claim) }
    if !isRepeated { decideAtEnd(at: time) }
  }

  private func end(_ firing: Firing) {
    firings.removeAll { $0.time == firing.time }
    target.end(firing.watch)
  }

  private func fail(_ firing: Firing, at time: Instant) {
    guard isWatching, let index = firings.firstIndex(where: { $0.time == firing.time }),
      let claim = claim(of: firing, failure: time)
    else { return }
    let loss = claim.lastLoss
    var actual = "lost at \(Wording.time(loss)), and not back by \(Wording.time(firing.time + recovers.within))"
    var miss = Double.infinity
    if let hold = recovers.hold, let rise = firing.rise {
      actual = "back at \(Wording.time(rise)), and lost again at \(Wording.time(loss)), before it had held for \(hold)"
      miss = (hold - (loss - rise)).seconds
    }
    var failure = ruling
    if !failures.isEmpty {
      failure = Ruling(expected: ruling.expected)
      failure.explain = ruling.explain
    }
    failure.decide(.fail, at: time, actual, nearestMiss: target.account(of: firing.watch.awaited), miss: miss)
    firings[index].failure = failure
    failures.append((claim, failure))
  }

  private func claim(of firing: Firing, failure: Instant?) -> RecoveryClaim? {
    guard let firstFiring, let first = firing.absences.first, let last = firing.absences.last else { return nil }
    let watch = firing.watch
    return RecoveryClaim(
      recovers: recovers, participants: failure == nil ? watch.participants : watch.awaited, began: firstFiring,
      firing: firing.time, firstLoss: first.start, lastLoss: last.start, failure: failure)
  }

  /// A run without the fault has shown that the fault did not do what the first of the ``claims`` lays to it.
  ///
  /// - Parameters:
  ///   - loss: when the target is lost there.
  ///   - standing: the first claim of which that is not so. A recovery stands with it; of failures it is the verdict.
  package func refute(lossWithoutFault loss: Instant, standing: RecoveryClaim?) {
    guard let claim = claims.first else { return }
    if let standing {
      if let failure = failures.first(where: { $0.claim.firing == standing.firing }) { ruling = failure.ruling }
      return
    }
    let lost = "lost at \(Wording.time(claim.firstLoss))"
    let what = claim.failure == nil ? "it was \(lost)" : ruling.decision?.actual ?? lost
    ruling.overrule(
      .vacuous,
      "\(what), but without '\(recovers.fault.value)' it is lost at \(Wording.time(loss)), too: name the fault that "
        + "takes it, or let them be further apart")
  }

  // MARK: At the end

  func finish(at time: Instant) {
    isOver = true
    for failure in failures { failure.ruling.end() }
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
    guard ruling.isOpen else { return }
    if let missed {
      let when =
        recovered.count + unharmedCount == 0
        ? "when the fault began" : "when the fault came at \(Wording.time(missed.time))"
      let reason = "it was not there \(when), so that nothing could be lost: \(missed.account)"
      return ruling.decide(.vacuous, at: time, reason)
    }
    guard let slowest else {
      let reason =
        firstFiring == nil
        ? "the fault '\(recovers.fault.value)' never came"
        : "it was never lost, so that there was nothing to recover from (for what must not be lost, write always:)"
      return ruling.decide(.vacuous, at: time, reason)
    }
    let times = recovered.count == 1 ? "" : " \(Wording.times(recovered.count)), the slowest"
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

extension Anchor {
  fileprivate static func entry(_ id: Located<String>) -> Anchor {
    Anchor(kind: .entry(id.value), span: id.span, text: id.value)
  }
}
