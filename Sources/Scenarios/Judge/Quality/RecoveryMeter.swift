package import CallCore
internal import ScenarioFormat

/// `q.recovery`: from the last fault that has begun to sound that is heard again, after an interruption.
package final class RecoveryMeter {
  private let trace: Trace
  private let subject: TraceSubject
  package let peer: String
  private var latestFault: Instant?

  init(of peer: String, _ scenario: Scenario, trace: Trace, anchors: Anchors) {
    self.trace = trace
    self.peer = peer
    subject = trace.subject(peer)
    for entry in scenario.timeline {
      guard case .fault = entry.effect else { continue }
      anchors.listen(Anchor(kind: .entry(entry.id), span: entry.span, text: entry.id)) { [unowned self] in
        latestFault = $0
      }
    }
  }

  /// Sound is heard again after an interruption. One that was over before a fault began has nothing to do with it; during
  /// one, every fault that begins is the last.
  package func resumed(at now: Instant) {
    guard let fault = latestFault, now > fault else { return }
    trace.write(HarnessEvents.recovery, subject, now - fault)
  }
}
