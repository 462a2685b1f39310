internal import CallCore
internal import VirtualPeer

/// What the topology alone says about whether two peers can reach each other (RFC 4787, RFC 5128).
struct TopologyVerdict {
  private let scenario: Scenario

  init(_ scenario: Scenario) { self.scenario = scenario }

  /// Sentences that explain what each peer's networks keep it from and, of two peers, why no direct path can work. What one
  /// network of a peer keeps it from is said only where no other network of it leads on.
  func lines(between peers: [String]) -> [String] {
    let real = peers.compactMap { scenario.peer($0) }.filter(\.hasCallStack)
    var lines: [String] = []
    for peer in real { lines += blocking(of: peer) + unreachableRelays(of: peer) }
    guard real.count == 2 else { return lines }
    return lines + directPairs(real[0], real[1])
  }

  // MARK: Firewalls

  /// What routers on the way out let nothing of through.
  private func blocking(of peer: Scenario.Peer) -> [String] {
    let ways = ways(of: peer)
    guard !ways.isEmpty, ways.allSatisfy(\.blocksUDP) else { return [] }
    let networks = ways.count == 1 ? "\(peer.name)'s network blocks" : "\(peer.name)'s networks block"
    guard ways.allSatisfy(\.blocksTCP) else {
      return ["\(networks) UDP, so that it can use no path but a relay over TCP or TLS"]
    }
    return ["\(networks) UDP and TCP, so that no path leads past \(ways.count == 1 ? "its" : "their") routers"]
  }

  /// TURN servers that the peer asks, and that no port of leads to past the routers of any of its networks.
  private func unreachableRelays(of peer: Scenario.Peer) -> [String] {
    scenario.topology.relays(of: peer).flatMap { server -> [String] in
      let found = ways(of: peer).map { obstacles(to: server, of: peer, on: $0) }
      guard found.allSatisfy({ $0.isBlocked }) else { return [] }
      return found.flatMap { $0.lines }.inOrderOfAppearance
    }
  }

  /// What stands between a peer and a TURN server on one of its ways.
  private func obstacles(
    to server: Topology.Server, of peer: Scenario.Peer, on way: Way
  ) -> (isBlocked: Bool, lines: [String]) {
    let between = way.routers.prefix { $0.name != server.network.value }
    let blocking = between.compactMap(\.firewall)
    // Of what is blocked altogether it is said elsewhere.
    let wanted = server.listeners(for: peer.ice).filter { listener in
      !blocking.contains { listener.transport == .udp ? $0.blockUDP : $0.blockTCP }
    }
    let ports = Set(wanted.map { Int($0.port) }).sorted()
    guard !ports.isEmpty else { return (!blocking.isEmpty, []) }
    let names = ports.map(String.init).joined(separator: ", ")
    let lines: [String] = between.compactMap { network in
      guard let firewall = network.firewall, !ports.contains(where: firewall.admits) else { return nil }
      let allowed = firewall.allowPorts.map(String.init).joined(separator: ", ")
      let rule = firewall.allowPorts.isEmpty ? "does not let out port \(names)" : "lets out to port \(allowed) only"
      return "\(peer.name)'s network \(network.name) \(rule), so that it cannot reach the TURN server "
        + "\(server.name) at port \(names)"
    }
    return (!lines.isEmpty, lines)
  }

  // MARK: NATs

  /// Why no pair of host, server-reflexive or peer-reflexive candidates of two peers can work, where that is so of all of
  /// them.
  private func directPairs(_ a: Scenario.Peer, _ b: Scenario.Peer) -> [String] {
    let (ways, others) = (ways(of: a), ways(of: b))
    let pairs = ways.flatMap { way in others.map { (way, $0) } }
    let verdicts = pairs.map { verdict(of: $0.0, $0.1) }
    // What firewalls alone forbid is told already.
    guard !verdicts.contains(.mayWork), verdicts.contains(where: { $0.reason != nil }) else { return [] }
    let borders = "\(a.name) is behind \(describe(ways)), \(b.name) behind \(describe(others))"
    let why = verdicts.compactMap(\.reason).inOrderOfAppearance.joined(separator: ", or ")
    let relays = scenario.topology.servers.contains { $0.kind == .turn } ? "" : ", and the scenario has no TURN server"
    return [borders, "\(why): no direct pair can work, only a relay" + relays]
  }

