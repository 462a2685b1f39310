internal import CallCore

/// The layer below the hosts: the clock, the event queue, and packets crossing wires and routers.
///
/// It calls no other code. It returns an arrived packet to the ``Simulator``, which alone calls hosts; so hosts may
/// send while they are being called.
struct Fabric: ~Copyable {
  private(set) var now = Instant.zero
  private var events = EventQueue()
  private var eventCount: UInt64 = 0
  private var packetCount: UInt64 = 0

  var packets: PacketTrace
  var pool = PacketPool()
  var flights = FlightTable()
  var wires = Table<Wire>()
  var networks = Table<Network>()
  var interfaces: [NetworkInterface] = []
  var tap: (any PacketTap)?
  var rules = PacketRules()
  var recordsChannels = false
  /// What was noted beside the states of links.
  var channelLog = ChannelLog()
  /// The rules of forged packets that are under way, by the packets' numbers.
  private var forgeries: [UInt64: PacketRuleID] = [:]

  let trace: Trace
  let natTrace: NATTrace

  init(trace: Trace) {
    self.trace = trace
    packets = PacketTrace(trace)
    natTrace = NATTrace(trace: trace)
  }

  // MARK: Events

  var nextEventTime: Instant? { events.first?.time }

  /// - Returns: the number that identifies the event for its receiver.
  @discardableResult
  mutating func schedule(_ kind: EventKind, _ index: UInt32, at time: Instant) -> UInt64 {
    eventCount &+= 1
    events.push(Event(time: max(time, now), number: eventCount, index: index, kind: kind))
    return eventCount
  }

  /// Returns and removes the next event if it is due by `limit`, and moves the clock to it.
  mutating func nextEvent(until limit: Instant) -> Event? {
    guard let first = events.first, first.time <= limit else { return nil }
    move(to: first.time)
    return events.pop()
  }

  mutating func move(to time: Instant) {
    now = max(now, time)
    trace.now = now
  }

  // MARK: Packets

  /// Puts a packet on the interface's wire, or back to the host itself.
  mutating func send(
    _ payload: RawSpan, _ header: PacketHeader, from sender: HostID, on interface: InterfaceID?, isLoopback: Bool,
    subject: TraceSubject
  ) {
    packetCount &+= 1
    guard let handle = pool.allocate(copying: payload) else {
      return refuse(payload.byteCount, header, from: sender, subject: subject)
    }
    let slot = launch(handle, payload.byteCount, header, from: sender, subject: subject)
    // A packet that a rule drops has left the host: it is lost at the first step.
    if !isLoopback, let interface { observe(slot, on: interface, .tx) }
    if header.transport == .udp, canLeave(on: interface, isLoopback), rules.drop(payload, from: sender, to: nil) {
      return drop(slot, .rule, by: subject)
    }
    if isLoopback {
      flights[slot].event = schedule(.loopback, slot, at: now)
    } else if let interface {
      carry(slot, over: interfaces[interface.index].link.direction(.tx))
    } else {
      drop(slot, .noRoute, by: subject)
    }
  }

  /// Puts a forged packet on the wire to an interface, after one that has arrived there.
  mutating func forge(after slot: UInt32, by rule: PacketRuleID, to host: HostID, on interface: InterfaceID) {
    let flight = flights[slot]
    let payload = PacketForgery.packet(after: pool.unsafeBytes(of: flight.handle).bytes)
    var header = flight.header
    header.source = PacketForgery.source(isIPv6: header.destination.address.isIPv6)
    packetCount &+= 1
    guard let handle = pool.allocate(copying: payload.span.bytes) else { return }
    forgeries[packetCount] = rule
    let forged = launch(handle, payload.count, header, from: host, subject: trace.subject("stranger"))
    carry(forged, over: interfaces[interface.index].link.direction(.rx))
  }

  /// Counts a forged packet that has reached a socket.
  mutating func noteForgery(_ flight: Flight) {
    guard !forgeries.isEmpty, let rule = forgeries.removeValue(forKey: flight.number) else { return }
    rules.forgeryArrived(of: rule)
  }

  /// Returns whether a packet reaches a wire that is up: rules apply only then.
  private func canLeave(on interface: InterfaceID?, _ isLoopback: Bool) -> Bool {
    isLoopback || interface.map { interfaces[$0.index].isUp } ?? false
  }

  /// Drops a datagram that is larger than any link's MTU, and so than a pool slot.
  private mutating func refuse(
    _ byteCount: Int, _ header: PacketHeader, from sender: HostID, subject: TraceSubject
  ) {
    let nothing = RawSpan()
    guard let handle = pool.allocate(copying: nothing) else { return }
    drop(launch(handle, byteCount, header, from: sender, subject: subject), .mtu, by: subject)
  }

  private mutating func launch(
    _ handle: PacketHandle, _ byteCount: Int, _ header: PacketHeader, from sender: HostID, subject: TraceSubject
  ) -> UInt32 {
    var flight = Flight(
      header: header, handle: handle, byteCount: UInt16(clamping: byteCount), sender: sender, number: packetCount,
      cause: .none)
    flight.cause = packets.sent(flight, by: subject)
    return flights.insert(flight)
  }

  /// Takes a packet off a wire and passes it on until it has to wait.
  ///
  /// - Returns: the interface at which it arrived, if that was its destination.
  mutating func arrive(_ event: Event) -> InterfaceID? {
    let slot = event.index
    guard flights[slot].event == event.number else { return nil }
    let wire = Int(flights[slot].wire)
    guard wires[wire].epoch == flights[slot].wireEpoch else {
      drop(slot, .linkDown, by: wires[wire].subject)
      return nil
    }
    wires[wire].arrived()
    switch wires[wire].end {
    case .interface(let interface): return interface
    case .network(let network):
      if networks[network.index].isolates(flights[slot].header.destination.address) {
        drop(slot, .isolated, by: networks[network.index].subject)
      } else {
        route(slot, on: network)
      }
    case .router(let network): enter(slot, network)
    }
    return nil
  }

