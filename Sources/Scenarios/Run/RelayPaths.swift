internal import CallCore
internal import SimNet
internal import VirtualPeer

/// Which TURN allocations their clients could still give back.
///
/// A server knows a client by the endpoint its packets come from. Once a NAT on the way has forgotten or changed the
/// mapping, or the device has lost the address, nobody can say anything for that endpoint any more: the allocation stays
/// until it expires, whatever the client does (RFC 8656 section 7.3, 437).
final class RelayPaths {
  /// One hop of the way from a device to a server: what the packets come from there.
  private struct Hop: Hashable {
    let endpoint: Endpoint
    let isUDP: Bool
  }

  private let watch: Watch
  /// What a NAT makes of it, by what it shows outside.
  private var inside: [Hop: Endpoint] = [:]
  /// The hops of each allocation, by its relayed endpoint; nil once one of them is gone.
  private var ways: [Endpoint: [Endpoint]?] = [:]

  /// Make it before the world.
  init(watch: Watch) {
    self.watch = watch
    let trace = watch.trace
    func endpoint(_ name: String, _ record: TraceRecord) -> Endpoint? {
      guard case .endpoint(let endpoint)? = trace.datum(name, of: record) else { return nil }
      return endpoint
    }
    func isUDP(_ record: TraceRecord) -> Bool { trace.datum("protocol", of: record) == .symbol("udp") }
    watch.listen(toAll: "nat.created") { [unowned self] record in
      guard let external = endpoint("external", record), let origin = endpoint("internal", record) else { return }
      inside[Hop(endpoint: external, isUDP: isUDP(record))] = origin
    }
    watch.listen(toAll: "nat.removed") { [unowned self] record in
      guard let external = endpoint("external", record) else { return }
      let hop = Hop(endpoint: external, isUDP: isUDP(record))
      // Another host's mapping may have the same external endpoint, where ports are overloaded.
      if inside[hop] == endpoint("internal", record) { inside[hop] = nil }
      sever { $0.contains(external) }
    }
    watch.listen(toAll: "nat.remapped") { [unowned self] record in
      guard let external = endpoint("external", record), let previous = endpoint("previous", record) else { return }
      inside[Hop(endpoint: previous, isUDP: isUDP(record))] = nil
      inside[Hop(endpoint: external, isUDP: isUDP(record))] = endpoint("internal", record)
      sever { $0.contains(previous) }
    }
    watch.listen(toAll: "turn.relay-opened") { [unowned self] record in
      guard let relayed = endpoint("relayed", record), let client = endpoint("client", record) else { return }
      ways[relayed] = way(to: client)
    }
  }

  /// Watches the addresses of a device, once it has them.
  func follow(_ interfaces: [NetworkInterface], of peer: String) {
    for interface in interfaces {
      let slot = watch.slot("link/\(interface.name)", "link.state")
      watch.listen(slot) { [unowned self] _ in
        guard watch.value(slot) == .symbol("down") else { return }
        sever { $0.last.map { interface.addresses.contains($0.address) } ?? false }
      }
    }
    watch.listen(watch.slot(peer, "interface.state")) { [unowned self] _ in
      let addresses = interfaces.flatMap(\.addresses)
      sever { $0.last.map { addresses.contains($0.address) } ?? false }
    }
  }

  /// Whether the client could give the allocation back.
  func isIntact(_ relayed: Endpoint) -> Bool { ways[relayed].map { $0 != nil } ?? true }

  /// From what the server sees to the device's own endpoint.
  private func way(to client: Endpoint) -> [Endpoint] {
    var way = [client]
    while let hop = way.last, way.count < 16,
      let next = inside[Hop(endpoint: hop, isUDP: true)] ?? inside[Hop(endpoint: hop, isUDP: false)]
    {
      way.append(next)
    }
    return way
  }

  private func sever(_ isSevered: ([Endpoint]) -> Bool) {
    // Each is judged on its own: the order does not matter.
    ways = ways.mapValues { way in way.flatMap { isSevered($0) ? nil : $0 } }
  }
}
