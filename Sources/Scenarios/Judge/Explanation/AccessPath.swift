internal import CallCore
internal import ScenarioFormat
internal import SimNet

/// A network of a peer, with the networks whose routers its packets pass on their path out.
struct AccessPath {
  typealias Border = (network: Topology.Network, nat: Topology.NAT)

  /// A network's router with its firewall rules at the explained time; nil without a firewall.
  struct Router {
    let network: Topology.Network
    let rules: FirewallRules?
  }

  let network: String
  let routers: [Router]

  var hasIPv6: Bool {
    routers.first?.network.prefixes.contains { $0.value.address.isIPv6 } ?? false
  }

  /// Returns whether outgoing packets pass a network.
  func passes(_ name: String) -> Bool { network == name || routers.contains { $0.network.name == name } }

  /// The strictest NAT.
  var strictest: Border? {
    let borders = routers.compactMap { router in router.network.nat.map { (network: router.network, nat: $0) } }
    return borders.first { $0.nat.isSymmetric } ?? borders.first { $0.nat.filter == .addressAndPort } ?? borders.first
  }

  // MARK: Firewalls

  var blocksUDP: Bool { routers.contains { $0.rules?.blocksAllUDP ?? false } }
  var blocksTCP: Bool { routers.contains { $0.rules?.blocksAllTCP ?? false } }
  /// Whether no UDP passes to the ports that peers and relays use among themselves.
  var closesMedia: Bool { routers.contains { $0.rules?.closesMedia ?? false } }
}

extension AccessPath {
  /// Returns the networks of a peer at the start and after each `link.move`, without duplicates.
  ///
  /// - Parameter faults: the faults in force.
  static func all(of peer: Scenario.Peer, in scenario: Scenario, under faults: [Fault]) -> [AccessPath] {
    let links = Set(peer.interfaces.map(\.link))
    let moves = scenario.timeline.compactMap { entry -> String? in
      guard let fault = entry.fault, fault.kind.movesHosts, links.contains(fault.arguments.text("link") ?? "") else {
        return nil
      }
      return fault.arguments.text("network")
    }
    return (peer.interfaces.map(\.network) + moves).inOrderOfAppearance.map { name in
      let routers = scenario.topology.network(name).map { scenario.topology.routers(from: $0) } ?? []
      return AccessPath(
        network: name, routers: routers.map { Router(network: $0, rules: FirewallRules(of: $0, under: faults)) })
    }
  }
}

extension FirewallRules {
  /// The ephemeral ports (RFC 6335 section 6): those of peers, and of relays towards peers.
  private static let dynamicPorts: ClosedRange<UInt16> = 49_152...65_535

  fileprivate init?(of network: Topology.Network, under faults: [Fault]) {
    let own = FirewallRules(of: network)
    let changes = faults.filter { $0.arguments.text("network") == network.name }.compactMap(
      FirewallChange.init)
    guard let first = own ?? (changes.isEmpty ? nil : .open) else { return nil }
    self = changes.reduce(first) { $0.under($1) }
  }

  var blocksAllUDP: Bool { blocksUDP || allowedUDPPorts?.isEmpty ?? false }
  var blocksAllTCP: Bool { allowedTCPPorts?.isEmpty ?? false }

  fileprivate var closesMedia: Bool {
    guard !blocksAllUDP else { return true }
    guard openPorts.isDisjoint(with: Self.dynamicPorts) else { return false }
    return allowedUDPPorts?.isDisjoint(with: Self.dynamicPorts) ?? false
  }

  /// Returns whether a packet to a port passes.
  func admits(_ transport: TransportProtocol, _ port: UInt16) -> Bool {
    switch transport {
    case .udp: !blocksUDP && (allowedUDPPorts?.contains(port) ?? true)
    case .tcp: allowedTCPPorts?.contains(port) ?? true
    }
  }

  /// Returns `lets out to port 80, 443 only`, for a firewall that does not let out `closed`.
  func rule(for transport: TransportProtocol, closed: [UInt16]) -> String {
    let allowed = transport == .udp ? allowedUDPPorts : allowedTCPPorts
    let other = transport == .udp ? allowedTCPPorts : allowedUDPPorts
    let otherIsBlocked = transport == .udp ? blocksAllTCP : blocksAllUDP
    let word = otherIsBlocked || allowed == other ? "" : transport == .udp ? "UDP " : "TCP "
    guard let allowed, allowed.count <= Self.dynamicPorts.count else {
      return "does not let out \(word)port \(Wording.ports(closed))"
    }
    return "lets out \(word)to port \(Wording.ports(allowed.sorted())) only"
  }
}

extension Topology.NAT {
  /// Whether its port towards a peer differs from the one that the STUN server saw.
  var isSymmetric: Bool { map != .endpointIndependent }
}
