import CallCore

/// What must be true of a topology before a world can be built from it.
enum TopologyChecks {
  static func check(_ topology: Topology, _ reading: inout Reading) {
    let looped = checkUplinks(topology, &reading)
    if !looped { checkPrefixes(topology, &reading) }
    for server in topology.servers where server.kind == .stun && !server.transports.contains(.udp) {
      let message = "peers ask STUN servers by UDP, and \(server.name) has no such transport"
      reading.report(.wrongTransport, message, at: server.span, hint: "leave transports out")
    }
  }

  /// Reports networks that lead to each other; true when there are any.
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

  /// Networks that reach each other without translation must not share addresses; neither may the two sides of a NAT.
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

  /// The network whose router translates, or the root: what lies behind it is one address space.
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
