public import CallCore

/// NATs and firewalls: changes by scenarios, and their state.
extension Simulator {
  /// Reboots the network's NAT: its mappings are removed.
  ///
  /// - Parameter addresses: its external addresses on the parent network, old ones or free ones; if empty, the same
  ///   number of other addresses, the lowest free ones; nil to keep the old ones.
  public func rebootNAT(_ network: String, externalAddresses addresses: [IPAddress]? = nil) throws(SimulatorError) {
    let (id, now) = (try translated(network), now)
    guard let addresses, let parent = fabric.networks[id.index].parent else {
      fabric.networks[id.index].nat?.reset(at: now)
      return fabric.traceNAT(id, cause: trace.cause)
    }
    let old = fabric.networks[id.index].nat?.externalAddresses ?? []
    let others = addresses.filter { !old.contains($0) }
    var new = addresses
    if addresses.isEmpty || !others.isEmpty {
      let assigned = try assignExternal(others, in: parent)
      if addresses.isEmpty { new = assigned }
    }
    while addresses.isEmpty, new.count < old.count {
      // An address must be owned by the NAT before the next one is assigned, or it would still count as free.
      fabric.networks[parent.index].owners.insert(new[new.count - 1], .router(id))
      new += try assignExternal([], in: parent)
    }
    for address in old { fabric.networks[parent.index].owners.remove(address) }
    for address in new { fabric.networks[parent.index].owners.insert(address, .router(id)) }
    fabric.networks[id.index].nat?.reset(externalAddresses: new, at: now)
    fabric.traceNAT(id, cause: trace.cause)
  }

  /// Puts a NAT at the network's border, replaces the existing one and its mappings, or removes it.
  ///
  /// - Parameter addresses: its addresses on the parent network; if empty, those of the NAT it replaces, or the lowest
  ///   free one.
  package func setNAT(
    _ configuration: NATConfiguration?, of network: String, externalAddresses addresses: [IPAddress] = []
  ) throws(SimulatorError) {
    let (id, parent) = try border(of: network)
    if let problem = configuration?.problem { throw .invalid("network \(network): \(problem)") }
    let old = fabric.networks[id.index].nat?.externalAddresses ?? []
    for address in old { fabric.networks[parent.index].owners.remove(address) }
    var new: [IPAddress] = []
    do throws(SimulatorError) {
      if configuration != nil { new = try assignExternal(addresses.isEmpty ? old : addresses, in: parent) }
    } catch {
      for address in old { fabric.networks[parent.index].owners.insert(address, .router(id)) }
      throw error
    }
    for address in new { fabric.networks[parent.index].owners.insert(address, .router(id)) }
    let now = fabric.now
    fabric.networks[id.index].nat?.reset(at: now)
    fabric.traceNAT(id, cause: trace.cause)
    fabric.networks[id.index].nat = configuration.map {
      NAT($0, externalAddresses: new, random: random.stream("nat/\(network)/ports"))
    }
    rebuildRoutes()
  }

  /// Changes the behavior of the network's NAT. Its mappings, its addresses and the sequence of ports stay: see
  /// ``NAT/change(to:at:)`` for the effect of each setting.
  public func changeNAT(_ network: String, to configuration: NATConfiguration) throws(SimulatorError) {
    let (id, now) = (try translated(network), now)
    if let problem = configuration.problem { throw .invalid("network \(network): \(problem)") }
    guard fabric.networks[id.index].nat?.configuration.overloadsPorts == configuration.overloadsPorts else {
      throw .invalid("network \(network): port overloading cannot change under mappings; put another NAT there")
    }
    let old = fabric.networks[id.index].nat?.configuration
    guard old?.blocks == configuration.blocks, old?.blocks == nil || old?.portRange == configuration.portRange else {
      throw .invalid("network \(network): blocks of ports cannot change under mappings; put another NAT there")
    }
    fabric.networks[id.index].nat?.change(to: configuration, at: now)
    fabric.traceNAT(id, cause: trace.cause)
  }

  /// Removes the mappings of one inside host, or all mappings.
  public func expireNATMappings(_ network: String, of host: IPAddress? = nil) throws(SimulatorError) {
    let (id, now) = (try translated(network), now)
    fabric.networks[id.index].nat?.removeMappings(of: host, at: now)
    fabric.traceNAT(id, cause: trace.cause)
  }

  /// Gives every mapping a new external port while its flows continue.
  ///
  /// - Returns: the number of mappings that moved; a mapping stays if no other port is free.
  @discardableResult
  public func remapNAT(_ network: String) throws(SimulatorError) -> Int {
    let (id, now) = (try translated(network), now)
    let count = fabric.networks[id.index].nat?.remap(at: now) ?? 0
    fabric.traceNAT(id, cause: trace.cause)
    return count
  }

  /// Sets rules at the network's border, or removes the firewall. Known flows stay known under new rules.
  public func setFirewall(_ rules: FirewallRules?, of network: String) throws(SimulatorError) {
    let (id, _) = try border(of: network)
    // An assignment through `firewall?` never releases the rules that were there before (Swift 6.3).
    let present = fabric.networks[id.index].firewall.take()
    guard let rules else { return }
    var firewall = present ?? Firewall(rules)
    firewall.rules = rules
    fabric.networks[id.index].firewall = firewall
  }

  /// Returns the configuration of the network's NAT, or nil if it has none.
  package func natConfiguration(of network: String) throws(SimulatorError) -> NATConfiguration? {
    fabric.networks[try self.network(network).index].nat?.configuration
  }

  /// Returns the rules at the network's border, or nil if there is no firewall.
  public func firewallRules(of network: String) throws(SimulatorError) -> FirewallRules? {
    fabric.networks[try self.network(network).index].firewall?.rules
  }

  /// Returns the NAT's live mappings in order of creation; empty if the network has no NAT.
  public func natMappings(of network: NetworkID) -> [NATMapping] {
    fabric.networks[network.index].nat?.mappings ?? []
  }

  /// Returns the decisions of the NAT so far; empty if the network has no NAT.
  package func natTally(of network: NetworkID) -> NATTally { fabric.networks[network.index].nat?.tally ?? NATTally() }

  /// Writes a value of the network's NAT into the trace, now and whenever it changes.
  package func watchNAT(_ value: NATValue, of network: String) throws(SimulatorError) {
    fabric.watchNAT(value, of: try translated(network))
  }

  /// Returns the NAT's addresses on the parent network; empty if the network has no NAT.
  public func externalAddresses(of network: NetworkID) -> [IPAddress] {
    fabric.networks[network.index].nat?.externalAddresses ?? []
  }

  private func border(of network: String) throws(SimulatorError) -> (NetworkID, parent: NetworkID) {
    let id = try self.network(network)
    guard let parent = fabric.networks[id.index].parent else { throw .notPresent("\(network) has no border") }
    return (id, parent)
  }

  private func translated(_ network: String) throws(SimulatorError) -> NetworkID {
    let id = try self.network(network)
    guard fabric.networks[id.index].nat != nil else { throw .notPresent("\(network) has no NAT") }
    return id
  }
}
