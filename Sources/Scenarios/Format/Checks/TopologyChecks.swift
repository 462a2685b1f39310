import CallCore
import Vocabulary

/// Checks of a topology before a world is built from it.
enum TopologyChecks {
  static func check(_ topology: Topology, _ reading: inout Reading) {
    let looped = checkUplinks(topology, &reading)
    if !looped { checkPrefixes(topology, &reading) }
    for network in topology.networks {
      if let problem = network.nat?.problem { reading.report(.conflictingKeys, problem, at: network.span) }
      checkRouter(of: network, in: topology, &reading)
    }
    for server in topology.servers where server.kind == .turn {
      guard let user = server.allocationsPerUser, let total = server.totalAllocations, user >= total else { continue }
      let message = "no user reaches 'user_quota', which is \(user): 'total_quota' allows \(total) allocations in all"
      reading.report(.ineffective, message, at: server.span)
    }
    for (index, server) in topology.servers.enumerated() where server.kind.isDeclared && server.profile != nil {
      let first = topology.servers[..<index].first {
        $0.kind == server.kind && $0.profile?.value == server.profile?.value
      }
      guard let first else { continue }
      let message = "all peers meet at '\(first.name)', so nobody would use this \(server.kind.word) server"
      reading.report(.severalCallServers, message, at: server.span)
    }
  }

  /// Reports functions that a router cannot have, or that have no effect.
  private static func checkRouter(
    of network: Topology.Network, in topology: Topology, _ reading: inout Reading
  ) {
    func warn(_ message: String, _ hint: String? = nil) {
      reading.report(.ineffective, message, at: network.span, hint: hint)
    }
    let hasIPv4 = network.prefixes.contains { !$0.value.address.isIPv6 }
    if network.nat != nil, let outside = network.uplink.flatMap({ topology.network($0.value) }) {
      if !outside.prefixes.contains(where: { !$0.value.address.isIPv6 }) {
        let message = "the NAT of '\(network.name)' needs an IPv4 address on '\(outside.name)', which has none"
        reading.report(.wrongRouter, message, at: network.span, hint: "give '\(outside.name)' an IPv4 prefix, too")
      } else if !hasIPv4, !network.prefixes.isEmpty {
        warn("'nat' translates IPv4, and '\(network.name)' has none: IPv6 is routed")
      }
    }
    guard let firewall = network.firewall else { return }
    if network.uplink == nil {
      warn("'firewall' filters nothing: no router leads out of '\(network.name)'", "give it the key to, or nat")
    }
    if firewall.blockUDP, firewall.blockTCP, !firewall.allowPorts.isEmpty || !firewall.blockPorts.isEmpty {
      warn("'block_udp' and 'block_tcp' block every port of '\(network.name)', whatever its other rules say")
    }
    if !firewall.allowPorts.isEmpty, !firewall.blockPorts.isEmpty,
      Set(firewall.allowPorts).isDisjoint(with: firewall.blockPorts)
    {
      warn("'block_ports' of '\(network.name)' blocks nothing that 'allow_ports' lets out")
    }
    if !firewall.allowPorts.isEmpty, Set(firewall.allowPorts).isSubset(of: firewall.blockPorts) {
      warn("'allow_ports' of '\(network.name)' lets nothing out: 'block_ports' blocks all of them")
    }
    guard !firewall.openPorts.isEmpty else { return }
    if firewall.inbound == .everything {
      warn("'open_ports' of '\(network.name)' opens nothing: everything comes in")
    } else if network.nat != nil, network.prefixes.allSatisfy({ !$0.value.address.isIPv6 }) {
      warn("'open_ports' of '\(network.name)' opens nothing: IPv4 comes in by the mappings of its NAT alone")
    }
  }

