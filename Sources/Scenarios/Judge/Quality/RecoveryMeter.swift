package import CallCore
internal import ScenarioFormat

/// `q.recovery`: from the last fault that has begun to sound that is heard again, after an interruption.
package final class RecoveryMeter {
  private let trace: Trace
  private let event: TraceEvent<Interval>
  private let subject: TraceSubject
  package let peer: String
  private var latestFault: Instant?

  init(_ path: ValuePath, _ scenario: Scenario, trace: Trace, anchors: Anchors) {
    self.trace = trace
    peer = path.owner
    subject = trace.subject(path.subject)
    event = HarnessEvents.sample(path.name, Interval.self)
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
    trace.write(event, subject, now - fault)
  }
}
