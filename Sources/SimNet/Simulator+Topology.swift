public import CallCore

extension Simulator {
  // MARK: Building

  /// Adds a network that has no parent: an internet.
  @discardableResult
  public func addNetwork(_ name: String, prefixes: [IPPrefix]) throws(SimulatorError) -> NetworkID {
    try checkNew(network: name, prefixes)
    return insert(name, prefixes, parent: nil, uplink: nil)
  }

  /// Adds a network whose router leads to `parent` over an uplink called `link`; without it, the uplink has the
  /// network's name.
  ///
  /// - Parameters:
  ///   - nat: the router's translation of IPv4, or nil to route it. IPv6 is always routed.
  ///   - externalAddresses: the NAT's addresses on the parent network; if empty, the lowest free ones.
  ///   - externalAddressCount: the number of those free addresses.
  ///   - firewall: the packets that the router permits, or nil for all.
  @discardableResult
  public func addNetwork(
    _ name: String, prefixes: [IPPrefix], parent: String, link: String? = nil, tx: LinkSettings = LinkSettings(),
    rx: LinkSettings = LinkSettings(), nat: NATConfiguration? = nil, externalAddresses: [IPAddress] = [],
    externalAddressCount: Int = 1, firewall: FirewallRules? = nil
  ) throws(SimulatorError) -> NetworkID {
    try checkNew(network: name, prefixes)
    let parent = try network(parent)
    let linkName = link ?? name
    try checkNew(link: linkName, tx, rx)
    let external = nat == nil ? [] : try assignExternal(externalAddresses, count: externalAddressCount, in: parent)
    if let problem = nat?.problem { throw .invalid("network \(name): \(problem)") }

    let child = NetworkID(index: fabric.networks.count)
    let uplink = insert(link: linkName, .uplink(child), tx, rx, (.network(parent), .router(child)), isUp: true)
    let translator = nat.map { NAT($0, externalAddresses: external, random: random.stream("nat/\(name)/ports")) }
    insert(
      name, prefixes, parent: parent, uplink: uplink, nat: translator, firewall: firewall.map { Firewall($0) })
    for address in external { fabric.networks[parent.index].owners.insert(address, .router(child)) }
    for prefix in prefixes { advertise(prefix, of: child) }
    return child
  }

  /// Isolates the hosts on a network from each other, as guest Wi-Fis do: they reach only networks beyond its router.
  public func setIsolated(_ isIsolated: Bool, of network: String) throws(SimulatorError) {
    fabric.networks[try self.network(network).index].isIsolated = isIsolated
  }

  /// Adds a host without interfaces.
  @discardableResult
  public func addHost(_ name: String, delegate: (any HostDelegate)? = nil) throws(SimulatorError) -> HostID {
    guard hostNames[name] == nil else { throw .duplicateName(name) }
    let host = HostID(
      index: hosts.append(
        Host(
          name: name, subject: trace.subject(name), delegate: delegate,
          ephemeral: random.stream("host/\(name)/ports"),
          streams: StreamTable(random: random.stream("host/\(name)/streams")))))
    hostNames[name] = host
    return host
  }

  /// Gives a host another delegate, which the simulator holds.
  public func setDelegate(_ delegate: (any HostDelegate)?, of host: HostID) {
    hosts[host.index].delegate = delegate
  }

