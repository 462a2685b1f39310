import CallCore

/// What the file alone says of the addresses that faults name.
enum AddressChecks {
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
      return fault.kind == .linkMove || (fault.kind == .natReboot && fault.arguments.text("network") != network)
    }
    let owners = scenario.hostsInOrder(on: outside)
    guard !changes, number - 2 < owners.count, owners[Int(number) - 2] != network else { return }
    let message = "\(address) is taken: '\(owners[Int(number) - 2])' has it"
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
  fileprivate func hostsInOrder(on network: String) -> [String] {
    var routers: [Topology.Network] = []
    var waiting = topology.networks
    while true {
      let ready = waiting.filter { below in !waiting.contains { $0.name == below.uplink?.value } }
      guard !ready.isEmpty else { break }
      routers += ready
      waiting.removeAll { below in ready.contains { $0.name == below.name } }
    }
    let hasApp = peers.contains { $0.profile != nil }
    let servers = topology.servers.filter { $0.network.value == network && ($0.kind != .signalling || hasApp) }
    var owners: [String] = []
    for router in routers where router.uplink?.value == network {
      owners += Array(repeating: router.name, count: router.nat?.addresses ?? 0)
    }
    owners += servers.map(\.name)
    for peer in peers where peer.stack != .puppet {
      owners += peer.interfaces.filter { $0.network == network }.map { _ in peer.name }
    }
    return owners
  }
}
