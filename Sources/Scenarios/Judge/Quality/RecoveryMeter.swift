internal import CallCore
internal import VirtualPeer

/// `q.recovery`: from the last fault to the first sound that is heard after the interruption that followed it.
final class RecoveryMeter {
  private let trace: Trace
  private let kind: TraceKind
  private let subject: TraceSubject
  private let peer: String
  private var latestFault: Instant?

  init(_ path: ValuePath, _ scenario: Scenario, trace: Trace, anchors: Anchors) {
    self.trace = trace
    peer = path.peer
    subject = trace.subject(path.peer)
    kind = trace.declare(path.name, TraceField("value", .interval))
    for entry in scenario.timeline {
      guard case .fault = entry.effect else { continue }
      anchors.listen(Anchor(kind: .entry(entry.id), span: entry.span, text: entry.id)) { [unowned self] in
        latestFault = $0
      }
    }
  }

  func attach(to world: World) {
    world.peers.first { $0.name == peer }?.audioRecord.resumed = { [unowned self] since, now in
      resumed(since: since, at: now)
    }
  }

  /// Sound is heard again after an interruption.
  func resumed(since: Instant, at now: Instant) {
    // An interruption that was over before the fault is not the fault's.
    guard let fault = latestFault, now > fault, since + AudioRecord.interruption > fault else { return }
    trace.write(kind, subject, .interval(now - fault))
  }
}
