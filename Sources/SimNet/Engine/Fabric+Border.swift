internal import CallCore

/// A network's router: firewall on the inside, NAT on the outside, as in netfilter's order of hooks.
extension Fabric {
  /// Passes a packet from the network outwards.
  mutating func leave(_ slot: UInt32, _ network: NetworkID, over uplink: LinkID) {
    guard passesFirewall(slot, network, .outbound) else { return }
    guard networks[network.index].nat != nil else { return depart(slot, over: uplink) }
    let header = flights[slot].header
    let verdict = networks[network.index].nat!.translateOutbound(
      source: header.source, destination: header.destination, protocol: header.transport, flags: header.flags,
      at: now)
    guard apply(verdict, to: slot, network) else { return }
    // A hairpinned packet now has an inside destination.
    guard flights[slot].header.destination != header.destination else { return depart(slot, over: uplink) }
    route(slot, on: network)
  }

  private mutating func depart(_ slot: UInt32, over uplink: LinkID) {
    fitSegments(slot, over: uplink)
    carry(slot, over: uplink.direction(.tx))
  }

  /// Lowers the segment size in a SYN to the capacity of the uplink in both directions, as routers with a narrow uplink
  /// do: the simulation has no ICMP to inform the ends.
  mutating func fitSegments(_ slot: UInt32, over uplink: LinkID) {
    let header = flights[slot].header
    guard header.transport == .tcp, header.flags.contains(.syn) else { return }
    let mtu = min(
      wires[uplink.direction(.tx)].settings.mtu, wires[uplink.direction(.rx)].settings.mtu)
    let limit = mtu - (header.source.address.isIPv6 ? 40 : 20) - TCPHeader.minimumSize
    var segment = pool.withBytes(of: flights[slot].handle) { $0.copied }
    guard TCPHeader.lowerMaximumSegmentSize(in: &segment, to: UInt16(clamping: max(limit, 1))) else { return }
    replace(slot, with: segment)
  }

  /// Passes a packet from the network's parent inwards.
  mutating func enter(_ slot: UInt32, _ network: NetworkID) {
    if networks[network.index].nat != nil {
      let header = flights[slot].header
      let verdict = networks[network.index].nat!.translateInbound(
        source: header.source, destination: header.destination, protocol: header.transport, flags: header.flags,
        at: now)
      guard apply(verdict, to: slot, network) else { return }
    }
    guard passesFirewall(slot, network, .inbound) else { return }
    route(slot, on: network)
  }

  private mutating func passesFirewall(
    _ slot: UInt32, _ network: NetworkID, _ direction: BorderDirection
  ) -> Bool {
    guard networks[network.index].firewall != nil else { return true }
    let header = flights[slot].header
    let verdict = networks[network.index].firewall!.decide(
      direction, source: header.source, destination: header.destination, protocol: header.transport,
      flags: header.flags, at: now)
    guard case .drop = verdict else { return true }
    drop(slot, .firewall, by: networks[network.index].subject)
    return false
  }

  /// Rewrites the packet, or drops it and returns false.
  private mutating func apply(_ verdict: NATVerdict, to slot: UInt32, _ network: NetworkID) -> Bool {
    traceNAT(network, cause: flights[slot].cause)
    switch verdict {
    case .forward(let source, let destination):
      flights[slot].header.source = source
      flights[slot].header.destination = destination
      return true
    case .drop(let reason):
      drop(slot, DropReason(reason), by: networks[network.index].subject)
      return false
    }
  }

  // MARK: Mappings

  /// Removes idle mappings. Ignores an event that an earlier one replaced.
  mutating func expireMappings(_ event: Event) {
    let network = NetworkID(index: Int(event.index))
    guard networks[network.index].expiryCheck?.event == event.number else { return }
    networks[network.index].expiryCheck = nil
    networks[network.index].nat?.advance(to: now)
    traceNAT(network, cause: .none)
  }

  /// Writes the changes of the NAT, and schedules a check for its next expiry.
  mutating func traceNAT(_ network: NetworkID, cause: EventNumber) {
    let subject = networks[network.index].subject
    while let event = networks[network.index].nat?.nextEvent() { natTrace.write(event, by: subject, cause: cause) }
    traceNATValues(network, cause: cause)
    let check = networks[network.index].expiryCheck?.time
    guard let soonest = networks[network.index].nat?.soonestExpiry, check.map({ soonest < $0 }) ?? true,
      let expiry = networks[network.index].nat?.nextExpiry, check.map({ expiry < $0 }) ?? true
    else { return }
    let event = schedule(.natExpiry, UInt32(network.index), at: expiry)
    networks[network.index].expiryCheck = (expiry, event)
  }
}

extension Fabric {
  /// Writes a value of the NAT from now on, when it changes.
  mutating func watchNAT(_ value: NATValue, of network: NetworkID) {
    guard !networks[network.index].watchedNAT.contains(where: { $0.value == value }) else { return }
    networks[network.index].watchedNAT.append((value, nil))
    traceNATValues(network, cause: .none)
  }

  private mutating func traceNATValues(_ network: NetworkID, cause: EventNumber) {
    for index in networks[network.index].watchedNAT.indices {
      let (value, last) = networks[network.index].watchedNAT[index]
      guard let now = networks[network.index].nat?.value(value), now != last else { continue }
      networks[network.index].watchedNAT[index].last = now
      trace.write(
        HarnessEvents.sample(value.rawValue, Int.self), networks[network.index].subject, cause: cause, now)
    }
  }
}

extension DropReason {
  init(_ reason: NATDropReason) {
    switch reason {
    case .noMapping: self = .natNoMapping
    case .filtered: self = .natFilter
    case .portsExhausted: self = .natPortsExhausted
    case .hairpin: self = .natHairpin
    }
  }
}
