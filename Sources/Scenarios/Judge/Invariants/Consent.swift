internal import CallCore
internal import ScenarioFormat
internal import SimNet

/// No media leaves a device before its user accepted or placed the call, judged for each packet at its interfaces.
final class Consent {
  private var senders: [String: Sender] = [:]
  private let report: (Violation) -> Void

  /// The consent of one peer, and the packets that it sent on a connection with consent.
  private final class Sender {
    let consent: UserConsent
    var isTold = false
    /// The number of packets per source that were sent in time and may leave late, over a connection to a relay.
    var waiting: [UInt32: Int] = [:]

    init(_ consent: UserConsent) { self.consent = consent }
  }

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    self.report = report
    let watch = context.watch
    for one in context.scenario.peers {
      let peer = one.name
      let sender = Sender(UserConsent(peer, context))
      senders[peer] = sender
      sender.consent.onForged = { time in
        let actual = "\(peer) set user.accepted at \(Wording.time(time)), but its user did not"
        report(Violation(.consent, at: time, actual: actual))
      }
      for subject in one.connectionSubjects {
        watch.listen(to: PeerConnectionEvents.mediaSent, of: subject) { [unowned sender] _, ssrc, _, _ in
          if sender.consent.isGiven { sender.waiting[ssrc, default: 0] += 1 }
        }
      }
    }
    context.wire.listen(media: { [unowned self] media in
      if media.direction == .tx, let sender = senders[media.peer] { judge(media, sender) }
    })
  }

  private func judge(_ media: WireMedia, _ sender: Sender) {
    let isInTime = sender.consent.isGiven
    // A datagram does not wait for others; a stream keeps its order.
    sender.waiting[media.ssrc, default: 0] -= 1
    let hasWaited = media.transport == .tcp && sender.waiting[media.ssrc, default: 0] >= 0
    guard !isInTime, !hasWaited else {
      sender.isTold = false
      return
    }
    guard !sender.isTold else { return }
    sender.isTold = true
    let reason =
      sender.consent.endedAt.map { "after its call had ended at \(Wording.time($0))" }
      ?? "although its user had neither called nor accepted"
    let actual = "\(media.peer) sent media at \(Wording.time(media.time)) \(reason)"
    report(Violation(.consent, at: media.time, actual: actual))
  }
}
