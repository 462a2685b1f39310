internal import CallCore
internal import SimNet
internal import VirtualPeer

/// Whose doing it is that a TURN allocation is still there: judged by the network, not by what its client says.
///
/// A server knows a client by the endpoint its packets come from. Once a NAT on the way has forgotten or changed the
/// mapping, or the device has lost the address, nobody can say anything for that endpoint any more: the allocation stays
/// until it expires, whatever the client does (RFC 8656 section 7.3, 437).
///
/// Nor can more be asked of a client than to send a Refresh with lifetime zero, and over UDP to repeat it (RFC 8489
/// section 6.2.1). When no answer reaches the device, the network or the server has not taken it; when a fault of the
/// server refuses it, no other client would have been served.
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
  private var openedAt: [Endpoint: Instant] = [:]

  /// The two ends of an allocation's 5-tuple, as the device has them.
  private struct Ends: Hashable {
    let client: Endpoint
    let server: Endpoint
  }

  /// The last transaction that gives back what a device holds at a server.
  private struct Farewell {
    let transaction: UInt64
    let begunAt: Instant
    var sentCount = 1
    var isAnswered = false
  }

  private var farewells: [Ends: Farewell] = [:]

  /// Make it before the world.
  init(watch: Watch, wire: WireTap) {
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
      openedAt[relayed] = record.time
    }
    wire.listen(refreshes: { [unowned self] in saw($0) })
  }

  private func saw(_ refresh: WireRefresh) {
    let ends = Ends(client: refresh.client, server: refresh.server)
    let known = farewells[ends].flatMap { $0.transaction == refresh.transaction ? $0 : nil }
    if !refresh.isRequest {
      if known != nil { farewells[ends]?.isAnswered = true }
    } else if known != nil {
      farewells[ends]?.sentCount += 1
    } else if refresh.isFarewell {
      farewells[ends] = Farewell(transaction: refresh.transaction, begunAt: refresh.time)
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

  /// Whether the client could have given the allocation back and has not done what it can.
  func isLeftByClient(_ allocation: TURNServerHost.Allocation) -> Bool {
    // Nothing is known of a way that nobody watched: then the client answers for it.
    guard let way = ways[allocation.relay] else { return true }
    guard let device = way?.last, !allocation.isRefreshRefusedByFault else { return false }
    guard let farewell = farewells[Ends(client: device, server: allocation.server)],
      farewell.begunAt >= openedAt[allocation.relay] ?? .zero, !farewell.isAnswered
    else { return true }
    // TCP repeats what is lost by itself.
    return allocation.isUDP && farewell.sentCount < 2
  }

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
