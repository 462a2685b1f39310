package import CallCore
internal import ScenarioFormat

/// `recovers`: a target that exists when a fault begins is lost after it, returns in time, and stays.
///
/// A fault takes effect late: the target still exists when it strikes. A target that did not exist then, or is never
/// lost by the deadline, does not test recovery. Nor does a target that is lost without the fault, too, which only
/// another run can show; see ``claims``.
///
/// Each firing of the fault's entry is judged with its own deadline and hold. A loss is attributed to the last firing
/// before it. The first failure is the verdict; later ones are judged, too, because another fault may prove to be the
/// cause of the first.
package final class RecoversMonitor: Monitor {
  /// A firing of the fault that is undecided, or that failed and whose target has not returned.
  private struct Firing {
    let watch: RecoveryWatch
    var failure: Ruling?
    /// The number of absences of the target when the fault began again.
    var laterAbsences = Int.max

    var time: Instant { watch.began }
    var absences: [RecoveryWatch.Absence] { watch.absences }
    /// Whether a loss is attributed to it.
    var hasLoss: Bool { min(absences.count, laterAbsences) > 0 }
    /// The last return of the target, before its newest absence.
    var rise: Instant? { absences.count > 1 ? absences[absences.count - 2].end : nil }
  }

  private(set) var ruling: Ruling
  private let recovers: Expectation.Recovers
  private let context: MonitorContext
  private let target: RecoveryTarget
  /// Whether the entry may fire again, so that only the end of the run shows that it recovered each time.
  private let isRepeated: Bool
  /// The firings in order of time.
  private var firings: [Firing] = []
  private var firstFiring: Instant?
  private var slowest: (recovered: Instant, after: Interval)?
  private var unharmedCount = 0
  /// The time at which the fault came without a target to take, and the reason.
  private var missed: (time: Instant, account: String)?
  /// The claims for each firing that it has recovered from so far.
  private var recovered: [RecoveryClaim] = []
  /// The claims for each firing that it did not recover from, and the verdict if the claim stands. In order of time.
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

  /// The claims of the verdict about the fault, one per firing; none when it is vacuous.
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

  /// Notes that the fault is about to begin.
  private func begin(at time: Instant) {
    guard isWatching else { return }
    if firstFiring == nil { firstFiring = time }
    // The participants of calls are queried each time. Those already taken by an earlier firing are judged with that
    // firing.
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
      // A target that returned in time and did not stay is not late.
      if failure.miss == .infinity { failure.cameTrue(at: now, "it was back") }
      return end(firing)
    }
    if absence.end != nil {
      hold(firing, from: now)
    } else if let rise = firing.rise, let hold = recovers.hold, now - rise >= hold {
      // A target that is lost at the very end of the hold time was held.
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

  /// Withdraws the first of the ``claims``: a run without the fault has refuted it.
  ///
  /// - Parameters:
  ///   - loss: the time at which the target is lost in that run.
  ///   - standing: the first claim that was not refuted. A recovery stands with it; for failures it is the verdict.
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

  /// Decides when no firing is open any more.
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
  /// Returns whether an entry may fire more than once.
  fileprivate func mayFireAgain(_ id: String) -> Bool {
    var next: String? = id
    // The loop is bounded because entries that wait for each other in a cycle are rejected.
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
