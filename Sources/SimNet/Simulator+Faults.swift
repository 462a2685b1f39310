public import CallCore

/// Changes while the world runs. All of them are permitted at any time, also from within a host's callback.
extension Simulator {
  // MARK: Links

  /// Takes a link up or down. Going down loses what it carries; the host it attaches sees its interface change.
  public func setLink(_ name: String, isUp: Bool) throws(SimulatorError) { setLink(try link(name), isUp: isUp) }

  /// Takes a link up or down. Going down loses what it carries; the host it attaches sees its interface change.
  public func setLink(_ link: LinkID, isUp: Bool) {
    guard fabric.wires[link.direction(.tx)].isUp != isUp else { return }
    let cause = trace.write(NetworkEvents.linkState, links[link.index].subject, isUp ? "up" : "down")
    for direction in LinkDirection.allCases { fabric.setWire(link.direction(direction), isUp: isUp) }
    guard case .attachment(let interface) = links[link.index].ends else { return }
    fabric.interfaces[interface.index].isUp = isUp
    announce(fabric.interfaces[interface.index].host, cause: cause)
  }

  /// Changes a link's settings in one direction, or in both. Queued packets follow the new rate; sent ones are
  /// unaffected.
  public func setLink(
    _ name: String, _ direction: LinkDirection? = nil, _ change: (inout LinkSettings) -> Void
  ) throws(SimulatorError) {
    let link = try link(name)
    for side in LinkDirection.allCases where direction == nil || side == direction {
      var settings = settings(of: link, side)
      change(&settings)
      try setLink(link, side, settings)
    }
  }

  /// Replaces a link's settings in one direction. Queued packets follow the new rate; sent ones are unaffected.
  ///
  /// - Throws: ``SimulatorError/invalid(_:)`` if the settings are invalid.
  public func setLink(
    _ link: LinkID, _ direction: LinkDirection, _ settings: LinkSettings
  ) throws(SimulatorError) {
    if let problem = settings.problem { throw .invalid("link \(links[link.index].name): \(problem)") }
    trace.write(NetworkEvents.linkSettings, links[link.index].subject, direction.rawValue)
    fabric.change(wire: link.direction(direction), to: settings)
  }

  // MARK: Interfaces

  /// Returns the interface that a link attaches, or nil if the link is a router's uplink.
  public func interface(attachedBy link: LinkID) -> InterfaceID? {
    guard case .attachment(let interface) = links[link.index].ends else { return nil }
    return interface
  }

  /// Notes that something could not reach a host for lack of an interface, beside the network, such as a push.
  package func noteUnreachable(_ host: HostID) { hosts[host.index].unreachableCount += 1 }

  /// Returns the number of streams that the host of an interface could not open because none that is up leads to the server, and
  /// of what did not reach it for lack of one.
  package func unreachableCount(atHostOf interface: InterfaceID) -> Int {
    hosts[fabric.interfaces[interface.index].host.index].unreachableCount
  }

  /// Moves an attachment to another network, as when a phone joins another Wi-Fi: packets on its link are lost and it
  /// gets new addresses.
  ///
  /// - Parameter type: the new type of the interface, or nil to keep it.
  public func move(
    _ interface: InterfaceID, to network: NetworkID, addresses: [IPAddress] = [], type: NetworkType? = nil
  ) throws(SimulatorError) {
    let old = fabric.interfaces[interface.index]
    for address in old.addresses { fabric.networks[old.network.index].owners.remove(address) }
    let assigned: [IPAddress]
    do throws(SimulatorError) {
      assigned = try assign(addresses, in: network)
    } catch {
      for address in old.addresses { fabric.networks[old.network.index].owners.insert(address, .interface(interface)) }
      throw error
    }
    for address in assigned { fabric.networks[network.index].owners.insert(address, .interface(interface)) }
    fabric.interfaces[interface.index].network = network
    fabric.interfaces[interface.index].addresses = assigned
    if let type { fabric.interfaces[interface.index].type = type }
    for direction in LinkDirection.allCases where old.isUp {
      fabric.setWire(old.link.direction(direction), isUp: false)
      fabric.setWire(old.link.direction(direction), isUp: true)
    }
    fabric.wires[old.link.direction(.tx)].end = .network(network)
    let cause = trace.write(
      NetworkEvents.interfaceState, hosts[old.host.index].subject, "moved", old.name)
    announce(old.host, cause: cause)
  }

  // MARK: Rules

  /// Drops the datagrams that the rule matches, from now until it is spent or removed.
  @discardableResult
  public func addRule(_ rule: PacketRule) -> PacketRuleID { fabric.rules.add(rule) }

  /// Returns the number of datagrams that a rule has dropped so far, also after its end.
  public func dropCount(of rule: PacketRuleID) -> Int { fabric.rules.dropCount(of: rule) }

  /// Returns the number of datagrams that a rule was to drop and an older one has dropped.
  package func forestalledCount(of rule: PacketRuleID) -> Int { fabric.rules.forestalledCount(of: rule) }

  /// Ends a rule. Does nothing if it has ended.
  public func removeRule(_ rule: PacketRuleID) { fabric.rules.remove(rule) }

  // MARK: Hosts

  /// Cuts the power of a host: its sockets, streams and timers disappear without a message to any peer. The host keeps
  /// its interfaces, addresses and delegate, which may start again.
  public func reset(_ host: HostID) {
    trace.write(NetworkEvents.hostState, hosts[host.index].subject, "reset")
    for index in sockets.indices where sockets[index].host == host && sockets[index].isOpen {
      close(UDPSocket(index: UInt32(index), serial: sockets[index].serial))
    }
    for index in timers.indices where timers[index].host == host && timers[index].event != 0 {
      cancel(TimerID(index: UInt32(index), event: timers[index].event))
    }
    hosts[host.index].streams.reset()
  }

  /// Suspends or resumes a host: while it is suspended it loses every datagram that arrives. Its streams go on, as
  /// those of a kernel do.
  public func setSuspended(_ host: HostID, _ isSuspended: Bool) { hosts[host.index].isSuspended = isSuspended }

  // MARK: Notices

  /// Informs the host, in a separate event, that its interfaces changed; several changes at once are reported once.
  func announce(_ host: HostID, cause: EventNumber?) {
    guard hosts[host.index].notice == nil else { return }
    hosts[host.index].notice = cause ?? trace.cause
    fabric.schedule(.interfacesChanged, UInt32(host.index), at: now)
  }

  func notify(_ host: HostID) {
    trace.cause = hosts[host.index].notice ?? .none
    hosts[host.index].notice = nil
    hosts[host.index].delegate?.interfacesChanged()
  }
}
