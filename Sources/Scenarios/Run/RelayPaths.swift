internal import CallCore
internal import ScenarioJudge
internal import SimNet
internal import VirtualPeer

/// Whose doing it is that a TURN allocation over UDP is still there: judged by the network, not by what its client says.
/// One over a connection lives no longer than the connection, which is the client's to close.
///
/// A server knows a client by the endpoint its packets come from. Once a NAT on the way has forgotten or changed the
/// mapping, or the device has lost the address, nobody can say anything for that endpoint any more: the allocation stays
/// until it expires, whatever the client does (RFC 8656 section 7.3, 437).
///
/// Nor can more be asked of a client than to send a Refresh with lifetime zero, and to repeat it (RFC 8489 section
/// 6.2.1). When no answer reaches the device, the network or the server has not taken it; when a fault of the server
/// refuses it, no other client would have been served. A relay whose Refresh is refused or not answered in the middle of a
/// call is lost for the client, as it is for libwebrtc.
final class RelayPaths {
  /// How long a client waits for an answer (RFC 8489 section 6.2.1: 79 times the first timeout of 500 ms).
  private static let patience = Interval.milliseconds(39_500)

  /// The 5-tuple of an allocation, as the client's device has it.
  private struct Association: Hashable {
    let client: Endpoint
    let server: Endpoint
  }

  /// The last Refresh of an allocation.
  private struct Refresh {
    let transaction: UInt64
    let isRelease: Bool
    let begunAt: Instant
    var sentCount = 1
    var isAnswered = false
  }

  private let watch: Watch
  /// What the packets from an outside endpoint of a NAT come from inside.
  private var inside: [Endpoint: Endpoint] = [:]
  /// From what the server sees to the device's own endpoint, by the relayed endpoint; nil once one of them is gone.
  private var ways: [Endpoint: [Endpoint]?] = [:]
  private var openedAt: [Endpoint: Instant] = [:]
  /// When a device was last told that it holds an allocation.
  private var toldAt: [Association: Instant] = [:]
  /// Who was told last, and when that device had been told before.
  private var lastTold: (association: Association, before: Instant?)?
  private var refreshes: [Association: Refresh] = [:]

  /// Make it before the world.
  init(watch: Watch, wire: WireTap) {
    self.watch = watch
    watch.listen(to: NetworkEvents.mappingCreated) { [unowned self] _, transport, device, external in
      if transport == "udp" { inside[external] = device }
    }
    watch.listen(to: NetworkEvents.mappingRemoved) { [unowned self] _, _, transport, device, external in
      if transport == "udp" { forget(external, of: device) }
    }
    watch.listen(to: NetworkEvents.mappingRemapped) { [unowned self] _, transport, device, external, previous in
      guard transport == "udp" else { return }
      forget(previous, of: device)
      inside[external] = device
    }
    watch.listen(to: ServerEvents.relayOpened) { [unowned self] record, relayed, client, _ in
      ways[relayed] = way(to: client)
      openedAt[relayed] = record.time
    }
    wire.listen(allocations: { [unowned self] in saw($0) })
    watch.listen(to: NetworkEvents.packetDropped) { [unowned self] record, reason, _, from, to, _ in
      // What comes for a socket that is closed tells nobody of an allocation.
      guard let (told, before) = lastTold, toldAt[told] == record.time, reason == DropReason.noSocket.rawValue,
        from == told.server, to == told.client
      else { return }
      toldAt[told] = before
    }
  }

  private func saw(_ allocation: WireAllocation) {
    let association = Association(client: allocation.client, server: allocation.server)
    let known = refreshes[association].flatMap { $0.transaction == allocation.transaction ? $0 : nil }
    switch allocation.message {
    case .allocated:
      lastTold = (association, toldAt[association])
      toldAt[association] = allocation.time
    case .refresh where known != nil: refreshes[association]?.sentCount += 1
    case .refresh(let seconds):
      refreshes[association] = Refresh(
        transaction: allocation.transaction, isRelease: seconds == 0, begunAt: allocation.time)
    case .refreshAnswered: if known != nil { refreshes[association]?.isAnswered = true }
    }
  }

  /// Watches the addresses of a device, once it has them.
  func follow(_ interfaces: [NetworkInterface], of peer: String) {
    for interface in interfaces {
      watch.listen(to: NetworkEvents.linkState, of: "link/\(interface.name)") { [unowned self] _, state in
        guard state == "down" else { return }
        sever { $0.last.map { interface.addresses.contains($0.address) } ?? false }
      }
    }
    watch.listen(to: NetworkEvents.interfaceState, of: peer) { [unowned self] _, _, _ in
      let addresses = interfaces.flatMap(\.addresses)
      sever { $0.last.map { addresses.contains($0.address) } ?? false }
    }
  }

  /// Whether the client could have given the allocation back and has not done what it can.
  func isLeftByClient(_ allocation: TURNServerHost.Allocation, at now: Instant) -> Bool {
    guard allocation.isUDP else { return false }
    // Nothing is known of a way that nobody watched: then the client answers for it.
    guard let way = ways[allocation.relay], let openedAt = openedAt[allocation.relay] else { return true }
    guard let device = way?.last, !allocation.isRefreshRefusedByFault else { return false }
    let association = Association(client: device, server: allocation.server)
    // Nobody gives back what nobody knows of.
    guard let toldAt = toldAt[association], toldAt >= openedAt else { return false }
    guard let refresh = refreshes[association], refresh.begunAt >= openedAt, !refresh.isAnswered else { return true }
    let isGivenUp = now - refresh.begunAt >= Self.patience
    return !(refresh.isRelease || isGivenUp) || refresh.sentCount < 2
  }

  private func way(to client: Endpoint) -> [Endpoint] {
    var way = [client]
    while let hop = way.last, way.count < 16, let next = inside[hop] { way.append(next) }
    return way
  }

  /// A mapping is gone. Another host's may have the same external endpoint, where ports are overloaded.
  private func forget(_ external: Endpoint, of device: Endpoint) {
    if inside[external] == device { inside[external] = nil }
    sever { way in
      guard let hop = way.firstIndex(of: external) else { return false }
      return hop + 1 == way.count || way[hop + 1] == device
    }
  }

  private func sever(_ isSevered: ([Endpoint]) -> Bool) {
    // Each is judged on its own: the order does not matter.
    ways = ways.mapValues { way in way.flatMap { isSevered($0) ? nil : $0 } }
  }
}
