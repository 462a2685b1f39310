internal import CallCore

/// `recovers`: what was there when a fault began is lost after it, and is back in time and stays.
///
/// A fault is felt late: the target is still there when it strikes. What was not there then the fault did not take, what
/// is never lost by the deadline needed no recovery, and what is lost only after something else has come that may take
/// it may be the doing of that: none of them puts recovery to the test.
final class RecoversMonitor: Monitor {
  let ruling: Ruling
  private let recovers: Expectation.Recovers
  private let context: MonitorContext
  private let condition: Condition?
  private let media: MediaBothWays?
  private var began: Instant?
  private var lost: Instant?
  private var rise: Instant?
  private let rivals: RivalCauses

  init(_ recovers: Expectation.Recovers, _ context: MonitorContext) {
    self.recovers = recovers
    self.context = context
    rivals = RivalCauses(of: recovers.fault.value, context)
    let target: String
    switch recovers.to {
    case .mediaBothWays:
      (condition, media) = (nil, MediaBothWays(context))
      target = "media both ways"
    case .predicate(let predicate):
      (condition, media) = (context.condition(predicate), nil)
      target = "\(predicate)"
    }
    let hold = recovers.hold.map { ", held for \($0)" } ?? ""
    ruling = Ruling(expected: "\(target) within \(recovers.within) of \(recovers.fault.value)\(hold)")
    condition?.listen { [unowned self] _ in context.later { self.look(at: $0) } }
    media?.onChange = { [unowned self] time in context.watch.afterEvent { self.look(at: time) } }
    context.begin(at: .entry(recovers.fault)) { [unowned self] in begin(at: $0) }
  }

  var isPending: Bool { ruling.isOpen }

  private var isTrue: Bool { condition?.isTrue ?? media?.isTrue ?? false }
  private var account: String {
    switch recovers.to {
    case .mediaBothWays: media?.account ?? ""
    case .predicate(let predicate): context.account(predicate)
    }
  }

  /// The fault is about to begin.
  private func begin(at time: Instant) {
    began = time
    media?.begin(at: time)
    guard isTrue else {
      let account = account
      let reason = "it was not there when the fault began, so that nothing could be lost: \(account)"
      return ruling.decide(.vacuous, at: time, reason)
    }
    rise = time
    let deadline = time + recovers.within
    context.alarms.schedule(at: deadline) { [weak self] in self?.expire(at: deadline) }
    context.watch.afterEvent { [unowned self] in look(at: time) }
  }

  private func look(at now: Instant) {
    if !ruling.isOpen, isTrue { ruling.cameTrue(at: now, "it was back") }
    guard ruling.isOpen, let began else { return }
    switch (isTrue, rise) {
    case (true, nil):
      rise = now
      if lost != nil { hold(from: now) }
    case (false, let since?):
      // What is lost at the very end of that time was held for it.
      if lost != nil, let hold = recovers.hold, now - since >= hold { return pass(since, at: now) }
      if let rival = rival(of: now) {
        let time = Wording.time(rival.time)
        return ruling.decide(
          .vacuous, at: now,
          "it was lost at \(Wording.time(now)), and \(rival.what) at \(time) may be what took it: name the fault that "
            + "comes first, or let them be further apart")
      }
      rise = nil
      lost = now
      if now > began + recovers.within { fail(at: now) }
    default: break
    }
  }

  /// What else may have taken what is lost now. Media are missed late.
  private func rival(of loss: Instant) -> RivalCauses.Cause? {
    guard lost == nil, let began else { return nil }
    return rivals.last(from: media == nil ? began : began - MediaBothWays.gap, through: loss, besidesFaultAt: began)
  }

  private func hold(from time: Instant) {
    guard let hold = recovers.hold else { return pass(time, at: time) }
    context.alarms.schedule(at: time + hold) { [weak self] in
      guard let self, rise == time else { return }
      pass(time, at: time + hold)
    }
  }

  private func pass(_ recovered: Instant, at time: Instant) {
    guard let began else { return }
    ruling.decide(.pass, at: time, "recovered at \(Wording.time(recovered)), after \(recovered - began)")
  }

  private func expire(at deadline: Instant) {
    guard ruling.isOpen else { return }
    if rise == nil { return fail(at: deadline) }
    guard lost == nil else { return }
    ruling.decide(
      .vacuous, at: deadline,
      "it was never lost, so that there was nothing to recover from (for what must not be lost, write always:)")
  }

  private func fail(at time: Instant) {
    guard let began else { return }
    let loss = lost.map { "lost at \(Wording.time($0)), and not back" } ?? "not back"
    ruling.decide(
      .fail, at: time, "\(loss) by \(Wording.time(began + recovers.within))", nearestMiss: account, miss: .infinity)
  }

  func finish(at time: Instant) {
    guard ruling.isOpen else { return }
    guard let began else {
      return ruling.decide(.vacuous, at: time, "the fault '\(recovers.fault.value)' never came")
    }
    ruling.decide(
      .vacuous, at: time,
      "the run ended at \(Wording.time(time)), before it was decided; the fault came at \(Wording.time(began))")
  }
}

extension Anchor {
  fileprivate static func entry(_ id: Located<String>) -> Anchor {
    Anchor(kind: .entry(id.value), span: id.span, text: id.value)
  }
}
