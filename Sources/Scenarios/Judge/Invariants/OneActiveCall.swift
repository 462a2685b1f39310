internal import CallCore
internal import ScenarioFormat

/// A peer has at most one active call: it never holds two peer connections at an instant. If its profile allows
/// several, it never holds two with one name.
final class OneActiveCall {
  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    for subject in context.scenario.peers.flatMap(\.connectionSubjects) {
      context.watch.listen(to: PeerEvents.openConnections, of: subject) { record, count in
        guard count > 1 else { return }
        let actual = "\(subject) has \(count) connections open at \(Wording.time(record.time))"
        report(Violation(.oneActiveCall, at: record.time, actual: actual))
      }
    }
  }
}
