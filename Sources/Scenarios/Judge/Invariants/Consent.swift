internal import CallCore

/// What a user allowed: from the call or accept of this call to its end.
///
/// The app says so with `user.called` and `user.accepted`; that a user really acted says the harness.
final class UserConsent {
  private(set) var isGiven = false
  private(set) var endedAt: Instant?
  /// Whether the user did anything at all since the last call ended.
  private(set) var hasActed = false
  /// Told when the app claims a consent that no user gave.
  var onForged: ((_ flag: String, Instant) -> Void)?
  var onEnd: ((Instant) -> Void)?

  init(_ peer: String, _ context: MonitorContext) {
    let watch = context.watch
    watch.listen(watch.slot(peer, "user.action")) { [unowned self] _ in hasActed = true }
    for flag in ["user.called", "user.accepted"] {
      let slot = watch.slot(peer, flag)
      watch.listen(slot) { [unowned self, unowned watch] record in
        guard watch.value(slot) == .flag(true) else { return }
        if !hasActed { onForged?(flag, record.time) }
        isGiven = true
        endedAt = nil
      }
    }
    watch.listen(watch.slot(peer, "call.ended")) { [unowned self] record in
      isGiven = false
      hasActed = false
      endedAt = record.time
      onEnd?(record.time)
    }
  }
}

/// No media leaves a device before its user accepted or placed the call, packet by packet.
final class Consent {
  private var consents: [UserConsent] = []

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    for peer in context.scenario.peers.map(\.name) {
      let consent = UserConsent(peer, context)
      consents.append(consent)
      consent.onForged = { flag, time in
        report(
          Violation(
            .consent, at: time, actual: "\(peer) set \(flag) at \(Wording.time(time)), but its user did nothing"))
      }
      var isTold = false
      context.watch.listen(context.watch.slot(peer, "media.sent")) { [unowned consent] record in
        guard !consent.isGiven else {
          isTold = false
          return
        }
        guard !isTold else { return }
        isTold = true
        let reason =
          consent.endedAt.map { "after its call had ended at \(Wording.time($0))" }
          ?? "although its user had neither called nor accepted"
        report(
          Violation(.consent, at: record.time, actual: "\(peer) sent media at \(Wording.time(record.time)) \(reason)"))
      }
    }
  }
}