  private enum PairVerdict: Equatable {
    case mayWork, isBlocked
    /// Behind two NATs of which neither is passed.
    case neitherIsPassed(isSymmetric: Bool)

    var reason: String? {
      switch self {
      case .mayWork, .isBlocked: nil
      case .neitherIsPassed(isSymmetric: true): "neither can know the port that the other's NAT will use towards it"
      case .neitherIsPassed(isSymmetric: false):
        "the symmetric NAT uses a port towards the peer that the other's port filter was not told of"
      }
    }
  }

  private func verdict(of way: Way, _ other: Way) -> PairVerdict {
    // Where one is on the other's way out, they meet before the NATs of both.
    guard !way.passes(other.network), !other.passes(way.network) else { return .mayWork }
    guard !way.blocksUDP, !other.blocksUDP else { return .isBlocked }
    guard !(way.hasIPv6 && other.hasIPv6), let nat = way.strictest?.nat, let facing = other.strictest?.nat,
      !reaches(nat, facing), !reaches(facing, nat)
    else { return .mayWork }
    return .neitherIsPassed(isSymmetric: nat.isSymmetric && facing.isSymmetric)
  }

  /// Where a peer is at the start, and where `link.move` takes it, each once.
  private func ways(of peer: Scenario.Peer) -> [Way] {
    let links = Set(peer.interfaces.map(\.link))
    let moves = scenario.timeline.compactMap { entry -> String? in
      guard let fault = entry.fault, fault.kind.movesHosts, links.contains(fault.arguments.text("link") ?? "") else {
        return nil
      }
      return fault.arguments.text("network")
    }
    return (peer.interfaces.map(\.network) + moves).inOrderOfAppearance.map { name in
      let network = scenario.topology.network(name)
      return Way(
        network: name, routers: network.map { scenario.topology.routers(from: $0) } ?? [],
        hasIPv6: network?.prefixes.contains { $0.value.address.isIPv6 } ?? false)
    }
  }

  private func describe(_ ways: [Way]) -> String {
    ways.compactMap(\.strictest).map(describe).joined(separator: " and ")
  }

  /// Whether checks from behind one NAT pass the other, to the port that its STUN server saw.
  private func reaches(_ from: Topology.NAT, _ to: Topology.NAT) -> Bool {
    switch to.filter {
    case .endpointIndependent: true
    case .address: !to.isSymmetric
    case .addressAndPort: !to.isSymmetric && !from.isSymmetric
    }
  }

  private func describe(_ border: Way.Border) -> String {
    let kind = border.nat.isSymmetric ? "a symmetric NAT" : "a NAT"
    return "\(kind) (\(border.network.name): mapping by \(border.nat.map.rawValue), "
      + "filtering by \(border.nat.filter.rawValue))"
  }
}

/// A network that a peer is on, with the networks whose routers its packets pass on their way out.
private struct Way {
  typealias Border = (network: Topology.Network, nat: Topology.NAT)

  let network: String
  let routers: [Topology.Network]
  let hasIPv6: Bool

  var blocksUDP: Bool { routers.contains { $0.firewall?.blockUDP ?? false } }
  var blocksTCP: Bool { routers.contains { $0.firewall?.blockTCP ?? false } }

  /// Whether packets come through a network on their way out.
  func passes(_ name: String) -> Bool { network == name || routers.contains { $0.name == name } }

  /// The NAT that lets in least.
  var strictest: Border? {
    let borders = routers.compactMap { network in network.nat.map { (network: network, nat: $0) } }
    return borders.first { $0.nat.isSymmetric } ?? borders.first { $0.nat.filter == .addressAndPort } ?? borders.first
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
