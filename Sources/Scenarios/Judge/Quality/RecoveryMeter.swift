package import CallCore
internal import ScenarioFormat

/// `q.recovery`: the time from the last fault with an audible effect to the return of sound after an interruption.
package final class RecoveryMeter {
  private let trace: Trace
  private let subject: TraceSubject
  package let peer: String
  private var latestFault: Instant?
  /// Whether speech was interrupted before the old sound that plays.
  private var wasInterrupted = false
  /// Called when a call is over: what is heard in the next one ends no interruption of this.
  package var onEnd: (() -> Void)?
  /// What becomes of the speech over each connection of the peer: a pause, in which hardly a packet is sent, is no
  /// interruption.
  private var speech: [String: SpeechLoss] = [:]

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

  /// Takes a frame that was due to be heard over a connection: where it is known what was said, only what takes speech away
  /// is an interruption.
  package func note(over connection: String, isSpeech: Bool, isHeard: Bool) {
    if speech[connection] == nil { speech[connection] = SpeechLoss(over: connection) }
    speech[connection]?.note(isSpeech: isSpeech, isHeard: isHeard)
  }

  /// Notes that the call is over.
  func endCall() {
    (speech, wasInterrupted) = ([:], false)
    onEnd?()
  }

  /// Notes that sound is heard again after an interruption. An interruption that ended before a fault began is
  /// unrelated to it; during one, every fault that begins becomes the last.
  ///
  /// - Parameter isOld: Whether it was buffered before the interruption: then what follows may end it.
  package func resumed(at now: Instant, isOld: Bool) {
    wasInterrupted = wasInterrupted || speech.isEmpty || speech.values.contains(where: \.wasInterrupted)
    guard !isOld else { return }
    defer { wasInterrupted = false }
    guard let fault = latestFault, now > fault, wasInterrupted else { return }
    trace.write(HarnessEvents.recovery, subject, now - fault)
  }
}
