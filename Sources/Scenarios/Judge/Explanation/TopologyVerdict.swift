internal import CallCore
internal import VirtualPeer

/// What the topology alone says about whether two peers can reach each other (RFC 4787, RFC 5128).
struct TopologyVerdict {
  private let scenario: Scenario

  init(_ scenario: Scenario) { self.scenario = scenario }

  /// Sentences that explain what each peer's network keeps it from and, of two peers, why no direct path can work.
  func lines(between peers: [String]) -> [String] {
    let real = peers.compactMap { scenario.peer($0) }.filter(\.hasCallStack)
    var lines: [String] = []
    for peer in real { lines += blocking(of: peer) + unreachableRelays(of: peer) }
    guard real.count == 2, case let (a, b) = (real[0], real[1]), haveOneWay(a, b) else { return lines }
    let (natA, natB) = (strictest(of: a), strictest(of: b))
    guard let natA, let natB, !reaches(natA.nat, natB.nat), !reaches(natB.nat, natA.nat) else { return lines }
    lines.append("\(a.name) is behind \(describe(natA)), \(b.name) behind \(describe(natB))")
    let why =
      natA.nat.isSymmetric && natB.nat.isSymmetric
      ? "neither can know the port that the other's NAT will use towards it"
      : "the symmetric NAT uses a port towards the peer that the other's port filter was not told of"
    lines.append("\(why): no direct pair can work, only a relay" + relays)
    return lines
  }

  /// What routers on the way out let nothing of through.
  private func blocking(of peer: Scenario.Peer) -> [String] {
    let firewalls = routers(of: peer).compactMap(\.firewall)
    guard firewalls.contains(where: \.blockUDP) else { return [] }
    guard firewalls.contains(where: \.blockTCP) else {
      return ["\(peer.name)'s network blocks UDP, so that it can use no path but a relay over TCP or TLS"]
    }
    return ["\(peer.name)'s network blocks UDP and TCP, so that no path leads past its routers"]
  }

  /// TURN servers that the peer asks, and that no port leads to past the routers between.
  private func unreachableRelays(of peer: Scenario.Peer) -> [String] {
    let asked = scenario.topology.servers.filter { $0.kind == .turn && peer.ice.asks($0.name) }
    return asked.flatMap { server -> [String] in
      let between = routers(of: peer).prefix { $0.name != server.network.value }
      let blocking = between.compactMap(\.firewall)
      // Of what is blocked altogether it is said already.
      let wanted = server.listeners(for: peer.ice).filter { listener in
        !blocking.contains { listener.transport == .udp ? $0.blockUDP : $0.blockTCP }
      }
      let ports = Set(wanted.map { Int($0.port) }).sorted()
      return between.compactMap { network in
        guard let firewall = network.firewall, !ports.isEmpty, !ports.contains(where: firewall.admits) else {
          return nil
        }
        let names = ports.map(String.init).joined(separator: ", ")
        let allowed = firewall.allowPorts.map(String.init).joined(separator: ", ")
        let rule = firewall.allowPorts.isEmpty ? "does not let out port \(names)" : "lets out to port \(allowed) only"
        return "\(peer.name)'s network \(network.name) \(rule), so that it cannot reach the TURN server "
          + "\(server.name) at port \(names)"
      }
    }
  }

  private var relays: String {
    scenario.topology.servers.contains { $0.kind == .turn } ? "" : ", and the scenario has no TURN server"
  }

  private typealias Border = (network: Topology.Network, nat: Topology.NAT)

  /// The networks whose routers a peer's packets pass, on the interface it prefers.
  private func routers(of peer: Scenario.Peer) -> [Topology.Network] {
    let first = peer.interfaces.first.flatMap { scenario.topology.network($0.network) }
    return first.map { scenario.topology.routers(from: $0) } ?? []
  }

  private func strictest(of peer: Scenario.Peer) -> Border? {
    let borders = routers(of: peer).compactMap { network in network.nat.map { (network: network, nat: $0) } }
    return borders.first { $0.nat.isSymmetric } ?? borders.first { $0.nat.filter == .addressAndPort } ?? borders.first
  }

  /// Whether the only way between two peers is through both their routers, over IPv4.
  private func haveOneWay(_ a: Scenario.Peer, _ b: Scenario.Peer) -> Bool {
    guard a.interfaces.count == 1, b.interfaces.count == 1, a.interfaces[0].network != b.interfaces[0].network else {
      return false
    }
    return !(hasIPv6(a) && hasIPv6(b))
  }

  private func hasIPv6(_ peer: Scenario.Peer) -> Bool {
    scenario.topology.network(peer.interfaces[0].network)?.prefixes.contains { $0.value.address.isIPv6 } ?? false
  }

  /// Whether checks from behind one NAT pass the other, to the port that its STUN server saw.
  private func reaches(_ from: Topology.NAT, _ to: Topology.NAT) -> Bool {
    switch to.filter {
    case .endpointIndependent: true
    case .address: !to.isSymmetric
    case .addressAndPort: !to.isSymmetric && !from.isSymmetric
    }
  }

  private func describe(_ border: Border) -> String {
    let kind = border.nat.isSymmetric ? "a symmetric NAT" : "a NAT"
    return "\(kind) (\(border.network.name): mapping by \(border.nat.map.rawValue), "
      + "filtering by \(border.nat.filter.rawValue))"
  }
}

extension Topology.Server {
  /// Where a peer with these settings asks it.
  fileprivate func listeners(for ice: Scenario.ICESettings) -> [ServerListener] {
    listeners.filter { listener in
      Transport.allCases.contains { Path.Transport($0) == listener.transport && ice.uses($0) }
    }
  }
}

extension Topology.Firewall {
  /// Whether a destination port passes.
  fileprivate func admits(_ port: Int) -> Bool {
    (allowPorts.isEmpty || allowPorts.contains(port)) && !blockPorts.contains(port)
  }
}

extension Topology.NAT {
  /// Its port for the STUN server is not the one that it uses towards a peer.
  fileprivate var isSymmetric: Bool { map != .endpointIndependent }
}
