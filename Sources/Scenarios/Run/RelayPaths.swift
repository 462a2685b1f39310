internal import CallCore
internal import ScenarioJudge
internal import SimNet
internal import VirtualPeer

/// Decides whether a client or the network is responsible for a TURN allocation over UDP that still exists, by network
/// evidence, not by the client's statements. An allocation over a connection lives no longer than the connection, which
/// the client must close.
///
/// A server identifies a client by the source endpoint of its packets. Once a NAT on the path has forgotten or changed
/// the mapping, or the device has lost the address, no host can send from that endpoint: the allocation stays until it
/// expires, whatever the client does (RFC 8656 section 7.3, 437).
///
/// A client can only send a Refresh with lifetime zero and repeat it (RFC 8489 section 6.2.1). If the response does not
/// reach the device, the network or the server is responsible; if a fault of the server rejects it, every client would
/// fail. A relay whose Refresh is rejected or unanswered in the middle of a call is lost for the client, as in
/// libwebrtc.
final class RelayPaths {
  /// The timeout of a transaction (RFC 8489 section 6.2.1: 79 times the first timeout of 500 ms).
  private static let patience = Interval.milliseconds(39_500)

  /// The 5-tuple of an allocation, with the device's own endpoint of the client.
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
  /// The inside endpoint of each outside endpoint of a NAT.
  private var inside: [Endpoint: Endpoint] = [:]
  /// The endpoints from the one that the server sees to the device's own, by the relayed endpoint; nil once one is
  /// gone.
  private var ways: [Endpoint: [Endpoint]?] = [:]
  private var openedAt: [Endpoint: Instant] = [:]
  /// The time of the last response that told a device of an allocation.
  private var toldAt: [Association: Instant] = [:]
  /// The allocation of the last response, and the time of that device's previous one.
  private var lastTold: (association: Association, before: Instant?)?
  private var refreshes: [Association: Refresh] = [:]
  /// The allocation of the last answer to a Refresh, its time, and whether the Refresh had one before.
  private var lastAnswer: (association: Association, time: Instant, before: Bool)?

  /// Starts to listen. Must be called before the world is made.
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
      // A response to a closed socket does not reach the client.
      guard reason == DropReason.noSocket.rawValue else { return }
      let association = Association(client: to, server: from)
      if let (told, before) = lastTold, told == association, toldAt[told] == record.time { toldAt[told] = before }
      if let (answered, time, before) = lastAnswer, answered == association, time == record.time {
        refreshes[answered]?.isAnswered = before
      }
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
    case .refreshAnswered:
      guard let known else { return }
      lastAnswer = (association, allocation.time, known.isAnswered)
      refreshes[association]?.isAnswered = true
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

  /// Returns whether the client could have released the allocation and has not done all it can.
  func isLeftByClient(_ allocation: TURNServerHost.Allocation, at now: Instant) -> Bool {
    guard allocation.isUDP else { return false }
    // An unobserved path is no excuse: the client is responsible.
    guard let way = ways[allocation.relay], let openedAt = openedAt[allocation.relay] else { return true }
    guard let device = way?.last, !allocation.isRefreshRefusedByFault else { return false }
    let association = Association(client: device, server: allocation.server)
    // A client can release only an allocation that it knows of.
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

  /// Removes a mapping. With overloaded ports, a mapping of another host may have the same external endpoint.
  private func forget(_ external: Endpoint, of device: Endpoint) {
    if inside[external] == device { inside[external] = nil }
    sever { way in
      guard let hop = way.firstIndex(of: external) else { return false }
      return hop + 1 == way.count || way[hop + 1] == device
    }
  }

  private func sever(_ isSevered: ([Endpoint]) -> Bool) {
    // Each entry is checked by itself: the order does not matter.
    ways = ways.mapValues { way in way.flatMap { isSevered($0) ? nil : $0 } }
  }
}
