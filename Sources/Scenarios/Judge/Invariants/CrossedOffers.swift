internal import CallCore
internal import ScenarioFormat
internal import Vocabulary

/// Two offers that cross each other must not both wait for ever: one side has to give way (RFC 8829 section 4.1.10.2).
///
/// The sides are two peers in a call, or a peer and the server to which its connection leads.
final class CrossedOffers {
  private static let pending = "have-local-offer"

  private let context: MonitorContext
  private let names: [String]
  /// The senders whose description came to a peer while its own offer was pending, as it still is.
  private var crossed: [String: Set<String>] = [:]

  init(_ context: MonitorContext, _ arrivals: Arrivals) {
    self.context = context
    names = context.scenario.peers.map(\.name)
    let watch = context.watch
    for subject in context.scenario.topology.servers.flatMap(\.connectionSubjects) {
      _ = watch.slot(subject, PeerConnectionEvents.signalingState)
    }
    for peer in names {
      let state = watch.slot(peer, PeerConnectionEvents.signalingState)
      _ = watch.slot(peer, PeerEvents.callPeer)
      watch.listen(state) { [unowned self] _ in crossed[peer] = nil }
      arrivals.listen(of: peer) { [unowned self, unowned watch] message in
        guard !message.fingerprints.isEmpty, watch.value(state) == Self.pending else { return }
        crossed[peer, default: []].insert(message.sender)
      }
    }
  }

  func check(at time: Instant, _ report: (Violation) -> Void) {
    for (index, peer) in names.enumerated() {
      guard let side = side(waitingFor: peer, at: index) else { continue }
      let actual = "\(peer) and \(side) have each an offer pending, and each has had the other's"
      report(Violation(.settled, at: time, actual: actual))
    }
  }

  /// Whether two offers wait for each other now. Where an answer was lost, one is said again after a while.
  var isWaiting: Bool { names.enumerated().contains { side(waitingFor: $1, at: $0) != nil } }

  private func side(waitingFor peer: String, at index: Int) -> String? {
    crossed.isEmpty ? nil : partner(of: peer, after: index) ?? server(offeringTo: peer)
  }

  /// Returns the other side of a peer's call if their offers crossed. Of both, the one that is declared first is asked.
  private func partner(of peer: String, after index: Int) -> String? {
    let scenario = context.scenario
    guard let other = context.watch.value(context.watch.slot(peer, PeerEvents.callPeer)),
      names.firstIndex(of: other) ?? 0 > index, crossed[peer]?.contains(scenario.userID(of: other)) == true,
      crossed[other]?.contains(scenario.userID(of: peer)) == true
    else { return nil }
    return other
  }

  /// Returns the server whose offer waits on its connection to a peer, where its description came to the pending offer.
  private func server(offeringTo peer: String) -> String? {
    guard crossed[peer]?.contains("") == true else { return nil }
    return context.scenario.topology.servers.first { server in
      guard server.connectionNames.contains(peer) else { return false }
      let subject = ConnectionSubject.name(of: peer, at: server.name)
      return context.watch.value(context.watch.slot(subject, PeerConnectionEvents.signalingState)) == Self.pending
    }?.name
  }
}
