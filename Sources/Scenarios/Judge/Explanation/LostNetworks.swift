internal import CallCore
internal import ScenarioFormat

/// Networks that peers lost in the middle of a call, if ICE found no other pair and was not restarted.
///
/// The remote side may have discarded the pairs to the second network: then only an ICE restart brings them back.
struct LostNetworks {
  private let context: MonitorContext
  private var story: StoryCollector { context.story }

  init(_ context: MonitorContext) { self.context = context }

  /// `alice: the link alice/wifi is down since 12.40 s: no pair of lte worked, and nobody restarted ICE`
  func lines(of names: [String]) -> [String] {
    let restartedAt = story.notes.elements.last { $0.kind == PeerConnectionEvents.restart.name }?.time
    return context.scenario.peers.filter { $0.hasCallStack && names.contains($0.name) }.flatMap { peer in
      let troubledAt = troubledAt(peer.name)
      return peer.interfaces.compactMap { interface -> String? in
        guard let lostAt = lostAt(interface.link), let troubledAt, troubledAt >= lostAt,
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

  /// Returns the time at which a connection of the peer last lost its working pair.
  private func troubledAt(_ peer: String) -> Instant? {
    story.machines.filter {
      $0.name == PeerConnectionEvents.iceState.name && RunStory.isSubject($0.subject, of: peer)
    }.compactMap { machine in
      machine.changes.elements.last { ["disconnected", "failed"].contains($0.value) }?.time
    }.max()
  }

  private func lostAt(_ link: String) -> Instant? {
    story.changes(NetworkEvents.linkState.name, of: "link/\(link)")?.last.flatMap { $0.value == "down" ? $0.time : nil }
  }
}
