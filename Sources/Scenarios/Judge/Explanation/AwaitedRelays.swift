internal import CallCore
internal import ScenarioFormat

/// Peers that are gathering and have no relay candidate, although they use TURN servers.
final class AwaitedRelays {
  /// The time of a normal allocation: two requests, retransmitted once or twice (RFC 8489, section 6.2.1).
  private static let usual = Interval.seconds(2)

  private let scenario: Scenario
  /// The start of gathering of each connection, by its trace subject; nil once it has a relay candidate, or has
  /// finished.
  private var waiting: [String: Instant] = [:]

  init(_ context: MonitorContext) {
    scenario = context.scenario
    let watch = context.watch
    for subject in scenario.peers.flatMap(\.connectionSubjects) {
      watch.listen(to: PeerConnectionEvents.gatheringState, of: subject) { [unowned self] record, state, _ in
        waiting[subject] = state == "gathering" ? record.time : nil
      }
      watch.listen(to: PeerConnectionEvents.candidate, of: subject) { [unowned self] _, candidate in
        if candidate.contains(" typ relay ") { waiting[subject] = nil }
      }
    }
  }

  /// `alice has no relay candidate: it asks the TURN server turn since 0.07 s`
  func lines(of peers: [String], at time: Instant) -> [String] {
    peers.compactMap { scenario.peer($0) }.compactMap { peer in
      guard let since = peer.connectionSubjects.compactMap({ waiting[$0] }).min(), time - since >= Self.usual else {
        return nil
      }
      let relays = scenario.topology.relays(of: peer).filter { !$0.listeners(for: peer.ice).isEmpty }
      guard !relays.isEmpty else { return nil }
      let names = relays.map(\.name).joined(separator: " and ")
      return "\(peer.name) has no relay candidate: it asks the TURN server \(names) since \(Wording.time(since))"
    }
  }
}
