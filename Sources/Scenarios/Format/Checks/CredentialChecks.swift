import CallCore
import Vocabulary

/// Advice about time-limited TURN credentials whose expiry no request of the run encounters.
///
/// A server checks the username at a new allocation, and at the first request after a stale nonce.
enum CredentialChecks {
  /// Checks every TURN server.
  ///
  /// - Parameter root: the root of the file.
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

  /// Returns whether the credentials expire within the run, and certainly no client presents them to the server
  /// afterwards in a first request.
  private static func expiresUnseen(
    _ server: Topology.Server, _ scenario: Scenario, _ reading: Reading
  ) -> Bool {
    let end = scenario.latestEnd - Instant.zero
    guard server.credentialLifetime < end, server.nonceLifetime >= end, isQuiet(scenario, reading) else { return false }
    guard let last = lastCall(scenario, reading) else { return false }
    return last + settling <= .zero + server.credentialLifetime
  }

  /// The time in which a call rings, is answered and has its relays, with the default settings of profiles.
  private static let settling = Interval.seconds(60)

  /// Returns the role that the profile declares for an action. An action without a role may gather at any time.
  private static func role(_ name: String, of peer: String, _ reading: Reading) -> ActionDeclaration.Role? {
    reading.scope.peer(peer)?.vocabulary.profile?.action(name)?.role
  }

  /// Returns whether nothing restarts ICE, or allocates or releases relays, during a call.
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

  /// Returns the time of the last user action that gathers candidates; nil when it depends on the run.
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
  /// Whether packets are never delayed or lost for so long that a connection counts as broken.
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
