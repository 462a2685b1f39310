import CallCore

/// What the file alone says of the addresses that a run needs, and of those that faults name.
enum AddressChecks {
  /// Reports networks with fewer addresses than a run may ask for. Everybody who is ever on a network is counted as if all
  /// were there at once, and a router that takes new addresses has them before it gives the old ones back.
  static func checkNumber(_ scenario: Scenario, _ reading: inout Reading) {
    for network in scenario.topology.networks {
      let start = scenario.hostsInOrder(on: network.name)
      let moved = scenario.linksMoved(to: network.name)
      let renumbered = scenario.routersRenumbered(on: network.name)
      for prefix in network.prefixes {
        let isIPv6 = prefix.value.address.isIPv6
        // Routers translate IPv4 alone.
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

  /// When so many are needed, where they are not at the start.
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

  /// Reports an address of `nat.reboot` that no router can have, or that somebody else has from the start, unless another
  /// entry may take it from there.
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
  /// Which host address of an IPv4 prefix this is, 0 being the network's own.
  fileprivate func number(of host: IPAddress) -> UInt64? {
    host.isIPv6 || address.isIPv6 ? nil : UInt64(host.v4Bits) - UInt64(address.v4Bits)
  }

  /// Whether a host may have it: not the network itself, the router or all of them.
  fileprivate func isHost(_ number: UInt64) -> Bool { number >= 2 && number < UInt64(hostCount) + 2 }
}

extension Scenario {
  /// Who has the addresses of a network when the run begins, from the first of a host on: the routers below it, as often as
  /// they have addresses, servers and peers, as the world is built.
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

  /// The links that lead elsewhere at the start, and that some entry takes to a network.
  fileprivate func linksMoved(to network: String) -> [String] {
    topology.links.filter { link in
      link.to.value != network
        && timeline.contains { entry in
          guard let fault = entry.fault, fault.kind.movesHosts else { return false }
          return fault.arguments.text("link") == link.name && fault.arguments.text("network") == network
        }
    }.map(\.name)
  }

  /// The networks whose routers stand on a network, and take other addresses of it in the run.
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
