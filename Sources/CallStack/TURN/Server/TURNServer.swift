public import CallCore
public import STUN

/// A TURN server (RFC 8656), which also answers Binding requests. Clients come by UDP or over connections, which the
/// driver accepts, frames (see ``TURNStreamFramer``) and reports gone with ``streamClosed(_:at:)``; relays are UDP.
///
/// Clients' datagrams and those arriving at relayed addresses both come in through ``receive(_:on:at:)``: the path's
/// local address tells them apart.
public struct TURNServer: SansIO, ~Copyable {
  public internal(set) var configuration: Configuration
  public internal(set) var counters = Counters()

  /// While true every request is refused with 401, whatever its credentials.
  public var deniesCredentials = false

  /// Slots keep their place for as long as their allocation lives, so that sweeping them has a fixed order.
  var slots: [ServerAllocation?] = []
  var byClient: [FiveTuple: Int] = [:]
  var byRelay: [Endpoint: Int] = [:]
  /// Allocate requests that wait for their relay's socket, and how many ports have been tried for each.
  var opening: [Endpoint: (request: Request, attempt: Int)] = [:]
  var allocationsOfAccount: [String: Int] = [:]
  var nextExpiry: Instant?

  var ports: RelayPorts
  var nonces: NonceIssuer
  var binding: STUNBindingServer
  var rejections: [(method: STUNMethod, error: STUNError)] = []
  var faults: [(method: STUNMethod, error: STUNError, alternate: Endpoint?)] = []

  var random: RandomStream
  var outbox = DatagramOutbox()
  var events = FIFO<Event>()
  var clock = Instant.zero

  public init(configuration: Configuration, random: consuming RandomStream) {
    self.configuration = configuration
    ports = RelayPorts(configuration.relayPorts)
    nonces = NonceIssuer(secret: random.bytes(20), lifetime: configuration.nonceLifetime)
    binding = STUNBindingServer(
      software: configuration.software, behaviorDiscovery: configuration.behaviorDiscovery)
    self.random = random
  }

  /// Clients come to `endpoint`: no relay can be there.
  public mutating func withhold(_ endpoint: Endpoint) { ports.withhold(endpoint) }

  /// How many allocations there are.
  public var allocationCount: Int { byClient.count }

  // MARK: Faults

  /// Refuses the next `count` authenticated requests of a method with `error`; 300 names `alternate`.
  public mutating func rejectNext(
    _ method: STUNMethod, with error: STUNError, count: Int = 1, alternate: Endpoint? = nil
  ) {
    for _ in 0..<max(0, count) { faults.append((method, error, alternate)) }
  }

  /// Refuses every authenticated request of a method with `error` from now on; nil ends it.
  public mutating func setRejection(_ error: STUNError?, of method: STUNMethod) {
    rejections.removeAll { $0.method == method }
    if let error { rejections.append((method, error)) }
  }

  /// Ends every permission at once, as if nobody had refreshed them.
  public mutating func expirePermissions() {
    for index in slots.indices { slots[index]?.permissions.removeAll() }
  }

  /// Ends every channel binding at once, as if nobody had refreshed them.
  public mutating func expireChannels() {
    for index in slots.indices { slots[index]?.channels.removeAll() }
  }

  /// Makes every nonce handed out so far stale.
  public mutating func expireNonces() { nonces.invalidateAll() }

  /// Forgets everything, as a crash does: allocations, reservations, nonces. Clients are not told.
  public mutating func restart(at now: Instant) {
    _ = tick(now)
    for index in slots.indices where slots[index] != nil { end(index, .restarted) }
    slots.removeAll()
    ports.removeAll()
    outbox.removeAll()
    nonces = NonceIssuer(secret: random.bytes(20), lifetime: configuration.nonceLifetime)
  }

  /// A client's connection is gone, and its allocation with it (RFC 8656 section 3.1).
  ///
  /// - Parameter isMalformed: whether the driver ended it because what arrived made no sense.
  public mutating func streamClosed(_ path: Path, isMalformed: Bool = false, at now: Instant) {
    _ = tick(now)
    if isMalformed { counters.malformed += 1 }
    if path.transport != .udp, let index = byClient[FiveTuple(path)] { end(index, .disconnected) }
  }

  /// Whether a client has an allocation by way of `path`.
  public func hasAllocation(on path: Path) -> Bool { byClient[FiveTuple(path)] != nil }

  /// Changes who may come in; allocations stay as they are.
  public mutating func setCredentials(_ credentials: TURNCredentialStore) { configuration.credentials = credentials }

  // MARK: SansIO

  public mutating func receive(_ datagram: RawSpan, on path: Path, at now: Instant) {
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
      counters.malformed += 1
      return
    }
    if message.method == .binding {
      binding.receive(datagram, on: path, at: now)
    } else if message.messageClass == .request {
      counters.requests += 1
      handle(message, on: path, at: now)
    }
  }

  public mutating func advance(to now: Instant) { expire(at: tick(now)) }

  public mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? {
    outbox.transmit(into: &buffer) ?? binding.transmit(into: &buffer)
  }

  public mutating func nextEvent() -> Event? { events.popFirst() }

  /// Reason 1: an allocation expires.
  public var wake: Wake { nextExpiry.map { .at($0, reason: 1) } ?? .never }

  // MARK: Allocations

  /// The current instant; time never goes backwards.
  mutating func tick(_ now: Instant) -> Instant {
    clock = max(clock, now)
    return clock
  }

  private mutating func expire(at now: Instant) {
    guard let nextExpiry, now >= nextExpiry else { return }
    for index in slots.indices {
      if let allocation = slots[index], now >= allocation.expiresAt { end(index, .expired) }
    }
    ports.expire(at: now)
    updateExpiry()
  }

  mutating func insert(_ allocation: ServerAllocation) {
    let index = slots.firstIndex { $0 == nil } ?? slots.count
    if index == slots.count { slots.append(nil) }
    slots[index] = allocation
    byClient[allocation.tuple] = index
    byRelay[allocation.relay] = index
    allocationsOfAccount[allocation.requester.account, default: 0] += 1
    updateExpiry()
    events.append(
      .openRelay(allocation.relay, client: allocation.tuple.client, username: allocation.requester.username))
  }

  mutating func end(_ index: Int, _ reason: EndReason) {
    guard let allocation = slots[index] else { return }
    slots[index] = nil
    byClient[allocation.tuple] = nil
    byRelay[allocation.relay] = nil
    opening[allocation.relay] = nil
    let account = allocation.requester.account
    allocationsOfAccount[account] = allocationsOfAccount[account].flatMap { $0 > 1 ? $0 - 1 : nil }
    ports.release(allocation.relay)
    updateExpiry()
    events.append(.closeRelay(allocation.relay, client: allocation.tuple.client, reason: reason))
  }

  mutating func updateExpiry() {
    nextExpiry = nil
    for case let allocation? in slots { nextExpiry = min(nextExpiry ?? allocation.expiresAt, allocation.expiresAt) }
  }
}
