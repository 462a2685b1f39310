internal import CallCore
internal import ScenarioFormat

/// Before its user accepts, a peer does not reveal its address: it signals relay candidates only, and sends packets to
/// servers only.
final class PreAcceptPrivacy {
  private var consents: [UserConsent] = []

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    // Only the servers of the topology count as servers, not hosts from which a peer can be called.
    let servers = context.scenario.topology.servers.map(\.name)
    let watch = context.watch
    let addresses = HostAddresses(servers: servers, context)
    for one in context.scenario.peers {
      let peer = one.name
      let consent = UserConsent(peer, context)
      consents.append(consent)
      for subject in one.connectionSubjects {
        watch.listen(to: PeerConnectionEvents.candidate, of: subject) { [unowned consent] record, candidate in
          guard !consent.isGiven, let type = Self.type(of: candidate), type != "relay" else { return }
          let actual =
            "\(peer) gathered a \(type) candidate to signal at \(Wording.time(record.time)), before its user accepted"
          report(Violation(.preAcceptPrivacy, at: record.time, actual: actual))
        }
      }
      watch.listen(to: NetworkEvents.packetSent, of: peer) { [unowned consent] record, _, _, destination, _ in
        guard !consent.isGiven, addresses.belongToPeers(destination.address) else { return }
        let actual = "\(peer) sent a packet to \(destination) at \(Wording.time(record.time)), before its user accepted"
        report(Violation(.preAcceptPrivacy, at: record.time, actual: actual))
      }
    }
  }

  /// Returns the type in a `candidate:` line, after `typ`.
  private static func type(of candidate: String) -> String? {
    let words = candidate.split(separator: " ")
    guard let index = words.firstIndex(of: "typ"), index + 1 < words.count else { return nil }
    return String(words[index + 1])
  }
}

/// The addresses of hosts, learned from the packets they send: a server answers from its own address.
private final class HostAddresses {
  private var servers: Set<IPAddress> = []
  private var others: Set<IPAddress> = []

  init(servers names: [String], _ context: MonitorContext) {
    for name in names {
      context.watch.listen(to: NetworkEvents.packetSent, of: name) { [weak self] _, _, source, _, _ in
        self?.servers.insert(source.address)
      }
    }
    for peer in context.scenario.peers.map(\.name) {
      context.watch.listen(to: NetworkEvents.packetSent, of: peer) { [weak self] _, _, source, _, _ in
        self?.others.insert(source.address)
      }
    }
    context.watch.listen(to: NetworkEvents.mappingCreated) { [weak self] _, _, _, external in
      self?.others.insert(external.address)
    }
  }

  func belongToPeers(_ address: IPAddress) -> Bool { others.contains(address) && !servers.contains(address) }
}
