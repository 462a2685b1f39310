package import Vocabulary

/// Checks the section `fuzz`: moves that cannot be made, and restrictions of moves that are not made.
enum FuzzChecks {
  static func check(_ fuzz: Scenario.FuzzSettings, _ scenario: Scenario, _ reading: inout Reading) {
    for kind in fuzz.moves {
      guard let obstacle = scenario.obstacle(to: kind.value, reading.registry) else { continue }
      reading.report(
        .impossibleMove, "no move '\(kind.value.rawValue)' can be made: \(obstacle)", at: kind.span,
        hint: "leave it out, or add what is missing")
    }
    let kinds = fuzz.moves.map(\.value)
    guard !kinds.isEmpty else { return }
    if let first = fuzz.messages.first, !kinds.contains(where: \.isOfMessages) {
      let message = "'messages' restricts nothing: no kind of 'moves' adds or changes messages"
      reading.report(.conflictingKeys, message, at: first.span, hint: "leave it out, or add send to the moves")
    }
    if let first = fuzz.senders.first, !kinds.contains(.send) {
      let message = "'senders' restricts nothing: 'moves' has no send"
      reading.report(.conflictingKeys, message, at: first.span, hint: "leave it out, or add send to the moves")
    }
  }
}

extension Scenario {
  /// Returns the peers with an app of a known profile, with its vocabulary.
  package func apps(_ registry: ProfileRegistry) -> [(peer: Peer, vocabulary: ProfileVocabulary)] {
    peers.filter { $0.stack == .real }.compactMap { peer in
      peer.profile.flatMap { registry.vocabulary($0.value) }.map { (peer, $0) }
    }
  }

  /// Returns the reason why no move of a kind can be made; nil if some can.
  package func obstacle(to kind: MoveKind, _ registry: ProfileRegistry) -> String? {
    let apps = apps(registry)
    guard !apps.isEmpty else { return "no peer has an app of a profile" }
    let served = apps.filter { !topology.servers(of: $0.vocabulary.profile).isEmpty }
    switch kind {
    case .send, .drop, .duplicate, .delay, .reorder, .corrupt:
      return served.contains { !$0.vocabulary.messages.isEmpty } ? nil : "no server relays messages to an app"
    case .disconnect: return served.isEmpty ? "no app has a server" : nil
    case .link:
      return topology.links.contains { link in apps.contains { $0.peer.name == link.from.value } }
        ? nil : "no app has a link"
    case .nat: return topology.networks.contains { $0.nat != nil } ? nil : "no network is behind a NAT"
    case .relay:
      let isThere = topology.servers.contains { $0.kind == .turn || $0.kind == .stun }
      return isThere ? nil : "there is no STUN or TURN server"
    case .action, .packets, .device: return nil
    }
  }
}
