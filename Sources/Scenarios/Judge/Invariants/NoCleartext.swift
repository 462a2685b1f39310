internal import CallCore
internal import ScenarioFormat

/// No media packet is sent unprotected, as detected by ``CleartextDetector``.
final class NoCleartext {
  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    for peer in context.scenario.peers.map(\.name) {
      context.watch.listen(to: HarnessEvents.cleartext, of: peer) { record in
        report(
          Violation(
            .noCleartext, at: record.time, actual: "\(peer) sent media in clear at \(Wording.time(record.time))"))
      }
    }
  }
}
