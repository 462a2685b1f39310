import CallCore

/// Advice about keys of ICE that nothing in the scenario gives work to.
enum ICEChecks {
  /// - Parameter root: the scenario as it is written.
  static func check(_ scenario: Scenario, _ root: YAMLNode, _ reading: inout Reading) {
    guard !reading.diagnostics.contains(where: { $0.code.severity == .error }), hasOnePairEach(scenario) else { return }
    for peer in scenario.peers {
      guard let entry = root["peers"]?[peer.name]?["ice"]?.entry("prune") else { continue }
      let message = "'prune' has nothing to give up: between any two peers there is one pair that can work"
      let hint = "it takes a relay, a second network, a second address family, or a NAT with hairpin around both"
      reading.report(.ineffective, message, at: entry.keySpan, hint: hint)
    }
  }

  /// Whether no two peers can ever have two working pairs: each is on one network, of one address family, which it does
  /// not leave, without a relay, and no NAT leads from one to another and back.
  private static func hasOnePairEach(_ scenario: Scenario) -> Bool {
    let peers = scenario.peers.filter { $0.stack != .puppet }
    let topology = scenario.topology
    let networks = peers.map { $0.interfaces.compactMap { topology.network($0.network) } }
    guard networks.allSatisfy({ $0.count == 1 && $0[0].prefixes.count == 1 }) else { return false }
    // On one network the pair of their outside addresses is checked beside the one that works.
    guard Set(networks.map { $0[0].name }).count == networks.count else { return false }
    let usesRelay = peers.contains { !topology.relays(of: $0).isEmpty }
    let isMoved = scenario.timeline.contains { $0.fault?.kind.movesHosts ?? false }
    guard !usesRelay, !isMoved else { return false }
    return !topology.networks.contains { network in
      let changes = scenario.timeline.contains { $0.fault?.nat?.hairpin != nil || $0.fault?.nat?.kind != nil }
      guard network.nat.map({ $0.hairpin != .none || changes }) ?? false else { return false }
      return networks.count { $0.contains { topology.routers(from: $0).contains { $0.name == network.name } } } > 1
    }
  }
}
