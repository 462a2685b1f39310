internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// Each VoIP push is followed by exactly one report of a call to CallKit before the app completes it.
final class ReportedPushes {
  private final class Side {
    var pushes = 0
    var reports = 0
  }

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    for peer in context.scenario.peers.map(\.name) {
      let side = Side()
      let tell: (TraceRecord, String) -> Void = { record, what in
        report(Violation(.reportedPushes, at: record.time, actual: "\(peer) \(what) at \(Wording.time(record.time))"))
      }
      context.watch.listen(to: PeerEvents.callKit, of: peer) { record, word, _, _ in
        switch CallKitWord(rawValue: word) {
        case .push: side.pushes += 1
        case .report where side.pushes > 0: side.reports += 1
        case .pushCompleted:
          if side.reports == 0 { tell(record, "completed a push without a report of a call") }
          side.pushes -= 1
          side.reports = max(0, side.reports - 1)
          guard side.pushes == 0, side.reports > 0 else { return }
          tell(record, "reported more calls than it had pushes")
          side.reports = 0
        default: break
        }
      }
      context.watch.listen(to: PeerEvents.appState, of: peer) { record, state in
        guard state == AppState.terminated.rawValue else { return }
        if side.pushes > 0 { tell(record, "was terminated with a push that it had not completed") }
        (side.pushes, side.reports) = (0, 0)
      }
    }
  }
}
