public import CallCore

/// NATs and firewalls: what a scenario may do to them, and what it may read.
extension Simulator {
  /// Reboots the network's NAT: its mappings are gone.
  ///
  /// - Parameter addresses: new external addresses on the parent network, or nil to keep the old ones.
  public func rebootNAT(_ network: String, externalAddresses addresses: [IPAddress]? = nil) throws(SimulatorError) {
    let (id, now) = (try translated(network), now)
    guard let addresses, let parent = fabric.networks[id.index].parent else {
      fabric.networks[id.index].nat?.reset(at: now)
      return fabric.traceNAT(id, cause: trace.cause)
    }
    let new = try assignExternal(addresses, in: parent)
    for address in fabric.networks[id.index].nat?.externalAddresses ?? [] {
      fabric.networks[parent.index].owners.remove(address)
    }
    for address in new { fabric.networks[parent.index].owners.insert(address, .router(id)) }
    fabric.networks[id.index].nat?.reset(externalAddresses: new, at: now)
    fabric.traceNAT(id, cause: trace.cause)
  }

  /// Removes the mappings of one inside host, or of all.
  public func expireNATMappings(_ network: String, of host: IPAddress? = nil) throws(SimulatorError) {
    let (id, now) = (try translated(network), now)
    fabric.networks[id.index].nat?.removeMappings(of: host, at: now)
    fabric.traceNAT(id, cause: trace.cause)
  }

  /// Gives every mapping a new external port under its running flows.
  public func remapNAT(_ network: String) throws(SimulatorError) {
    let (id, now) = (try translated(network), now)
    fabric.networks[id.index].nat?.remap(at: now)
    fabric.traceNAT(id, cause: trace.cause)
  }

  /// Puts rules at the network's border, or takes the firewall away. Flows it knows stay known under new rules.
  public func setFirewall(_ network: String, _ rules: FirewallRules?) throws(SimulatorError) {
    let id = try self.network(network)
    guard fabric.networks[id.index].parent != nil else { throw .notPresent("\(network) has no border") }
    guard let rules, fabric.networks[id.index].firewall != nil else {
      return fabric.networks[id.index].firewall = rules.map { Firewall($0) }
    }
    fabric.networks[id.index].firewall?.rules = rules
  }

  /// The NAT's live mappings in order of creation, or none when the network has no NAT.
  public func natMappings(of network: NetworkID) -> [NATMapping] {
    fabric.networks[network.index].nat?.mappings ?? []
  }

  /// The NAT's addresses on the parent network, or none when the network has no NAT.
  public func externalAddresses(of network: NetworkID) -> [IPAddress] {
    fabric.networks[network.index].nat?.externalAddresses ?? []
  }

  private func translated(_ network: String) throws(SimulatorError) -> NetworkID {
    let id = try self.network(network)
    guard fabric.networks[id.index].nat != nil else { throw .notPresent("\(network) has no NAT") }
    return id
  }
}
