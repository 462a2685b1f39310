import CallCore
import Vocabulary

/// Advice about time-limited TURN credentials that no request of the run finds expired.
///
/// A server asks for the name again at a new allocation, and at the first request after a stale nonce.
enum CredentialChecks {
  /// - Parameter root: the scenario as it is written.
  static func check(_ scenario: Scenario, _ root: YAMLNode, _ reading: inout Reading) {
    for server in scenario.topology.servers where server.kind == .turn && server.credentials == .rest {
      let written = root["topology"]?["servers"]?[server.name]
      guard let entry = written?.entry("credential_lifetime") else { continue }
      let problem =
        "'credential_lifetime' changes nothing: a name stays good on its allocation until the next stale nonce, which "
        + "'nonce_lifetime' puts at \(server.nonceLifetime), and nothing allocates after \(server.credentialLifetime)"
      let isInert = expiresUnseen(server, scenario, reading)
      reading.note(effectOf: entry, problem: isInert ? problem : nil, isDefault: false)
    }
  }

  /// Whether the credentials expire within the run, and it is certain that nobody shows them to the server afterwards as if
  /// for the first time.
  private static func expiresUnseen(
    _ server: Topology.Server, _ scenario: Scenario, _ reading: Reading
  ) -> Bool {
    let end = scenario.latestEnd - Instant.zero
    guard server.credentialLifetime < end, server.nonceLifetime >= end, isQuiet(scenario, reading) else { return false }
    guard let last = lastCall(scenario, reading) else { return false }
    return last + settling <= .zero + server.credentialLifetime
  }

  /// In this time a call rings, is answered and has its relays, with the settings that profiles have.
  private static let settling = Interval.seconds(60)

  /// What a user does, as far as the peer's profile says it. What has no role may gather at any time.
  private static func role(_ name: String, of peer: String, _ reading: Reading) -> ActionDeclaration.Role? {
    reading.scope.peer(peer)?.vocabulary.profile?.action(name)?.role
  }

  /// Whether nothing makes ICE restart, or relays come and go, in the middle of a call.
  private static func isQuiet(_ scenario: Scenario, _ reading: Reading) -> Bool {
    let hasSteadyLinks = scenario.topology.links.allSatisfy {
      $0.startsUp && $0.transmit.isSteady && $0.receive.isSteady
    }
    let hasPlainPeers = scenario.peers.allSatisfy {
      $0.stack == .real && $0.settings.entries.isEmpty && $0.ice.gathering == .once
    }
    return hasSteadyLinks && hasPlainPeers
      && scenario.timeline.allSatisfy { entry in
        switch entry.effect {
        case .fault, .clear, .send: false
        case .action(let peer, let name, _): role(name, of: peer, reading) != nil
        case .mark: true
        }
      }
  }

  /// When a user makes relays be asked for the last time; nil when that depends on the run.
  private static func lastCall(_ scenario: Scenario, _ reading: Reading) -> Instant? {
    var last = Instant.zero
    for entry in scenario.timeline {
      guard case .action(let peer, let name, _) = entry.effect, role(name, of: peer, reading)?.gathers == true else {
        continue
      }
      if case .every = entry.trigger { return nil }
      guard let time = TimelineChecks.certain(.entry(entry.id), scenario) else { return nil }
      last = max(last, time)
    }
    return last
  }
}

extension Topology.Impairments {
  /// Whether it never keeps packets back for so long that a connection is taken for broken.
  fileprivate var isSteady: Bool {
    guard rate.map({ $0.bitsPerSecond >= 500_000 }) ?? true else { return false }
    return switch loss {
    case nil, .some(.none): true
    case .random(let rate): rate <= 0.1
    case .gilbert(let rate, let meanBurst, _, _): rate <= 0.05 && meanBurst <= .seconds(1)
    case .packets, .times: false
    }
  }
}
