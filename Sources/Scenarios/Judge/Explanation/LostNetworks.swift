internal import CallCore

/// Networks that peers lost in the middle of a call, where ICE found no other pair and nobody restarted it.
///
/// The side that stays where it was may have given up the pairs to the other's second network: then only an ICE restart
/// brings them back.
final class LostNetworks {
  private let watch: Watch
  private let peers: [Scenario.Peer]
  private var troubledAt: [String: Instant] = [:]
  private var restartedAt: Instant?

  init(_ context: MonitorContext) {
    watch = context.watch
    peers = context.scenario.peers.filter(\.hasCallStack)
    for peer in peers.map(\.name) {
      let state = watch.slot(peer, "ice.state")
      watch.listen(state) { [unowned self] record in
        if ["disconnected", "failed"].contains(watch.value(state)?.description) { troubledAt[peer] = record.time }
      }
      watch.listen(watch.slot(peer, "ice.restart")) { [unowned self] in restartedAt = $0.time }
    }
  }

  /// `alice: the link alice/wifi is down since 12.40 s: no pair of lte worked, and nobody restarted ICE`
  func lines(of names: [String]) -> [String] {
    peers.filter { names.contains($0.name) }.flatMap { peer in
      peer.interfaces.compactMap { interface in
        guard let lostAt = lostAt(interface.link), let trouble = troubledAt[peer.name], trouble >= lostAt,
          restartedAt.map({ $0 < lostAt }) ?? true
        else { return nil }
        let others = peer.interfaces.filter { $0.link != interface.link && self.lostAt($0.link) == nil }.map(\.name)
        let rest =
          others.isEmpty
          ? "no network was left" : "no pair of \(others.joined(separator: " or ")) worked, and nobody restarted ICE"
        return "\(peer.name): the link \(interface.link) is down since \(Wording.time(lostAt)): \(rest)"
      }
    }
  }

  private func lostAt(_ link: String) -> Instant? {
    let slot = watch.slot("link/\(link)", "link.state")
    return watch.value(slot)?.description == "down" ? watch.changedAt(slot) : nil
  }
}