  /// Returns whether the packet in the event's slot waits for this event.
  func isAwaited(_ event: Event) -> Bool { flights[event.index].event == event.number }

  /// Forwards a packet that is on the network: to a host, down to a child, or up to the parent.
  mutating func route(_ slot: UInt32, on network: NetworkID) {
    guard flights[slot].hopLimit > 0 else { return drop(slot, .noRoute, by: networks[network.index].subject) }
    flights[slot].hopLimit -= 1
    let destination = flights[slot].header.destination.address
    switch networks[network.index].owners[destination] {
    case .interface(let interface): return carry(slot, over: interfaces[interface.index].link.direction(.rx))
    case .router(let child): return descend(slot, to: child)
    case nil: break
    }
    if let child = networks[network.index].route(to: destination) { return descend(slot, to: child) }
    guard let uplink = networks[network.index].uplink, !networks[network.index].contains(destination) else {
      return drop(slot, .noRoute, by: networks[network.index].subject)
    }
    leave(slot, network, over: uplink)
  }

  private mutating func descend(_ slot: UInt32, to child: NetworkID) {
    guard let uplink = networks[child.index].uplink else { return }
    fitSegments(slot, over: uplink)
    carry(slot, over: uplink.direction(.rx))
  }

  // MARK: Wires

  /// Passes the packet to a wire: it is dropped, or scheduled to arrive at the other end.
  mutating func carry(_ slot: UInt32, over wire: Int) {
    let size = flights[slot].wireByteCount
    switch wires[wire].offer(size, at: now) {
    case .drop(let reason): drop(slot, reason, by: wires[wire].subject)
    case .carry(let carriage):
      // Copies the undamaged packet: each of the two may be damaged differently.
      let twin = carriage.copy == nil ? nil : duplicate(slot)
      if let damage = carriage.damage { corrupt(slot, damage, wires[wire].settings.corruption) }
      fly(slot, over: wire, wireByteCount: size, carriage)
      guard let twin, let copy = carriage.copy else { return }
      if let damage = copy.damage { corrupt(twin, damage, wires[wire].settings.corruption) }
      var schedule = carriage
      (schedule.delay, schedule.arrival) = (copy.delay, copy.arrival)
      fly(twin, over: wire, wireByteCount: 0, schedule)
    }
  }

  private mutating func fly(_ slot: UInt32, over wire: Int, wireByteCount: Int, _ carriage: Carriage) {
    flights[slot].wire = UInt32(wire)
    flights[slot].wireEpoch = wires[wire].epoch
    wires[wire].flies()
    flights[slot].event = schedule(.arrival, slot, at: carriage.arrival)
    wires[wire].enqueue(slot, wireByteCount: wireByteCount, carriage)
  }

  private mutating func duplicate(_ slot: UInt32) -> UInt32 {
    var twin = flights[slot]
    twin.isCopy = true
    pool.retain(twin.handle)
    return flights.insert(twin)
  }

  /// Flips one bit in a private copy of the payload.
  private mutating func corrupt(_ slot: UInt32, _ damage: UInt64, _ corruption: Corruption) {
    var bytes = pool.withBytes(of: flights[slot].handle) { $0.copied }
    flights[slot].failsChecksum = !corruption.isAfterChecksum || flights[slot].header.transport == .tcp
    guard !bytes.isEmpty else { return }
    let bit = Int(damage % UInt64(bytes.count * 8))
    bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    replace(slot, with: bytes)
  }

  /// Changes a wire's settings and reschedules the packets in its queue.
  mutating func change(wire: Int, to settings: LinkSettings) {
    guard wires[wire].change(to: settings, at: now) else { return }
    for transmission in wires[wire].queue.transmissions {
      flights[transmission.flight].event = schedule(.arrival, transmission.flight, at: transmission.arrival)
    }
  }

  /// Takes a wire up or down. Going down it drops its queue at once; packets in flight are dropped at their arrival
  /// time.
  mutating func setWire(_ wire: Int, isUp: Bool) {
    if !isUp {
      wires[wire].settle(at: now)
      for transmission in wires[wire].queue.transmissions {
        drop(transmission.flight, .linkDown, by: wires[wire].subject)
      }
    }
    wires[wire].setUp(isUp, at: now)
  }

  // MARK: Ends

  mutating func drop(_ slot: UInt32, _ reason: DropReason, by subject: TraceSubject) {
    packets.dropped(flights[slot], reason, by: subject)
    release(slot)
  }

  /// Replaces a packet's bytes; a copy of the packet keeps the old ones.
  mutating func replace(_ slot: UInt32, with bytes: [UInt8]) {
    guard let handle = pool.allocate(copying: bytes.span.bytes) else { return }
    pool.release(flights[slot].handle)
    flights[slot].handle = handle
  }

  /// Frees the packet and its bytes.
  mutating func release(_ slot: UInt32) {
    pool.release(flights[slot].handle)
    flights.remove(slot)
  }

  func observe(_ slot: UInt32, on interface: InterfaceID, _ direction: LinkDirection) {
    guard let tap else { return }
    pool.withBytes(of: flights[slot].handle) {
      tap.observed(
        $0, flights[slot].header, on: interface, direction, isDamaged: flights[slot].failsChecksum, at: now)
    }
  }
}
