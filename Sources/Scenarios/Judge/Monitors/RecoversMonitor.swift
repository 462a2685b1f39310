internal import CallCore

/// `recovers`: after a fault the target is reached in time and then holds.
///
/// A fault is felt late: the target is still true when it strikes. So only a target that was lost since, or was not
/// there when the fault struck, can be reached; one that is never lost by the deadline proves nothing.
final class RecoversMonitor: Monitor {
  let ruling: Ruling
  private let recovers: Expectation.Recovers
  private let context: MonitorContext
  private let condition: Condition?
  private let media: MediaBothWays?
  private var began: Instant?
  private var lost: Instant?
  private var rise: Instant?

  init(_ recovers: Expectation.Recovers, _ context: MonitorContext) {
    self.recovers = recovers
    self.context = context
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
    let fault = Anchor(kind: .entry(recovers.fault.value), span: recovers.fault.span, text: recovers.fault.value)
    context.begin(at: fault) { [unowned self] in begin(at: $0) }
  }

  var isPending: Bool { ruling.isOpen }

  private var isTrue: Bool { condition?.isTrue ?? media?.isTrue ?? false }
  private var account: String {
    switch recovers.to {
    case .mediaBothWays: media?.account ?? ""
    case .predicate(let predicate): context.account(predicate)
    }
  }

  private func begin(at time: Instant) {
    began = time
    media?.begin(at: time)
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
    case (false, _?):
      rise = nil
      lost = now
      if now > began + recovers.within { fail(at: now) }
    case (false, nil): lost = lost ?? now
    default: break
    }
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
    guard lost != nil else {
      return ruling.decide(
        .vacuous, at: time,
        "it was never lost, so that there was nothing to recover from (for what must not be lost, "
          + "write always:)")
    }
    ruling.decide(.pass, at: time, "recovered at \(Wording.time(recovered)), after \(recovered - began)")
  }

  private func expire(at deadline: Instant) {
    guard ruling.isOpen else { return }
    guard let rise else { return fail(at: deadline) }
    guard lost == nil, let began else { return }
    let held = began + (recovers.hold ?? .zero)
    if held <= deadline { return pass(rise, at: deadline) }
    context.alarms.schedule(at: held) { [weak self] in
      guard let self, self.rise == rise else { return }
      pass(rise, at: held)
    }
  }

  private func fail(at time: Instant) {
    guard let began else { return }
    let loss = lost.map { "lost at \(Wording.time($0)), and not back" } ?? "not there"
    ruling.decide(.fail, at: time, "\(loss) by \(Wording.time(began + recovers.within))", nearestMiss: account)
  }

  func finish(at time: Instant) {
    guard ruling.isOpen else { return }
    guard let began else {
      return ruling.decide(.vacuous, at: time, "the fault '\(recovers.fault.value)' never came")
    }
    ruling.decide(
      .inconclusive, at: time,
      "the run ended at \(Wording.time(time)), before it was decided; the fault came at \(Wording.time(began))")
  }
}
