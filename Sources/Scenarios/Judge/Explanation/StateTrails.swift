internal import CallCore
internal import VirtualPeer

/// The states each peer's main machine went through, with their times.
final class StateTrails {
  private final class Trail {
    let peer: String
    var states: [(name: String, time: Instant)] = []
    init(peer: String) { self.peer = peer }
  }

  private static let limit = 12
  private var trails: [Trail] = []

  init(_ context: MonitorContext) {
    for peer in context.scenario.peers {
      guard let machine = context.mainMachine(of: peer.name) else { continue }
      let trail = Trail(peer: peer.name)
      trails.append(trail)
      context.watch.listen(context.watch.slot(peer.name, machine.name)) { [unowned context = context.watch] record in
        trail.states.append((context.trace.datum(at: 0, of: record).description, record.time))
      }
    }
  }

  /// `alice: idle 0.00 > calling 1.00 > connected 3.31`
  func lines(of peers: [String]) -> [String] {
    trails.filter { peers.contains($0.peer) && !$0.states.isEmpty }.map { trail in
      let shown = trail.states.suffix(Self.limit).map { "\($0.name) \(Wording.number($0.time))" }
      let start = trail.states.count > Self.limit ? "… > " : ""
      return "\(trail.peer): \(start)\(shown.joined(separator: " > "))"
    }
  }
}