  /// Attaches a host to a network by a link of the given name. Earlier attachments are preferred for sending.
  ///
  /// - Parameter addresses: the addresses of the interface; if empty, the lowest free one of each of the network's
  ///   prefixes.
  @discardableResult
  public func attach(
    _ host: HostID, to network: NetworkID, link name: String, type: NetworkType = .unknown,
    addresses: [IPAddress] = [], tx: LinkSettings = LinkSettings(), rx: LinkSettings = LinkSettings(),
    isUp: Bool = true
  ) throws(SimulatorError) -> InterfaceID {
    try checkNew(link: name, tx, rx)
    let addresses = try assign(addresses, in: network)
    let interface = InterfaceID(index: fabric.interfaces.count)
    let link = insert(
      link: name, .attachment(interface), tx, rx, (.network(network), .interface(interface)), isUp: isUp)
    fabric.interfaces.append(
      NetworkInterface(
        id: interface, name: name, type: type, host: host, network: network, link: link, addresses: addresses,
        isUp: isUp))
    for address in addresses { fabric.networks[network.index].owners.insert(address, .interface(interface)) }
    hosts[host.index].interfaces.append(interface)
    hosts[host.index].streams.fitSegments(into: min(tx.mtu, rx.mtu))
    introduce(fabric.interfaces[interface.index])
    announce(host, cause: nil)
    return interface
  }

  // MARK: Reading

  /// Returns the host of a name.
  ///
  /// - Throws: ``SimulatorError/unknownHost(_:)`` if there is none.
  public func host(_ name: String) throws(SimulatorError) -> HostID {
    guard let host = hostNames[name] else { throw .unknownHost(name) }
    return host
  }

  /// Returns the network of a name.
  ///
  /// - Throws: ``SimulatorError/unknownNetwork(_:)`` if there is none.
  public func network(_ name: String) throws(SimulatorError) -> NetworkID {
    guard let network = networkNames[name] else { throw .unknownNetwork(name) }
    return network
  }

  /// Returns the link of a name.
  ///
  /// - Throws: ``SimulatorError/unknownLink(_:)`` if there is none.
  public func link(_ name: String) throws(SimulatorError) -> LinkID {
    guard let link = linkNames[name] else { throw .unknownLink(name) }
    return link
  }

  /// Returns a host's name.
  public func name(of host: HostID) -> String { hosts[host.index].name }

  /// Returns a network's name.
  public func name(of network: NetworkID) -> String { fabric.networks[network.index].name }

  /// Returns the host's interfaces in order of preference, including those that are down.
  public func interfaces(of host: HostID) -> [NetworkInterface] {
    hosts[host.index].interfaces.map { fabric.interfaces[$0.index] }
  }

  /// Returns the current state of an interface.
  public func interface(_ id: InterfaceID) -> NetworkInterface { fabric.interfaces[id.index] }

  /// Returns the numbers of packets that the firewall of the network's router has refused so far; empty if there is
  /// none.
  package func firewallRefusals(of network: NetworkID) -> [FirewallPacket: Int] {
    fabric.networks[network.index].firewall?.refusals ?? [:]
  }

  /// Returns the link from the network's router to its parent, or nil at the top.
  public func uplink(of network: NetworkID) -> LinkID? { fabric.networks[network.index].uplink }

  /// Returns a network's address prefixes.
  public func prefixes(of network: NetworkID) -> [IPPrefix] { fabric.networks[network.index].prefixes }

  /// Returns whether a link is up.
  public func isUp(_ link: LinkID) -> Bool { fabric.wires[link.direction(.tx)].isUp }

  /// Returns the settings of one direction of a link.
  public func settings(of link: LinkID, _ direction: LinkDirection) -> LinkSettings {
    fabric.wires[link.direction(direction)].settings
  }

  /// Returns the counters of one direction of a link.
  public func statistics(of link: LinkID, _ direction: LinkDirection) -> LinkStatistics {
    fabric.wires[link.direction(direction)].statistics
  }

  // MARK: Parts

  private func checkNew(network name: String, _ prefixes: [IPPrefix]) throws(SimulatorError) {
    guard networkNames[name] == nil else { throw .duplicateName(name) }
    guard !prefixes.isEmpty else { throw .invalid("a network needs a prefix") }
  }

  private func checkNew(link name: String, _ tx: LinkSettings, _ rx: LinkSettings) throws(SimulatorError) {
    guard linkNames[name] == nil else { throw .duplicateName(name) }
    if let problem = tx.problem ?? rx.problem { throw .invalid("link \(name): \(problem)") }
  }

