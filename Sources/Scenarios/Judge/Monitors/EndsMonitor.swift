internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// `ends`: the first relevant end of the peer's call has the code.
final class EndsMonitor: Monitor {
  let ruling: Ruling
  private let ends: Expectation.Ends
  private let context: MonitorContext
  private let mainMachine: Watch.Slot<TraceDatum>?
  private var began: Instant?
  private var earlier: (code: String, time: Instant)?
  /// The codes noted in the current event.
  private var heard: [String] = []

  init(_ ends: Expectation.Ends, _ context: MonitorContext) {
    self.ends = ends
    self.context = context
    mainMachine = context.mainMachine(of: ends.peer.value).map { context.watch.slot(ends.peer.value, $0.name) }
    let time = ends.within.map { " within \($0)\(ends.of.map { " of \($0.text)" } ?? "")" } ?? ""
    let codes = ends.codes.map(\.value).joined(separator: " or ")
    ruling = Ruling(expected: "\(ends.peer.value)'s call ends with \(codes)\(time)")
    context.watch.listen(to: PeerEvents.callEnded, of: ends.peer.value) { [unowned self] _, code in hear(code) }
    context.begin(at: ends.of) { [unowned self] in begin(at: $0) }
  }

  var isPending: Bool { ruling.isOpen }

  private var deadline: Instant? {
    guard let began, let within = ends.within else { return nil }
    return began + within
  }

  private func begin(at time: Instant) {
    began = time
    guard let deadline else { return }
    context.alarms.schedule(at: deadline) { [weak self] in self?.fail(at: deadline) }
  }

  private func isWanted(_ code: String) -> Bool { ends.codes.contains { $0.value == code } }

  private func hear(_ code: String) {
    heard.append(code)
    context.later { [unowned self] in look(at: $0) }
  }

  private func look(at now: Instant) {
    let codes = heard
    heard = []
    for code in codes {
      if !ruling.isOpen, isWanted(code) { ruling.cameTrue(at: now, "it ended with \(code)") }
      guard began != nil else {
        earlier = (code, now)
        continue
      }
      let actual = "ended with \(code) at \(Wording.time(now))"
      if isWanted(code) {
        ruling.decide(.pass, at: now, actual)
      } else {
        ruling.decide(.fail, at: now, "\(actual) instead")
      }
    }
  }

  private func fail(at time: Instant) {
    let stayed = mainMachine.flatMap { slot in
      context.watch.value(slot).map { value in
        "still \(value) at \(Wording.time(time))"
          + (context.watch.changedAt(slot).map { ", since \(Wording.time($0))" } ?? "")
      }
    }
    let miss = earlier.map { "it had ended with \($0.code) at \(Wording.time($0.time)), before \(ends.of?.text ?? "")" }
    ruling.decide(
      .fail, at: time, stayed ?? "no end by \(Wording.time(time))", nearestMiss: miss, miss: .infinity)
  }

  func finish(at time: Instant) {
    guard ruling.isOpen else { return }
    guard began != nil else {
      let anchor = ends.of.map(Wording.quoted) ?? "the start"
      guard let earlier else { return ruling.decide(.vacuous, at: time, "\(anchor) never came") }
      let actual = "the call ended with \(earlier.code) at \(Wording.time(earlier.time)), and \(anchor) never came"
      // A wrong end is a failure; the right end without an anchor to time it proves nothing.
      return ruling.decide(isWanted(earlier.code) ? .vacuous : .fail, at: time, actual)
    }
    if let deadline, deadline > time {
      return ruling.decide(
        .vacuous, at: time,
        "the run ended at \(Wording.time(time)), before the deadline at \(Wording.time(deadline))")
    }
    fail(at: time)
  }
}
