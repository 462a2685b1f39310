internal import CallCore
internal import ScenarioFormat
internal import SimNet

/// Media flow only where the certificate of the other side is one that was signalled (RFC 8827 section 6.5).
///
/// A device's certificate is the one in the descriptions that left it, before faults; those that reached the peer since
/// its last call ended must have announced it at least once.
final class SignalledCertificate {
  /// The fingerprints that reached one peer, by the user id of the sender.
  private final class Side {
    var told: [String: [String]] = [:]
    var isTold = false
    /// Whether no fingerprint of the call's other side is among those that arrived; nil until that is asked again.
    var isForeign: Bool?
  }

  private let context: MonitorContext
  /// The fingerprints in the descriptions of each user.
  private var own: [String: [String]] = [:]
  private var sides: [String: Side] = [:]
  private let report: (Violation) -> Void

  init(_ context: MonitorContext, _ arrivals: Arrivals, _ report: @escaping (Violation) -> Void) {
    self.context = context
    self.report = report
    let watch = context.watch
    let peers = context.scenario.peers.map(\.name)
    watch.listen(to: HarnessEvents.messageSubmitted) { [unowned self] _, _, user, fingerprints in
      guard !fingerprints.isEmpty else { return }
      own[user, default: []] += fingerprints.split(separator: ",").map { $0.lowercased() }
      for peer in peers { sides[peer]?.isForeign = nil }
    }
    for peer in peers {
      let side = Side()
      sides[peer] = side
      watch.listen(watch.slot(peer, PeerEvents.callPeer)) { _ in side.isForeign = nil }
      watch.listen(to: PeerEvents.callEnded, of: peer) { _, _ in
        side.told = [:]
        (side.isForeign, side.isTold) = (nil, false)
      }
      arrivals.listen(of: peer) { message in
        guard !message.fingerprints.isEmpty else { return }
        side.told[message.sender, default: []] += message.fingerprints.map { $0.lowercased() }
        side.isForeign = nil
      }
    }
    context.wire.listen(media: { [unowned self] media in
      if media.direction == .tx, let side = sides[media.peer] { judge(media, side) }
    })
  }

  private func judge(_ media: WireMedia, _ side: Side) {
    guard !side.isTold else { return }
    let isForeign = side.isForeign ?? isForeign(side, of: media.peer)
    side.isForeign = isForeign
    guard isForeign else { return }
    side.isTold = true
    let actual =
      "\(media.peer) sent media at \(Wording.time(media.time)), and no description that reached it has the other "
      + "side's fingerprint"
    report(Violation(.signalledCertificate, at: media.time, actual: actual))
  }

  private func isForeign(_ side: Side, of peer: String) -> Bool {
    guard let partner = context.watch.value(context.watch.slot(peer, PeerEvents.callPeer)) else { return false }
    let user = context.scenario.userID(of: partner)
    guard let told = side.told[user], let own = own[user] else { return false }
    return !told.contains { own.contains($0) }
  }
}