  @discardableResult
  private func insert(
    _ name: String, _ prefixes: [IPPrefix], parent: NetworkID?, uplink: LinkID?, nat: consuming NAT? = nil,
    firewall: Firewall? = nil
  ) -> NetworkID {
    let id = NetworkID(
      index: fabric.networks.append(
        Network(
          name: name, prefixes: prefixes, parent: parent, uplink: uplink, subject: trace.subject("network/\(name)"),
          nat: nat, firewall: firewall)))
    networkNames[name] = id
    return id
  }

  private func insert(
    link name: String, _ ends: Link.Ends, _ tx: LinkSettings, _ rx: LinkSettings, _ wires: (tx: WireEnd, rx: WireEnd),
    isUp: Bool
  ) -> LinkID {
    let id = LinkID(index: links.count)
    links.append(Link(name: name, ends: ends, subject: trace.subject("link/\(name)")))
    linkNames[name] = id
    fabric.wires.append(
      Wire(
        tx, name: name, direction: .tx, end: wires.tx, isUp: isUp, random: random, trace: trace,
        isRecorded: recordsChannels))
    fabric.wires.append(
      Wire(
        rx, name: name, direction: .rx, end: wires.rx, isUp: isUp, random: random, trace: trace,
        isRecorded: recordsChannels))
    return id
  }

  /// Advertises every network's prefixes to the networks above it.
  func rebuildRoutes() {
    for network in 0..<fabric.networks.count { fabric.networks[network].routes = [] }
    for network in 0..<fabric.networks.count {
      for prefix in fabric.networks[network].prefixes { advertise(prefix, of: NetworkID(index: network)) }
    }
  }

  /// Makes `prefix` reachable through `child` from every network above, up to the first NAT.
  private func advertise(_ prefix: IPPrefix, of child: NetworkID) {
    var below = child
    while let above = fabric.networks[below.index].parent, prefix.address.isIPv6 || !isTranslated(below) {
      fabric.networks[above.index].addRoute(prefix, child: below)
      below = above
    }
  }

  private func isTranslated(_ network: NetworkID) -> Bool { fabric.networks[network.index].nat != nil }

  /// Assigns addresses for a NAT on its parent network.
  func assignExternal(
    _ wanted: [IPAddress], count: Int = 1, in parent: NetworkID
  ) throws(SimulatorError) -> [IPAddress] {
    guard wanted.allSatisfy({ !$0.isIPv6 }) else { throw .invalid("a NAT's addresses are IPv4") }
    guard wanted.isEmpty else { return try assign(wanted, in: parent) }
    let name = fabric.networks[parent.index].name
    guard let prefix = fabric.networks[parent.index].prefixes.firstIndex(where: { !$0.address.isIPv6 }) else {
      throw .noPrefix(network: name)
    }
    var addresses: [IPAddress] = []
    for _ in 0..<count {
      guard let address = fabric.networks[parent.index].takeAddress(prefix: prefix) else {
        throw .addressesExhausted(network: name)
      }
      addresses.append(address)
    }
    return addresses
  }

  func assign(_ wanted: [IPAddress], in network: NetworkID) throws(SimulatorError) -> [IPAddress] {
    let name = fabric.networks[network.index].name
    for address in wanted {
      guard fabric.networks[network.index].contains(address) else {
        throw .addressOutsideNetwork(address, network: name)
      }
      guard !fabric.networks[network.index].owners.contains(address) else { throw .addressInUse(address) }
    }
    guard wanted.isEmpty else { return wanted }
    var addresses: [IPAddress] = []
    for prefix in 0..<fabric.networks[network.index].prefixes.count {
      guard let address = fabric.networks[network.index].takeAddress(prefix: prefix) else {
        throw .addressesExhausted(network: name)
      }
      addresses.append(address)
    }
    return addresses
  }
}
