package import CallCore
package import STUN

/// A TURN server (RFC 8656), which also responds to Binding requests. Clients use UDP or connections, which the driver
/// accepts, frames (see ``TURNStreamFramer``) and reports as ended with ``streamClosed(_:at:)``; relays are UDP.
///
/// Datagrams of clients and datagrams that arrive at relayed addresses both enter through ``receive(_:on:at:)``: the
/// path's local address distinguishes them.
package struct TURNServer: SansIO, ~Copyable {
  package internal(set) var configuration: Configuration
  package internal(set) var counters = Counters()

  /// Whether every request is refused with 401, with any credentials.
  package var deniesCredentials = false

  /// The allocations. A slot keeps its index as long as its allocation lives.
  var slots: [ServerAllocation?] = []
  private var freeSlots: [Int] = []
  var byClient: [FiveTuple: Int] = [:]
  var byRelay: [Endpoint: Int] = [:]
  /// Allocate requests that wait until the relay's sockets are open, by slot.
  var opening: [Int: Opening] = [:]
  var allocationsOfAccount: [String: Int] = [:]
  var expiries = ExpiryQueue()
  /// The server's own endpoints: no relay has one as its address or sends to one.
  var served: Set<Endpoint> = []

  var ports: RelayPorts
  var nonces: NonceIssuer
  var binding: STUNBindingServer
  var rejections: [(method: STUNMethod, error: STUNError)] = []
  var faults: [(method: STUNMethod, error: STUNError, alternate: Endpoint?)] = []

  var random: RandomStream
  var outbox = DatagramOutbox()
  var events = FIFO<Event>()
  var clock = Instant.zero

  package init(configuration: Configuration, random: consuming RandomStream) {
    self.configuration = configuration
    ports = RelayPorts(configuration.relayPorts)
    nonces = NonceIssuer(secret: random.bytes(20), lifetime: configuration.nonceLifetime)
    binding = STUNBindingServer(
      software: configuration.software, behaviorDiscovery: configuration.behaviorDiscovery)
    self.random = random
  }

  /// Reserves an endpoint for clients: no relay has it as its address or sends to it, because the responses would seem
  /// to come from the server's own network.
  package mutating func withhold(_ endpoint: Endpoint) {
    ports.withhold(endpoint)
    served.insert(endpoint)
    for relay in configuration.relays where relay.address == endpoint.address {
      served.insert(Endpoint(relay.advertised, port: endpoint.port))
    }
  }

  /// The number of allocations.
  package var allocationCount: Int { byClient.count }

  // MARK: Faults

  /// Refuses the next `count` authenticated requests of a method with `error`; 300 names `alternate`.
  package mutating func rejectNext(
    _ method: STUNMethod, with error: STUNError, count: Int = 1, alternate: Endpoint? = nil
  ) {
    for _ in 0..<max(0, count) { faults.append((method, error, alternate)) }
  }

  /// Refuses every authenticated request of a method with `error` from now on; nil ends it.
  package mutating func setRejection(_ error: STUNError?, of method: STUNMethod) {
    rejections.removeAll { $0.method == method }
    if let error { rejections.append((method, error)) }
  }

  /// Ends every permission immediately, as if the clients had not refreshed it.
  package mutating func expirePermissions() {
    for index in slots.indices { slots[index]?.withdrawPermissions() }
  }

  /// Ends every channel binding immediately, as if the clients had not refreshed it.
  package mutating func expireChannels() {
    for index in slots.indices { slots[index]?.withdrawChannels() }
  }

  /// The permissions and the channel bindings of all allocations.
  package var grantCounts: (permissions: Int, channels: Int) {
    slots.indices.reduce(into: (0, 0)) { counts, index in
      counts.0 += slots[index]?.permissions.count ?? 0
      counts.1 += slots[index]?.channels.count ?? 0
    }
  }

  /// Makes all issued nonces stale.
  package mutating func expireNonces() { nonces.invalidateAll() }

  /// Forgets all allocations, reservations and nonces, as a crash does, without a message to the clients.
  package mutating func restart(at now: Instant) {
    _ = tick(now)
    for index in slots.indices where slots[index] != nil { end(index, .restarted) }
    slots.removeAll()
    freeSlots.removeAll()
    expiries.removeAll()
    ports.removeAll()
    outbox.removeAll()
    nonces = NonceIssuer(secret: random.bytes(20), lifetime: configuration.nonceLifetime)
  }

  /// Ends a client's connection and its allocation (RFC 8656 section 3.1).
  ///
  /// - Parameter isMalformed: whether the driver closed it because of malformed data.
  package mutating func streamClosed(_ path: Path, isMalformed: Bool = false, at now: Instant) {
    _ = tick(now)
    if isMalformed { counters.malformed += 1 }
    if path.transport != .udp, let index = byClient[FiveTuple(path)] { end(index, .disconnected) }
  }

  /// Returns whether a client has an allocation on `path`.
  package func hasAllocation(on path: Path) -> Bool { byClient[FiveTuple(path)] != nil }

  /// Changes the accepted credentials; existing allocations remain.
  package mutating func setCredentials(_ credentials: TURNCredentialStore) { configuration.credentials = credentials }

  // MARK: SansIO

  package mutating func receive(_ datagram: RawSpan, on path: Path, at now: Instant) {
    let now = tick(now)
    expire(at: now)
    if path.transport == .udp, let index = byRelay[path.local] {
      relayToClient(datagram, from: path.remote, index, at: now)
    } else if let (channel, range) = ChannelData.parse(datagram) {
      relayToPeer(datagram.extracting(range), channel: channel, on: path, at: now)
    } else if PeerIndication.method(of: datagram) == .send {
      relayToPeer(indication: datagram, on: path, at: now)
    } else {
      receiveMessage(datagram, on: path, at: now)
    }
  }

  private mutating func receiveMessage(_ datagram: RawSpan, on path: Path, at now: Instant) {
    let message: STUNMessage
    do throws(STUNMalformation) {
      message = try STUNMessage(parsing: datagram)
    } catch {
      if error != .noMagicCookie || !binding.receiveClassic(datagram, on: path) { counters.malformed += 1 }
      return
    }
    if message.method == .binding {
      binding.receive(datagram, on: path, at: now)
    } else if message.messageClass == .request {
      counters.requests += 1
      handle(message, on: path, at: now)
    }
  }

  package mutating func advance(to now: Instant) { expire(at: tick(now)) }

  package mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? {
    outbox.transmit(into: &buffer) ?? binding.transmit(into: &buffer)
  }

  package mutating func nextEvent() -> Event? { events.popFirst() }

  /// The next deadline. Reason 1: an allocation expires.
  package var wake: Wake { expiries.first.map { .at($0.time, reason: 1) } ?? .never }

  // MARK: Allocations

  /// Advances the clock, which never goes backwards, and returns its time.
  mutating func tick(_ now: Instant) -> Instant {
    clock = max(clock, now)
    return clock
  }

  private mutating func expire(at now: Instant) {
    guard let first = expiries.first, now >= first.time else { return }
    while let next = expiries.first, now >= next.time { end(next.slot, .expired) }
    ports.expire(at: now)
  }

  /// Adds an allocation.
  ///
  /// - Returns: its slot.
  mutating func insert(_ allocation: ServerAllocation) -> Int {
    let index = freeSlots.popLast() ?? slots.count
    if index == slots.count { slots.append(nil) }
    slots[index] = allocation
    byClient[allocation.tuple] = index
    allocationsOfAccount[allocation.requester.account, default: 0] += 1
    expiries.set(allocation.expiresAt, for: index)
    for relay in allocation.relays {
      byRelay[relay] = index
      events.append(.openRelay(relay, client: allocation.tuple.client, username: allocation.requester.username))
    }
    return index
  }

  mutating func end(_ index: Int, _ reason: EndReason) {
    guard let allocation = slots[index] else { return }
    slots[index] = nil
    freeSlots.append(index)
    byClient[allocation.tuple] = nil
    opening[index] = nil
    let account = allocation.requester.account
    allocationsOfAccount[account] = allocationsOfAccount[account].flatMap { $0 > 1 ? $0 - 1 : nil }
    expiries.remove(index)
    for relay in allocation.relays { close(relay, of: allocation, reason) }
  }

  /// Closes one of an allocation's relays.
  mutating func close(_ relay: Endpoint, of allocation: ServerAllocation, _ reason: EndReason) {
    byRelay[relay] = nil
    ports.release(relay)
    events.append(.closeRelay(relay, client: allocation.tuple.client, reason: reason))
  }
}
