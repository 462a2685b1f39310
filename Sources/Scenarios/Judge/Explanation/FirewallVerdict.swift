internal import CallCore
internal import ScenarioFormat
internal import SimNet

/// The servers and transports that the firewalls on a peer's path block.
struct FirewallVerdict {
  let topology: Topology
  let peer: Scenario.Peer
  let paths: [AccessPath]

  var lines: [String] { media + servers }

  /// The lines about the whole peer: it cannot reach any other peer directly.
  private var media: [String] {
    guard !paths.isEmpty, paths.allSatisfy(\.closesMedia) else { return [] }
    guard paths.allSatisfy(\.blocksUDP) else { return closedPorts }
    let networks = paths.count == 1 ? "\(peer.name)'s network blocks" : "\(peer.name)'s networks block"
    guard paths.allSatisfy(\.blocksTCP) else {
      return ["\(networks) UDP, so that it can use no path but a relay over TCP or TLS" + withoutRelay]
    }
    return ["\(networks) UDP and TCP, so that no path leads past \(paths.count == 1 ? "its" : "their") routers"]
  }

  private var closedPorts: [String] {
    let rules = paths.compactMap { path -> String? in
      guard let router = path.routers.first(where: { AccessPath(network: path.network, routers: [$0]).closesMedia }),
        let rules = router.rules
      else { return nil }
      let name = "\(peer.name)'s network \(router.network.name)"
      guard !rules.blocksAllUDP else { return "\(name) blocks UDP" }
      let closed = (1...UInt16.max).filter { !rules.admits(.udp, $0) }
      return "\(name) \(rules.rule(for: .udp, closed: closed))"
    }
    return [
      "\(rules.joined(separator: " and ")), so that it can use no path but a relay at a port that is let out"
        + withoutRelay
    ]
  }

  private var withoutRelay: String { topology.lackOfRelays(for: [peer]).map { ", and \($0)" } ?? "" }

  // MARK: Servers

  /// The lines about the peer's servers that it cannot reach on any port from any of its networks.
  private var servers: [String] {
    // The address that a STUN server reports is useless if no other peer can be reached.
    let kinds: [Topology.Server.Kind] = paths.allSatisfy(\.closesMedia) ? [.turn] : [.turn, .stun]
    return topology.servers.filter { kinds.contains($0.kind) && peer.ice.asks($0.name) }.flatMap { server -> [String] in
      let found = paths.map { obstacles(to: server, on: $0) }
      guard !found.isEmpty, found.allSatisfy(\.isBlocked) else { return [] }
      return found.flatMap(\.lines).inOrderOfAppearance
    }
  }

  private struct Obstacles {
    let isBlocked: Bool
    let lines: [String]
  }

  /// Returns the obstacles between the peer and a server on one of its paths.
  private func obstacles(to server: Topology.Server, on path: AccessPath) -> Obstacles {
    let between = path.routers.prefix { $0.network.name != server.network.value }
    let listeners = server.listeners(for: peer.ice)
    // Transports that are blocked entirely are described elsewhere.
    let wanted = listeners.filter { listener in
      !between.contains { router in
        guard let rules = router.rules else { return false }
        return listener.transport == .udp ? rules.blocksAllUDP : rules.blocksAllTCP
      }
    }
    guard !wanted.isEmpty else {
      let isToBeTold = server.kind == .turn && !listeners.isEmpty && !(path.blocksUDP && path.blocksTCP)
      return Obstacles(isBlocked: true, lines: isToBeTold ? [noTransport(of: server, listeners, on: path)] : [])
    }
    let ports = Set(wanted.map(\.port)).sorted()
    let lines: [String] = between.compactMap { router in
      guard let rules = router.rules, !wanted.contains(where: { rules.admits($0.protocol, $0.port) }) else {
        return nil
      }
      let transport = wanted.allSatisfy { $0.protocol == .udp } ? TransportProtocol.udp : .tcp
      return "\(peer.name)'s network \(router.network.name) \(rules.rule(for: transport, closed: ports)), so that it "
        + "cannot \(server.kind == .turn ? "reach the TURN" : "ask the STUN") server \(server.name) at port "
        + Wording.ports(ports)
    }
    return Obstacles(isBlocked: !lines.isEmpty, lines: lines)
  }

  private func noTransport(of server: Topology.Server, _ listeners: [Topology.Server.Listener], on path: AccessPath)
    -> String
  {
    let transports = Wording.peers(listeners.map { "\($0.transport)".uppercased() }.inOrderOfAppearance)
    let offer =
      "the TURN server \(server.name) offers\(peer.ice.turnTransports == nil ? "" : " for \(peer.name)") nothing but "
      + transports
    // Blocked UDP is described once for all paths.
    return path.blocksUDP ? offer : "\(peer.name)'s network \(path.network) blocks TCP, and \(offer)"
  }

  // MARK: Signalling

  /// Returns why none of the peer's paths leads to a server of its profile; empty if one does.
  ///
  /// - Parameter isDropping: returns whether the firewall of a network has dropped anything.
  func signalling(isDropping: (String) -> Bool) -> [String] {
    topology.servers(of: peer).flatMap { server -> [String] in
      let port = server.signallingPort
      let obstacles = paths.compactMap { path in
        path.routers.prefix { $0.network.name != server.network.value }.first { router in
          router.rules.map { !$0.admits(.tcp, port) } ?? false
        }
      }
      guard obstacles.count == paths.count else { return [] }
      return obstacles.filter { isDropping($0.network.name) }.compactMap { router in
        guard let rules = router.rules else { return nil }
        let rule = rules.blocksAllTCP ? "blocks TCP" : rules.rule(for: .tcp, closed: [port])
        return
          "\(peer.name)'s network \(router.network.name) \(rule), so that it cannot reach the \(server.kind.word) server "
          + "\(server.name) at port \(port)"
      }
    }
  }
}

extension Topology.Server.Listener {
  fileprivate var `protocol`: TransportProtocol { transport == .udp ? .udp : .tcp }
}

extension Topology {
  /// Returns `the scenario has no TURN server`, `bob does not ask the TURN server relay`, or nil if each of the peers
  /// uses one.
  func lackOfRelays(for peers: [Scenario.Peer]) -> String? {
    let relays = servers.filter { $0.kind == .turn }
    guard !relays.isEmpty else { return "the scenario has no TURN server" }
    let others = peers.filter { peer in
      !self.relays(of: peer).contains { !$0.listeners(for: peer.ice).isEmpty }
    }
    guard !others.isEmpty else { return nil }
    let names = relays.map(\.name).joined(separator: " or ")
    guard others.count > 1 else { return "\(others[0].name) does not ask the TURN server \(names)" }
    return "neither \(others.map(\.name).joined(separator: " nor ")) asks the TURN server \(names)"
  }
}
