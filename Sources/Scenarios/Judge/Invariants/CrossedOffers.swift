internal import CallCore
internal import ScenarioFormat

/// Two offers that cross each other must not both wait for ever: one side has to give way (RFC 8829 section 4.1.10.2).
final class CrossedOffers {
  private let context: MonitorContext
  private let names: [String]
  /// The peers to which the other side's description came while their own offer was pending, as it still is.
  private var crossed: Set<String> = []

  init(_ context: MonitorContext, _ arrivals: Arrivals) {
    self.context = context
    names = context.scenario.peers.map(\.name)
    let watch = context.watch
    for peer in names {
      let state = watch.slot(peer, PeerConnectionEvents.signalingState)
      let partner = watch.slot(peer, PeerEvents.callPeer)
      watch.listen(state) { [unowned self] _ in crossed.remove(peer) }
      arrivals.listen(of: peer) { [unowned self, unowned watch] message in
        guard !message.fingerprints.isEmpty, watch.value(state) == "have-local-offer",
          let other = watch.value(partner), context.scenario.userID(of: other) == message.sender
        else { return }
        crossed.insert(peer)
      }
    }
  }

  func check(at time: Instant, _ report: (Violation) -> Void) {
    for (index, peer) in names.enumerated() where crossed.contains(peer) {
      guard let other = context.watch.value(context.watch.slot(peer, PeerEvents.callPeer)), crossed.contains(other),
        names.firstIndex(of: other) ?? 0 > index
      else { continue }
      let actual = "\(peer) and \(other) have each an offer pending, and each has had the other's"
      report(Violation(.settled, at: time, actual: actual))
    }
  }
}
