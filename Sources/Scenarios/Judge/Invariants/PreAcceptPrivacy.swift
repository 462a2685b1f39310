internal import CallCore
internal import ScenarioFormat

/// Before its user accepts, a peer's address does not get out: it signals relay candidates only, and sends packets to
/// nobody but servers.
final class PreAcceptPrivacy {
  private var consents: [UserConsent] = []

  init(_ context: MonitorContext, _ report: @escaping (Violation) -> Void) {
    // Whoever a peer can be called by is not a server.
    let servers = context.scenario.topology.servers.map(\.name)
    let watch = context.watch
    let addresses = HostAddresses(servers: servers, context)
    for peer in context.scenario.peers.map(\.name) {
      let consent = UserConsent(peer, context)
      consents.append(consent)
      watch.listen(watch.slot(peer, "ice.candidate")) { [unowned consent, unowned watch] record in
        guard !consent.isGiven, let text = watch.trace.datum(at: 0, of: record).candidateType, text != "relay" else {
          return
        }
        let actual =
          "\(peer) gathered a \(text) candidate to signal at \(Wording.time(record.time)), before its user accepted"
        report(Violation(.preAcceptPrivacy, at: record.time, actual: actual))
      }
      watch.listen(watch.slot(peer, "packet.sent")) { [unowned consent, unowned watch] record in
        guard !consent.isGiven, case .endpoint(let destination)? = watch.trace.datum("to", of: record),
          addresses.belongToPeers(destination.address)
        else { return }
        let actual = "\(peer) sent a packet to \(destination) at \(Wording.time(record.time)), before its user accepted"
        report(Violation(.preAcceptPrivacy, at: record.time, actual: actual))
      }
    }
  }
}

/// Which addresses are servers', learnt from what they send: a server answers from its own address.
private final class HostAddresses {
  private var servers: Set<IPAddress> = []
  private var others: Set<IPAddress> = []

  init(servers names: [String], _ context: MonitorContext) {
    let trace = context.trace
    for name in names {
      context.watch.listen(context.watch.slot(name, "packet.sent")) { [weak self, unowned trace] record in
        if case .endpoint(let source)? = trace.datum("from", of: record) { self?.servers.insert(source.address) }
      }
    }
    for peer in context.scenario.peers.map(\.name) {
      context.watch.listen(context.watch.slot(peer, "packet.sent")) { [weak self, unowned trace] record in
        if case .endpoint(let source)? = trace.datum("from", of: record) { self?.others.insert(source.address) }
      }
    }
    context.watch.listen(toAll: "nat.created") { [weak self, unowned trace] record in
      if case .endpoint(let external)? = trace.datum("external", of: record) { self?.others.insert(external.address) }
    }
  }

  func belongToPeers(_ address: IPAddress) -> Bool { others.contains(address) && !servers.contains(address) }
}

extension TraceDatum {
  /// The type in a `candidate:` line, after `typ`.
  fileprivate var candidateType: String? {
    let words = description.split(separator: " ")
    guard let index = words.firstIndex(of: "typ"), index + 1 < words.count else { return nil }
    return String(words[index + 1])
  }
}
