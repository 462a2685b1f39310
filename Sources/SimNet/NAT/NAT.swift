package import CallCore

/// A network address translator for IPv4 (RFC 4787 for UDP, RFC 5382 for TCP) as a pure value: a packet's endpoints and
/// the time go in, its new endpoints come out.
///
/// A *mapping* ties an internal to an external endpoint. Under it every remote endpoint has a *session*, which carries
/// the idle timer and, once it exists, the filter's permission; a mapping lives as long as its longest session. IPv6
/// packets pass unchanged. Memory is bounded by live sessions, which quotas and timers bound.
///
/// After every call the driver drains ``nextEvent()``.
package struct NAT: ~Copyable {
  package private(set) var configuration: NATConfiguration
  package private(set) var externalAddresses: [IPAddress]

  private var table: NATTable
  private var allocator: NATAllocator
  private var idle = IdleQueue()
  /// A lower bound for the next expiry of a session: possibly early, never late.
  private(set) var soonestExpiry: Instant?
  private var now = Instant.zero
  private var created: UInt64 = 0
  private var events = FIFO<NATEvent>()
  /// The counts of decisions so far; the allocator counts ports.
  private var decisions = NATTally()

  /// - Precondition: there is at least one external address, all are IPv4, and the configuration has no
  ///   ``NATConfiguration/problem``.
  package init(
    _ configuration: NATConfiguration, externalAddresses: [IPAddress], random: consuming RandomStream
  ) {
    precondition(!externalAddresses.isEmpty, "a NAT needs an external address")
    precondition(externalAddresses.allSatisfy { !$0.isIPv6 }, "IPv6 is routed, not translated")
    precondition(configuration.problem == nil, "a NAT needs a configuration without a problem")
    self.configuration = configuration
    self.externalAddresses = externalAddresses
    table = NATTable(configuration)
    allocator = NATAllocator(configuration, addresses: externalAddresses, random: random)
  }

  // MARK: Packets

  /// Translates a packet from inside. One addressed to an external address of this NAT is hairpinned.
  ///
  /// - Parameter flags: the control bits of a TCP segment, which drive the session's timer.
  package mutating func translateOutbound(
    source: Endpoint, destination: Endpoint, protocol transport: TransportProtocol, flags: TCPFlags = [],
    at now: Instant
  ) -> NATVerdict {
    count(outbound(source: source, destination: destination, protocol: transport, flags: flags, at: now))
  }

  private mutating func count(_ verdict: NATVerdict) -> NATVerdict {
    if case .drop(let reason) = verdict { decisions.drops[reason, default: 0] += 1 }
    return verdict
  }

  private mutating func outbound(
    source: Endpoint, destination: Endpoint, protocol transport: TransportProtocol, flags: TCPFlags, at now: Instant
  ) -> NATVerdict {
    advance(to: now)
    guard !source.address.isIPv6, !destination.address.isIPv6 else {
      return .forward(source: source, destination: destination)
    }
    let isHairpin = externalAddresses.contains(destination.address)
    if isHairpin { decisions.hairpins += 1 }
    if isHairpin, configuration.hairpinning == .none { return .drop(.hairpin) }
    let session: Int32
    if let known = table.session(inside: NATFlowKey(transport, local: source, remote: destination)) {
      session = known
    } else {
      do { session = try open(source: source, destination: destination, transport, flags) } catch {
        return .drop(error)
      }
    }
    touch(session, .outbound, transport, flags)
    let external = table.externalEndpoint(of: session)
    guard isHairpin else { return .forward(source: external, destination: destination) }
    let inward = inbound(source: external, destination: destination, protocol: transport, flags: flags, at: now)
    guard configuration.hairpinning == .internalSource, case .forward(_, let receiver) = inward else { return inward }
    return .forward(source: source, destination: receiver)
  }

  /// Translates a packet that arrived for an external address of this NAT.
  package mutating func translateInbound(
    source: Endpoint, destination: Endpoint, protocol transport: TransportProtocol, flags: TCPFlags = [],
    at now: Instant
  ) -> NATVerdict {
    count(inbound(source: source, destination: destination, protocol: transport, flags: flags, at: now))
  }

  private mutating func inbound(
    source: Endpoint, destination: Endpoint, protocol transport: TransportProtocol, flags: TCPFlags, at now: Instant
  ) -> NATVerdict {
    advance(to: now)
    guard !source.address.isIPv6, !destination.address.isIPv6 else {
      return .forward(source: source, destination: destination)
    }
    let flow = NATFlowKey(transport, local: destination, remote: source)
    if let session = table.session(outside: flow) {
      if transport == .udp { decisions.inboundUDP += 1 }
      if transport == .tcp || configuration.inboundRefresh {
        touch(session, .inbound, transport, flags)
      } else {
        note(session, .inbound, transport, flags)
      }
      return .forward(source: source, destination: table.internalEndpoint(of: session))
    }
    guard let mapping = table.mapping(outside: flow, external: destination, transport) else {
      return .drop(table.isInUse(destination, transport) ? .filtered : .noMapping)
    }
    if table.hasPermission(mapping, for: source.address) {
      decisions.otherPorts += 1
    } else {
      decisions.strangers += 1
    }
    guard admits(mapping, source) else { return .drop(.filtered) }
    if transport == .udp { decisions.inboundUDP += 1 }
    // A packet that may not refresh leaves no state either; TCP needs a session to follow its phases.
    if transport == .tcp || configuration.inboundRefresh {
      let session = table.addSession(to: mapping, remote: source, at: self.now)
      touch(session, .inbound, transport, flags)
    }
    return .forward(source: source, destination: table.mapping(mapping).internal)
  }

  private func admits(_ mapping: Int32, _ source: Endpoint) -> Bool {
    switch configuration.filtering {
    case .endpointIndependent: true
    case .addressDependent: table.hasPermission(mapping, for: source.address)
    case .addressAndPortDependent: false
    }
  }

  private mutating func open(
    source: Endpoint, destination: Endpoint, _ transport: TransportProtocol, _ flags: TCPFlags
  ) throws(NATDropReason) -> Int32 {
    let key = configuration.mapping.relevant(destination)
    if let known = table.mapping(inside: NATFlowKey(transport, local: source, remote: key)) {
      decisions.openings += 1
      return table.addSession(to: known, remote: destination, at: now)
    }
    let beginsNothing = transport == .tcp && !flags.contains(.syn)
    if beginsNothing, !flags.contains(.rst) { decisions.midstreamSegments += 1 }
    let isOpening = !beginsNothing || configuration.adoptsMidstreamTCP
    let isRefused = !isOpening || flags.contains(.rst)
    // A host without mappings is refused under every behavior.
    if !isRefused || allocator.hasMappings(of: source.address) { decisions.openings += 1 }
    guard !isRefused else { throw .noMapping }
    NATTally.count(table.mappingCount, in: &decisions.totalDemands)
    if let limit = configuration.mappingLimit, table.mappingCount >= limit { throw .portsExhausted }
    defer { takeBlockEvents() }
    decisions.demands += 1
    if externalAddresses.count > 1 { decisions.pooledDemands += 1 }
    guard let external = allocator.allocate(for: source, remote: destination, transport, in: table) else {
      throw .portsExhausted
    }
    created &+= 1
    decisions.mappings += 1
    let shown = NATMapping(
      number: created, transport: transport, internal: source, external: external,
      remote: configuration.mapping == .endpointIndependent ? nil : key, created: now)
    events.append(.created(shown))
    return table.addSession(to: table.addMapping(shown), remote: destination, at: now)
  }

  /// Records a packet of the session and restarts its timer.
  private mutating func touch(
    _ session: Int32, _ direction: BorderDirection, _ transport: TransportProtocol, _ flags: TCPFlags
  ) {
    let timer = note(session, direction, transport, flags)
    decisions.timers[Int(timer.rawValue)] += 1
    let deadline = now + configuration.timers[timer]
    idle.place(session, on: timer, deadline: deadline)
    if soonestExpiry.map({ deadline < $0 }) ?? true { soonestExpiry = deadline }
  }

  @discardableResult
  private mutating func note(
    _ session: Int32, _ direction: BorderDirection, _ transport: TransportProtocol, _ flags: TCPFlags
  ) -> IdleTimer {
    table.record(session, direction, transport, flags, at: now)
  }

  // MARK: Time

  /// The time at which the next mapping or permission falls idle, or nil if there is none.
  package var nextExpiry: Instant? { idle.first.map { idle.deadline(of: $0) } }

  /// Removes idle mappings and permissions. Translation does so by itself; a driver calls it to see expiries in time.
  package mutating func advance(to instant: Instant) {
    now = max(now, instant)
    allocator.advance(to: now)
    takeBlockEvents()
    guard let soonest = soonestExpiry, soonest <= now else { return }
    while let session = idle.first, idle.deadline(of: session) <= now { close(session, .idle) }
    soonestExpiry = nextExpiry
  }

  private mutating func close(_ session: Int32, _ reason: NATRemoval) {
    idle.remove(session)
    guard let gone = table.removeSession(session) else { return }
    allocator.release(gone, at: now)
    events.append(.removed(gone, reason))
    takeBlockEvents()
  }

  private mutating func takeBlockEvents() {
    while let event = allocator.nextEvent() { events.append(event) }
  }

  // MARK: Faults

  /// Reboots: removes every mapping, and gives later ones other ports unless ports are preserved. A new list of
  /// addresses models a reconnect with new addresses.
  ///
  /// - Precondition: new addresses are IPv4, and there is at least one.
  package mutating func reset(externalAddresses addresses: [IPAddress]? = nil, at instant: Instant) {
    advance(to: instant)
    removeMappings(of: nil, .reset)
    defer { takeBlockEvents() }
    guard let addresses else { return allocator.forget() }
    precondition(!addresses.isEmpty && addresses.allSatisfy { !$0.isIPv6 }, "a NAT needs an external IPv4 address")
    externalAddresses = addresses
    allocator.forget(addresses: addresses)
  }

  /// Changes the behavior and keeps the state: mappings, sessions, allocated ports, addresses.
  ///
  /// The mapping behavior, the choice of ports and the quota apply to new mappings; filtering and hairpinning apply to
  /// the next packet. Timers count from each session's last packet, so a session that has been idle for longer than a
  /// shortened timer is removed now.
  ///
  /// - Precondition: port overloading is unchanged.
  package mutating func change(to new: NATConfiguration, at instant: Instant) {
    precondition(new.overloadsPorts == configuration.overloadsPorts, "port overloading cannot change under mappings")
    advance(to: instant)
    let old = configuration.timers
    configuration = new
    table.change(to: new)
    allocator.change(to: new)
    for timer in IdleTimer.allCases {
      decisions.timers[Int(timer.rawValue)] += idle.move(timer, by: new.timers[timer] - old[timer])
    }
    soonestExpiry = nextExpiry
    advance(to: instant)
  }

  /// Removes the mappings of one internal host, or all mappings.
  package mutating func removeMappings(of host: IPAddress? = nil, at instant: Instant) {
    advance(to: instant)
    removeMappings(of: host, .removed)
  }

  private mutating func removeMappings(of host: IPAddress?, _ reason: NATRemoval) {
    for session in table.liveSessions(of: host) { close(session, reason) }
    soonestExpiry = nextExpiry
  }

  /// Gives every live mapping a new external port and keeps its sessions: a violation of RFC 4787 REQ-11, which
  /// applications see as a changed address. A mapping keeps its port if no other port is free.
  ///
  /// - Returns: the number of mappings that moved.
  @discardableResult
  package mutating func remap(at instant: Instant) -> Int {
    advance(to: instant)
    var count = 0
    for mapping in table.liveMappings {
      let old = table.mapping(mapping)
      guard let external = allocator.reallocate(old, in: table) else { continue }
      table.move(mapping, to: external)
      allocator.release(port: old.external, old.transport, at: now)
      events.append(.remapped(table.mapping(mapping), previous: old.external))
      count += 1
    }
    table.rebuildOutside()
    return count
  }

  // MARK: Reading

  /// Live mappings in order of creation.
  package var mappings: [NATMapping] {
    table.liveMappings.map { table.mapping($0) }.sorted { $0.number < $1.number }
  }

  package var mappingCount: Int { table.mappingCount }
  /// The number of free ports of all outside addresses and both transports; nil if one port may serve any number of
  /// mappings.
  package var freePortCount: Int? { allocator.freePortCount }

  /// The numbers of refused packets so far, by reason.
  var drops: [NATDropReason: Int] { decisions.drops }

  /// The numbers of decisions of each behavior so far.
  package var tally: NATTally {
    var tally = decisions
    tally.chosenPorts = allocator.chosenCount
    tally.chosenBlocks = allocator.chosenBlockCount
    tally.freedPorts = allocator.freedCount
    tally.hostDemands = allocator.hostDemands
    return tally
  }

  /// The number of remote endpoints with live state, over all mappings.
  package var sessionCount: Int { table.sessionCount }

  /// Returns and removes the next change of the mappings, in order, or nil.
  package mutating func nextEvent() -> NATEvent? { events.popFirst() }
}