  /// Reports isolated networks with at most one host.
  ///
  /// - Parameter written: the networks of the file, whose own keys are checked.
  static func checkIsolation(
    _ scenario: Scenario, _ written: [Named<NetworkDraft>], _ reading: inout Reading
  ) {
    // A moved host may join the network.
    guard !scenario.movesHosts else { return }
    for network in scenario.topology.networks
    where written.contains(where: { $0.name == network.name && $0.value.isIsolated == true }) {
      let peers = scenario.peers.count { peer in
        peer.stack != .puppet && peer.interfaces.contains { $0.network == network.name }
      }
      let servers = scenario.topology.servers.count { $0.network.value == network.name }
      let routers = scenario.topology.networks.count { $0.uplink?.value == network.name }
      guard peers + servers + routers < 2 else { continue }
      let message = "'isolated' keeps nobody apart: '\(network.name)' has one host at most"
      reading.report(.ineffective, message, at: network.span)
    }
  }

  /// Reports servers that no peer can reach: their firewall opens none of their ports, and no peer is behind it.
  static func checkServers(_ scenario: Scenario, _ reading: inout Reading) {
    guard !scenario.movesHosts else { return }
    let topology = scenario.topology
    for server in topology.servers where server.span != .builtIn {
      let ports = server.kind.isDeclared ? [server.signallingPort] : server.listeners.map(\.port)
      for network in topology.wayOut(of: server.network.value) {
        guard let firewall = network.firewall, network.uplink != nil, firewall.inbound == .answers,
          !ports.contains(where: { port in firewall.openPorts.contains { $0.contains(port) } })
        else { continue }
        let isPeerInside = scenario.peers.contains { peer in
          peer.interfaces.contains { topology.wayOut(of: $0.network).contains { $0.name == network.name } }
        }
        guard !isPeerInside else { continue }
        let message = "nobody reaches '\(server.name)': the firewall of '\(network.name)' lets in none of its ports"
        let open = ports.map { "\($0)" }.joined(separator: ", ")
        reading.report(.ineffective, message, at: server.span, hint: "write firewall: { open_ports: [\(open)] }")
        break
      }
    }
  }

  /// Reports networks without a way out on which a peer with an app stays, while a server of its profile is elsewhere.
  static func checkWaysOut(_ scenario: Scenario, _ reading: inout Reading) {
    for server in scenario.topology.servers where server.kind.isDeclared {
      checkWaysOut(to: server, scenario, &reading)
    }
  }

  private static func checkWaysOut(to server: Topology.Server, _ scenario: Scenario, _ reading: inout Reading) {
    let topology = scenario.topology
    guard let hub = topology.wayOut(of: server.network.value).last else { return }
    checkFamilies(of: server, scenario, &reading)
    // A firewall without a router is reported at its own key.
    for network in topology.networks
    where network.uplink == nil && network.name != hub.name && network.firewall == nil {
      let stuck = scenario.peers.first { peer in
        peer.hasCallStack && peer.isClient(of: server) && !peer.interfaces.isEmpty && !scenario.isMoved(peer)
          && peer.interfaces.allSatisfy { topology.wayOut(of: $0.network).last?.name == network.name }
      }
      guard let stuck, !reading.hasError(at: "topology") else { continue }
      let message =
        "nothing leads out of '\(network.name)', so that \(stuck.name) never reaches '\(server.name)' on "
        + "'\(server.network.value)'"
      reading.report(
        .noWayOut, message, at: network.span,
        hint: "give it the key to, or nat, or put a \(server.kind.word) server on it")
    }
  }

  /// Reports networks on which a peer with an app lacks an address of the family of its profile's server.
  private static func checkFamilies(
    of server: Topology.Server, _ scenario: Scenario, _ reading: inout Reading
  ) {
    let topology = scenario.topology
    guard let first = topology.network(server.network.value)?.prefixes.first?.value.address,
      !reading.hasError(at: "topology")
    else { return }
    let family = first.isIPv6 ? "IPv6" : "IPv4"
    let lacksIt = { (network: Topology.Network) in
      !network.prefixes.isEmpty && network.prefixes.allSatisfy { $0.value.address.isIPv6 != first.isIPv6 }
    }
    for network in topology.networks where lacksIt(network) {
      let stuck = scenario.peers.first { peer in
        peer.hasCallStack && peer.isClient(of: server) && peer.interfaces.contains { $0.network == network.name }
          && !scenario.isMoved(peer)
          && peer.interfaces.allSatisfy { topology.network($0.network).map(lacksIt) ?? false }
      }
      guard let stuck else { continue }
      let message =
        "'\(network.name)' has no \(family), so that \(stuck.name) never reaches '\(server.name)', whose address is "
        + "\(family)"
      reading.report(.noWayOut, message, at: network.span, hint: "give it an \(family) prefix, too")
    }
  }

