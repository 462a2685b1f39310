internal import CallCore
internal import ScenarioFormat

/// The microphone is open only from the call or accept until the end plus ``grace``.
final class CaptureScope {
  static let grace = Interval.milliseconds(200)

  private var consents: [UserConsent] = []

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    for peer in context.scenario.peers.map(\.name) {
      let consent = UserConsent(peer, context)
      consents.append(consent)
      context.watch.listen(to: PeerEvents.microphone, of: peer) {
        [unowned consent, unowned watch = context.watch] record, isOpen in
        guard isOpen, !consent.isGiven else { return }
        // Opening and consent may be in the same event.
        watch.afterEvent {
          guard !consent.isGiven else { return }
          let actual = "\(peer) opened its microphone at \(Wording.time(record.time)) without a call its user wanted"
          report(Violation(.captureScope, at: record.time, actual: actual))
        }
      }
      let microphone = context.watch.slot(peer, PeerEvents.microphone)
      consent.onEnd = { [unowned consent, unowned watch = context.watch] end in
        watch.alarms.schedule(at: end + Self.grace) {
          guard !consent.isGiven, watch.value(microphone) == true else { return }
          let actual = "\(peer)'s microphone is still open \(Self.grace) after its call ended at \(Wording.time(end))"
          report(Violation(.captureScope, at: end + Self.grace, actual: actual))
        }
      }
    }
  }
}
