import CallCore
import Vocabulary

/// Advice about valid keys of peers and of the run that have no effect in the scenario.
enum InertKeyChecks {
  /// Checks all peers.
  ///
  /// - Parameter root: the root of the file, with merged peer profiles.
  static func check(_ scenario: Scenario, _ root: YAMLNode, _ reading: inout Reading) {
    // The behaviour of programs is unknown.
    guard !scenario.isRealTime else { return }
    for peer in scenario.peers where peer.stack == .real {
      let node = root["peers"]?[peer.name]
      if let skew = node?["clock"]?.entry("skew") {
        let problem =
          "nothing that \(peer.name) does or shows goes by the date; it takes a server over TLS, or an app that mints tokens"
        note(skew, readsDate(peer, scenario, reading) ? nil : problem, isDefault: peer.clock.skew == .zero, &reading)
      }
      if let role = node?["dtls"]?.entry("role") {
        let problem = "who answers picks the role, and nobody calls \(peer.name)"
        note(role, isCalled(peer, scenario) ? nil : problem, isDefault: peer.dtls.role == .auto, &reading)
      }
      if let ways = node?["ice"]?.entry("turn_transports") {
        let problem = "no TURN server of \(peer.name) offers another way"
        note(ways, leavesOutWays(peer, scenario) ? nil : problem, isDefault: false, &reading)
      }
      if let sockets = node?["ice"]?.entry("restart_sockets") {
        let problem = "nothing here restarts ICE; it takes \(restarts(scenario, reading))"
        let isDefault = peer.ice.restartSockets == .new
        note(sockets, mayRestart(scenario, reading) ? nil : problem, isDefault: isDefault, &reading)
      }
    }
    checkHairpins(scenario, root, &reading)
    guard reading.programs.isEmpty else { return }
    for key in ["lag", "start"] {
      guard let entry = root["limits"]?.entry(key) else { continue }
      note(entry, "no peer is a program, so that the run is in virtual time", isDefault: false, &reading)
    }
  }

  private static func note(
    _ entry: YAMLNode.Entry, _ problem: String?, isDefault: Bool, _ reading: inout Reading
  ) {
    let problem = problem.map { "'\(entry.key)' changes nothing: \($0)" }
    reading.note(effectOf: entry, problem: problem, isDefault: isDefault)
  }

  /// Returns whether a TURN server of the peer offers a transport that `turn_transports` omits. A peer without servers
  /// gets other diagnostics.
  private static func leavesOutWays(_ peer: Scenario.Peer, _ scenario: Scenario) -> Bool {
    let relays = scenario.topology.relays(of: peer)
    return relays.isEmpty || relays.contains { relay in !relay.transports.allSatisfy { peer.ice.uses($0) } }
  }

  /// Reports NATs that hairpin and have at most one inside host during the whole run.
  private static func checkHairpins(_ scenario: Scenario, _ root: YAMLNode, _ reading: inout Reading) {
    let topology = scenario.topology
    for network in topology.networks {
      guard let nat = network.nat, let entry = root["topology"]?["networks"]?[network.name]?["nat"]?.entry("hairpin")
      else { continue }
      let isBehind = { (name: String) in
        topology.network(name).map { topology.routers(from: $0).contains { $0.name == network.name } } ?? false
      }
      let peers = scenario.peers.count { $0.stack != .puppet && $0.interfaces.contains { isBehind($0.network) } }
      let hosts = peers + topology.servers.count { isBehind($0.network.value) }
      let problem = "one host at most is behind the NAT of '\(network.name)', and reaches no other by it"
      note(entry, hosts > 1 || scenario.movesHosts ? nil : problem, isDefault: nat.hairpin == .none, &reading)
    }
  }

  /// Returns whether the peer's clock is read: for the validity of certificates or tokens, or for the times of statistics.
  private static func readsDate(_ peer: Scenario.Peer, _ scenario: Scenario, _ reading: Reading) -> Bool {
    if let profile = peer.profile, reading.registry.vocabulary(profile.value)?.readsDate == true { return true }
    let usesTLS =
      scenario.topology.relays(of: peer).contains { $0.transports.contains(.tls) && peer.ice.uses(.tls) }
      || scenario.topology.servers(of: peer).contains { $0.transports.contains(.tls) }
    return usesTLS || scenario.watchedValues.contains { $0.name.lowercased().contains("timestamp") }
  }

  /// Returns whether an action names the peer, or a puppet sends it a message, which it may answer.
  private static func isCalled(_ peer: Scenario.Peer, _ scenario: Scenario) -> Bool {
    let names = [peer.name, peer.userID].compactMap(\.self)
    return scenario.timeline.contains { entry in
      switch entry.effect {
      case .action(let actor, _, let arguments):
        actor != peer.name && arguments.entries.contains { names.contains($0.value.value.description) }
      case .send(let message): message.to == peer.name
      case .fault, .clear, .mark: false
      }
    }
  }

  /// Describes what restarts ICE in the scenario's profiles: `'ice-restart', as an action or as a setting`.
  private static func restarts(_ scenario: Scenario, _ reading: Reading) -> String {
    let all = profiles(scenario, reading).flatMap { profile in
      profile.restartActions.map { ($0, "an action") } + profile.restartSettings.map { ($0, "a setting") }
    }
    let names = all.map(\.0).inOrderOfAppearance
    return names.map { name in
      "'\(name)', as \(all.filter { $0.0 == name }.map(\.1).inOrderOfAppearance.joined(separator: " or as "))"
    }.joined(separator: ", or ")
  }

  private static func profiles(_ scenario: Scenario, _ reading: Reading) -> [ProfileVocabulary] {
    scenario.peers.compactMap { $0.profile.flatMap { reading.registry.vocabulary($0.value) } }
  }

  /// Returns whether ICE may restart. A profile without an action or a setting for it may restart by itself.
  private static func mayRestart(_ scenario: Scenario, _ reading: Reading) -> Bool {
    let areKnown = profiles(scenario, reading).allSatisfy {
      !$0.restartActions.isEmpty || !$0.restartSettings.isEmpty
    }
    func profile(of peer: String) -> ProfileVocabulary? { reading.scope.peer(peer)?.vocabulary.profile }
    let isSet = scenario.peers.contains { peer in
      profile(of: peer.name)?.restartSettings.contains { peer.settings.flag($0) ?? false } ?? false
    }
    return !areKnown || isSet
      || scenario.timeline.contains { entry in
        switch entry.effect {
        case .action(let peer, let name, _): profile(of: peer)?.restartActions.contains(name) ?? false
        // A puppet may offer a restart.
        case .send: true
        case .fault, .clear, .mark: false
        }
      }
  }
}

extension ProfileVocabulary {
  fileprivate var restartActions: [String] { actions.filter { $0.role == .restartICE }.map(\.name) }
  fileprivate var restartSettings: [String] { settings.filter { $0.role == .restartsICE }.map(\.name) }
}