  /// Reports cycles of uplinks; returns true when there are any.
  private static func checkUplinks(_ topology: Topology, _ reading: inout Reading) -> Bool {
    var reported: Set<String> = []
    for network in topology.networks where !reported.contains(network.name) {
      var path = [network.name]
      var current = network
      while let next = current.uplink.flatMap({ topology.network($0.value) }) {
        if let start = path.firstIndex(of: next.name) {
          let cycle = path[start...] + [next.name]
          if reported.isDisjoint(with: cycle) {
            let span = current.uplink?.span ?? current.span
            reading.report(.uplinkCycle, "networks lead to each other: \(cycle.joined(separator: " -> "))", at: span)
          }
          reported.formUnion(cycle)
          break
        }
        path.append(next.name)
        current = next
      }
    }
    return !reported.isEmpty
  }

  /// Reports overlapping prefixes of networks without translation between them, and of the two sides of a NAT.
  private static func checkPrefixes(_ topology: Topology, _ reading: inout Reading) {
    for (index, network) in topology.networks.enumerated() {
      for other in topology.networks[..<index] {
        let isSameRealm = realm(of: network, in: topology) == realm(of: other, in: topology)
        let areNeighbours = network.uplink?.value == other.name || other.uplink?.value == network.name
        guard isSameRealm || areNeighbours else { continue }
        for prefix in network.prefixes {
          guard let clash = other.prefixes.first(where: { overlaps($0.value, prefix.value) }) else { continue }
          let message = "\(prefix.value) of \(network.name) overlaps \(clash.value) of \(other.name)"
          reading.report(.overlappingPrefixes, message, at: prefix.span)
        }
      }
    }
  }

  /// Returns the network with the NAT in front of `network`, or the root; networks with the same one share an address
  /// space.
  private static func realm(of network: Topology.Network, in topology: Topology) -> String {
    var current = network
    for _ in topology.networks {
      guard current.nat == nil, let next = current.uplink.flatMap({ topology.network($0.value) }) else { break }
      current = next
    }
    return current.name
  }

  private static func overlaps(_ a: IPPrefix, _ b: IPPrefix) -> Bool {
    a.contains(b.address) || b.contains(a.address)
  }
}

extension Scenario {
  /// Whether a host may move to another network during the run.
  var movesHosts: Bool { timeline.contains { $0.fault?.kind.movesHosts ?? false } }

  fileprivate func isMoved(_ peer: Peer) -> Bool {
    let moved = timeline.compactMap(\.fault).filter(\.kind.movesHosts).compactMap { $0.arguments.text("link") }
    return peer.interfaces.contains { moved.contains($0.link) }
  }
}

extension Scenario.Peer {
  fileprivate func isClient(of server: Topology.Server) -> Bool { profile?.value == server.profile?.value }
}

extension Topology {
  /// Returns the network, followed by those that its routers lead to, in order.
  fileprivate func wayOut(of name: String) -> [Network] {
    var way: [Network] = []
    var next = network(name)
    while let current = next, !way.contains(where: { $0.name == current.name }) {
      way.append(current)
      next = current.uplink.flatMap { network($0.value) }
    }
    return way
  }
}

extension IPPrefix {
  /// The number of host addresses: all but the network's, the router's and, for IPv4, the broadcast address.
  var hostCount: Int {
    let bits = (address.isIPv6 ? 128 : 32) - length
    return bits >= 32 ? .max : max(0, (1 << bits) - (address.isIPv6 ? 2 : 3))
  }
}
