import CallCore

/// Static checks of the addresses that a run needs, and of those that faults name.
enum AddressChecks {
  /// Reports networks with fewer addresses than a run may need. All hosts that are ever on a network are counted as
  /// present at once, since a router that takes new addresses has them before it releases the old ones.
  static func checkNumber(_ scenario: Scenario, _ reading: inout Reading) {
    for network in scenario.topology.networks {
      let start = scenario.hostsInOrder(on: network.name)
      let moved = scenario.linksMoved(to: network.name)
      let renumbered = scenario.routersRenumbered(on: network.name)
      for prefix in network.prefixes {
        let isIPv6 = prefix.value.address.isIPv6
        // NATs translate IPv4 only.
        let routers = isIPv6 ? [] : renumbered
        let needed =
          start.count { !isIPv6 || !$0.isRouter } + moved.count + routers.reduce(0) { $0 + ($1.nat?.addresses ?? 0) }
        let there = prefix.value.hostCount
        guard needed > there else { continue }
        let needs = "'\(network.name)' needs \(count(needed))\(occasion(moved, routers))"
        let span = prefix.span == .builtIn ? network.span : prefix.span
        reading.report(
          .tooFewAddresses, "\(needs), and \(prefix.value) has \(there)", at: span, hint: "take a shorter prefix")
      }
    }
  }

  private static func count(_ number: Int) -> String { number == 1 ? "1 address" : "\(number) addresses" }

  private static func names(_ names: [String]) -> String { names.map { "'\($0)'" }.joined(separator: " and ") }

  /// Returns the time at which the addresses are needed, if not at the start.
  private static func occasion(_ moved: [String], _ routers: [Topology.Network]) -> String {
    var parts: [String] = []
    if !moved.isEmpty {
      parts.append("\(names(moved)) \(moved.count == 1 ? "has" : "have") moved there")
    }
    if !routers.isEmpty {
      parts.append("the NAT of \(names(routers.map(\.name))) takes new ones")
    }
    return parts.isEmpty ? "" : " when " + parts.joined(separator: " and ")
  }

  /// Reports an address of `nat.reboot` that a router cannot have, or that another host has from the start, unless
  /// another entry may release it.
  static func check(_ fault: Fault, _ scenario: Scenario, _ reading: inout Reading) {
    guard fault.kind == .natReboot, let network = fault.arguments.text("network"),
      let text = fault.arguments.text("address"), let address = IPAddress(text),
      let span = fault.arguments.span(of: "address"),
      let outside = scenario.topology.network(network)?.uplink?.value
    else { return }
    let free = "name one that is free, or write new for any other address"
    guard let prefix = scenario.topology.network(outside)?.prefixes.map(\.value).first(where: { $0.contains(address) }),
      let number = prefix.number(of: address)
    else { return }
    guard prefix.isHost(number) else {
      let message = "no host of \(outside) has \(address), which is the network's, its router's or for broadcast"
      return reading.report(.wrongRouter, message, at: span, hint: free)
    }
    let changes = scenario.timeline.contains { other in
      guard let fault = other.fault else { return false }
      return fault.kind.movesHosts || (fault.kind == .natReboot && fault.arguments.text("network") != network)
    }
    let owners = scenario.hostsInOrder(on: outside)
    guard !changes, number - 2 < owners.count, owners[Int(number) - 2].name != network else { return }
    let message = "\(address) is taken: '\(owners[Int(number) - 2].name)' has it"
    reading.report(.wrongRouter, message, at: span, hint: free)
  }
}

extension IPPrefix {
  /// Returns the index of an address in an IPv4 prefix, 0 being the network's own.
  fileprivate func number(of host: IPAddress) -> UInt64? {
    host.isIPv6 || address.isIPv6 ? nil : UInt64(host.v4Bits) - UInt64(address.v4Bits)
  }

  /// Returns whether the index is neither that of the network, nor of the router, nor of the broadcast address.
  fileprivate func isHost(_ number: UInt64) -> Bool { number >= 2 && number < UInt64(hostCount) + 2 }
}

extension Scenario {
  /// Returns the owners of host addresses when the run begins, in the order in which the world is built: the routers
  /// below the network, once for each of their addresses, then servers and peers.
  fileprivate func hostsInOrder(on network: String) -> [(name: String, isRouter: Bool)] {
    var routers: [Topology.Network] = []
    var waiting = topology.networks
    while true {
      let ready = waiting.filter { below in !waiting.contains { $0.name == below.uplink?.value } }
      guard !ready.isEmpty else { break }
      routers += ready
      waiting.removeAll { below in ready.contains { $0.name == below.name } }
    }
    let hasApp = peers.contains { $0.profile != nil }
    let servers = topology.servers.filter { $0.network.value == network && (!$0.kind.isDeclared || hasApp) }
    var owners: [(name: String, isRouter: Bool)] = []
    for router in routers where router.uplink?.value == network {
      owners += Array(repeating: (router.name, true), count: router.nat?.addresses ?? 0)
    }
    owners += servers.map { ($0.name, false) }
    for peer in peers where peer.stack != .puppet {
      owners += peer.interfaces.filter { $0.network == network }.map { _ in (peer.name, false) }
    }
    return owners
  }

  /// Returns the links that are moved to a network during the run.
  fileprivate func linksMoved(to network: String) -> [String] {
    topology.links.filter { link in
      link.to.value != network
        && timeline.contains { entry in
          guard let fault = entry.fault, fault.kind.movesHosts else { return false }
          return fault.arguments.text("link") == link.name && fault.arguments.text("network") == network
        }
    }.map(\.name)
  }

  /// Returns the networks below a network whose routers take new addresses during the run.
  fileprivate func routersRenumbered(on network: String) -> [Topology.Network] {
    topology.networks.filter { below in
      below.uplink?.value == network
        && timeline.contains { entry in
          guard let fault = entry.fault, fault.kind == .natReboot else { return false }
          return fault.arguments.text("network") == below.name && fault.arguments.text("address") == "new"
        }
    }
  }
}
