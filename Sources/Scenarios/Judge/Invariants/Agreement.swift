internal import CallCore

/// Both sides of a call end with views that pair: both connected, or both ended by codes that tell one story.
final class Agreement {
  private struct Ending {
    var code: String
    var time: Instant
  }

  private let context: MonitorContext
  private let report: (Violation) -> Void
  /// The last call each user placed, in order.
  private var calls: [(caller: String, callee: String, entry: Anchor)] = []
  private var endings: [String: Ending] = [:]

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    self.context = context
    self.report = report
    for entry in context.scenario.timeline {
      guard case .action(let caller, "call", let arguments) = entry.effect, let callee = arguments.text("to") else {
        continue
      }
      let anchor = Anchor(kind: .entry(entry.id), span: entry.span, text: entry.id)
      _ = context.anchors.first(anchor)
      calls.append((caller, callee, anchor))
    }
    for peer in context.scenario.peers.map(\.name) {
      context.watch.listen(context.watch.slot(peer, "call.ended")) { [unowned self] record in
        let code = self.context.trace.datum("code", of: record)?.description ?? ""
        endings[peer] = Ending(code: code, time: record.time)
      }
    }
  }

  /// Judges the last call of each pair.
  func check(at time: Instant) {
    for call in lastCalls { check(call.caller, call.callee, since: call.start, at: time) }
  }

  /// Whether somebody is still connected to a peer whose call is over: he may not have noticed yet.
  var isOneSided: Bool {
    lastCalls.contains { call in
      guard let first = CallStage(of: call.caller, context), let second = CallStage(of: call.callee, context) else {
        return false
      }
      return switch (first, second) {
      case (.connected, .none), (.none, .connected): true
      default: false
      }
    }
  }

  /// The last call of each pair; peers that have been in other calls since are left out. A call that found its callee
  /// busy has one side only: how the callee's own call ends is another story.
  private var lastCalls: [(caller: String, callee: String, start: Instant)] {
    var seen: Set<String> = []
    let placed = calls.compactMap { call in context.anchors.all(call.entry).last.map { (call, $0) } }
      .filter { call, start in ending(of: call.caller, since: start)?.code != "busy" }
    return placed.sorted { $0.1 > $1.1 }.compactMap { call, start in
      let isLast = !seen.contains(call.caller) && !seen.contains(call.callee)
      seen.formUnion([call.caller, call.callee])
      return isLast ? (call.caller, call.callee, start) : nil
    }
  }

  private func check(_ a: String, _ b: String, since start: Instant, at time: Instant) {
    guard let first = CallStage(of: a, context), let second = CallStage(of: b, context) else { return }
    switch (first, second) {
    case (.connected, .connected), (.underway, _), (_, .underway): break
    case (.connected, .none): disagree(a, b, since: start, at: time)
    case (.none, .connected): disagree(b, a, since: start, at: time)
    case (.none, .none):
      guard let one = ending(of: a, since: start), let other = ending(of: b, since: start),
        !EndCodePairs.agree(one.code, other.code)
      else { return }
      report(
        Violation(
          .agreement, at: time,
          actual: "\(a) ended with \(one.code) at \(Wording.time(one.time)), and \(b) with \(other.code) "
            + "at \(Wording.time(other.time)): \(EndCodePairs.objection)"))
    }
  }

  private func ending(of peer: String, since start: Instant) -> Ending? {
    endings[peer].flatMap { $0.time >= start ? $0 : nil }
  }

  private func disagree(_ connected: String, _ other: String, since start: Instant, at time: Instant) {
    let end =
      ending(of: other, since: start).map { "\(other)'s call ended with \($0.code) at \(Wording.time($0.time))" }
      ?? "\(other) is in no call"
    report(Violation(.agreement, at: time, actual: "\(connected) is connected, but \(end)"))
  }
}

/// Which end codes two sides of one call may have.
enum EndCodePairs {
  /// Codes that say that the other side ended the call of its own will.
  private static let blameOther = ["remote-hangup", "cancelled", "remote-cancelled", "recall"]
  /// Codes that say that the other side refused the call: it had not ended it then.
  private static let refusals = ["declined", "busy", "permission-needed"]

  static let objection = "each says that the other ended it"

  /// Two sides disagree when each says that the other ended the call; every other pair is one story seen from two
  /// sides, or two sides that gave up separately because they could not tell each other.
  static func agree(_ a: String, _ b: String) -> Bool {
    !(blameOther.contains(a) && (blameOther.contains(b) || refusals.contains(b)))
      && !(blameOther.contains(b) && refusals.contains(a))
  }
}
