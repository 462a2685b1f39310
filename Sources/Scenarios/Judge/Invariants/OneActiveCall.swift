internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// A peer is in at most one active call: it never holds two peer connections, not for an instant. Peers whose profile
/// takes several connections for normal are left out.
final class OneActiveCall {
  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    for peer in context.scenario.peers.map(\.name) {
      guard context.vocabulary(of: peer)?.hasSeveralConnections != true else { continue }
      context.watch.listen(to: PeerEvents.openConnections, of: peer) { record, count in
        guard count > 1 else { return }
        let actual = "\(peer) has \(count) connections open at \(Wording.time(record.time))"
        report(Violation(.oneActiveCall, at: record.time, actual: actual))
      }
    }
  }
}
