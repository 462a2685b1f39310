/// Advice about networks of `topology`, which all peers that name them share, whereas a named network gives each peer
/// its own.
enum SharedNetworkChecks {
  /// Checks all networks of `topology`.
  ///
  /// - Parameters:
  ///   - draft: the undecoded scenario.
  ///   - catalogue: the named networks.
  static func check(
    _ scenario: Scenario, _ draft: DocumentDraft, catalogue: [Named<NetworkDraft>], _ reading: inout Reading
  ) {
    // All peers that name the root share it, wherever it is declared.
    for network in draft.topology.networks where network.name != TopologyBuilder.internet {
      let naming = draft.peers.filter { $0.value.networks.contains { $0.value == network.name } }.map(\.name)
      let moved = scenario.peersMoved(to: network.name)
      let peers = scenario.peers.filter { $0.stack != .puppet && naming.contains($0.name) || moved.contains($0.name) }
        .map(\.name)
      if let other = catalogue.first(where: { $0.name == network.name }) {
        // Links and 'link.move' refer to networks of the topology only.
        reportClash(of: network, with: other, peers.filter(naming.contains), &reading)
      } else if let profile = network.value.profile, peers.count > 1,
        let made = scenario.topology.network(network.name), made.nat != nil, !made.isIsolated
      {
        let message =
          "\(names(peers)) are on the one network '\(network.name)', with no NAT between them; each peer on the named "
          + "network '\(profile.value)' has one of its own"
        reading.report(
          .sharedNetwork, message, at: network.span,
          hint: "move '\(network.name)' to a file of 'use', or declare a network for each", explain: "networks")
      }
    }
  }

  /// Reports a network whose name is also a named network. For a built-in name with one peer both meanings are equal.
  private static func reportClash(
    of network: Named<NetworkDraft>, with other: Named<NetworkDraft>, _ peers: [String], _ reading: inout Reading
  ) {
    let isBuiltIn = other.span == .builtIn
    guard !isBuiltIn || peers.count > 1 else { return }
    let meaning =
      isBuiltIn
      ? "built in already, where \(names(peers)) would have one each"
      : "also declared at \(reading.sources.location(of: other.span))"
    reading.report(
      .profileClash, "the network '\(network.name)' is \(meaning)", at: network.span,
      hint: isBuiltIn
        ? "give it another name; a network of topology is one for all who name it" : "give one of them another name",
      explain: "networks")
  }

  private static func names(_ peers: [String]) -> String {
    guard let last = peers.last, peers.count > 1 else { return peers.first ?? "" }
    return peers.dropLast().joined(separator: ", ") + " and \(last)"
  }
}

extension Scenario {
  /// Returns the peers that `link.move` moves to a network.
  fileprivate func peersMoved(to network: String) -> [String] {
    let links = timeline.compactMap(\.fault).filter {
      $0.kind.movesHosts && $0.arguments.text("network") == network
    }.compactMap { $0.arguments.text("link") }
    return peers.filter { $0.interfaces.contains { links.contains($0.link) } }.map(\.name)
  }
}
