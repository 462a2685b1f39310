package import CallCore
internal import STUN

/// One allocation on a TURN server (RFC 8656): a way of obtaining a socket with the server's address.
///
/// The server is reached by UDP or over a connection of its own. The driver opens that when the first message for
/// ``path`` comes out, feeds back whole messages (see ``TURNStreamFramer``), and says ``connectionLost(at:)``.
///
/// Data that arrives comes out as ``Event/data(from:_:)``, or without a copy through ``payload(of:on:at:)``.
package struct TURNClient: SansIO, ~Copyable {
  /// Fixed by RFC 8656 sections 9 and 12.
  static let permissionLifetime = Interval.minutes(5)
  static let channelLifetime = Interval.minutes(10)
  static let channelCoolDown = Interval.minutes(5)

  /// The largest payload that fits a datagram whatever way it goes.
  package static let maximumPayload = maximumDatagramSize - PeerIndication.overhead

  package let configuration: Configuration
  package internal(set) var state = State.idle
  package internal(set) var counters = Counters()
  package internal(set) var allocation: Allocation?

  /// Where datagrams are sent from; over a connection, the socket it belongs to.
  package internal(set) var localAddress: Endpoint
  var server: Endpoint
  /// The domain name that a server that was redirected to must prove to have, where the one before said another than its
  /// own (RFC 8489 section 10).
  package internal(set) var alternateDomain: String?
  /// The family that is asked for now.
  var family: RelayFamily
  var session: Session?
  /// Servers that said to ask another.
  var leftServers: [Endpoint] = []
  var isReleaseWanted = false

  var transactions: [Transaction] = []
  var permissions: [Permission] = []
  var channels: [Channel] = []
  var indications: [(peer: Endpoint, count: Int)] = []
  var queue: [Waiting] = []
  var expiresAt: Instant?
  var refreshAt: Instant?

  var random: RandomStream
  var outbox = DatagramOutbox()
  var events = FIFO<Event>()
  var clock = Instant.zero

  /// - Parameter local: the local address datagrams are sent from.
  package init(configuration: Configuration, local: Endpoint, random: consuming RandomStream) {
    self.configuration = configuration
    localAddress = local
    self.random = random
    server = configuration.server
    family = configuration.family
  }

  // MARK: Commands

  /// Asks for the allocation. Possible at first, and again after a failure, ``Event/newLocalAddressNeeded`` or
  /// ``Event/released``; everything an earlier allocation had is forgotten.
  ///
  /// - Parameter newLocal: another local address from now on.
  package mutating func allocate(from newLocal: Endpoint? = nil, at now: Instant) throws(Misuse) {
    guard state != .allocating, state != .allocated, state != .releasing else { throw .alreadyAllocated }
    if let newLocal, !Defect.mismatchRetriedFromSameAddress.isPlanted { localAddress = newLocal }
    server = configuration.server
    alternateDomain = nil
    family = configuration.family
    session = nil
    leftServers = []
    isReleaseWanted = false
    forget()
    state = .allocating
    begin(.allocate, at: tick(now))
  }

  /// Lets a peer's address through. Doing it again is harmless.
  ///
  /// - Parameter isKept: whether the address is let through until ``removePermission(for:)``, and asked for again where
  ///   asking failed. Otherwise it is as if ``send(_:to:bindsChannel:at:)`` had asked: let through for as long as
  ///   something is sent there (``Configuration/unusedPermissionLifetime``), and where asking failed no more is asked.
  /// - Throws: ``Misuse/permissionRefused(_:)`` where the server said no, or nothing, before, and it is not to be kept.
  package mutating func createPermission(
    for address: IPAddress, isKept: Bool = true, at now: Instant
  ) throws(Misuse) {
    try checkPeer(address)
    let now = tick(now)
    if let index = permissions.firstIndex(where: { $0.address == address }) {
      if isKept { permissions[index].lastUsedAt = nil }
      guard let failure = permissions[index].failure else { return }
      guard isKept else { throw .permissionRefused(failure) }
      permissions.remove(at: index)
    }
    permissions.append(Permission(address: address, lastUsedAt: isKept ? nil : now))
    begin(.createPermission(address), at: now)
  }

  /// Stops renewing the permission and the channels of an address; the server forgets them in its own time.
  package mutating func removePermission(for address: IPAddress) {
    permissions.removeAll { $0.address == address }
    if Defect.channelReboundInCoolDown.isPlanted { channels.removeAll { $0.peer.address == address } }
    for index in channels.indices where channels[index].peer.address == address { channels[index].refreshAt = nil }
    transactions.removeAll { transaction in
      switch transaction.purpose {
      case .createPermission(address): true
      case .channelBind(let peer, _): peer.address == address
      default: false
      }
    }
    dropQueue { $0.address == address }
  }

  /// Binds a channel to a peer at once, instead of waiting for traffic. Doing it again is harmless.
  package mutating func bindChannel(to peer: Endpoint, at now: Instant) throws(Misuse) {
    try checkPeer(peer.address)
    bind(peer, at: tick(now))
  }

  /// Sends a payload to a peer; it waits, in a bounded queue, for a permission that is asked for when there is none.
  ///
  /// - Parameter bindsChannel: whether the payload counts towards ``Configuration/indicationsBeforeChannel``. libwebrtc
  ///   binds no channel for connectivity checks.
  /// - Throws: ``Misuse/permissionRefused(_:)`` where the server said no, or nothing, before.
  package mutating func send(
    _ payload: RawSpan, to peer: Endpoint, bindsChannel: Bool = true, at now: Instant
  ) throws(Misuse) {
    try checkPeer(peer.address)
    guard payload.byteCount <= Self.maximumPayload else { throw .payloadTooLarge }
    let now = tick(now)
    guard let index = permissions.firstIndex(where: { $0.address == peer.address }) else {
      enqueue(Waiting(peer: peer, payload: payload.copied, bindsChannel: bindsChannel))
      permissions.append(Permission(address: peer.address, lastUsedAt: now))
      return begin(.createPermission(peer.address), at: now)
    }
    if permissions[index].lastUsedAt != nil { permissions[index].lastUsedAt = now }
    if permissions[index].isGranted(at: now) {
      return forward(payload, to: peer, bindsChannel: bindsChannel, at: now)
    }
    if let failure = permissions[index].failure {
      counters.droppedPayloads += 1
      throw .permissionRefused(failure)
    }
    enqueue(Waiting(peer: peer, payload: payload.copied, bindsChannel: bindsChannel))
  }

  /// Renews the allocation, its permissions and its channels now instead of when they are due: for when the server may
  /// have forgotten them. What it refused may be asked for again. If it has forgotten the allocation, ``Event/failed(_:)`` follows.
  package mutating func renew(at now: Instant) {
    let now = tick(now)
    guard state == .allocated else { return }
    permissions.removeAll { $0.failure != nil }
    if refreshAt != nil { refreshAt = now }
    for index in permissions.indices where permissions[index].refreshAt != nil { permissions[index].refreshAt = now }
    for index in channels.indices where channels[index].refreshAt != nil { channels[index].refreshAt = now }
    advance(to: now)
  }

  /// Whether the server has yet to say that it still knows the allocation.
  package var isRefreshing: Bool { state == .allocated && refreshAt == nil }

  /// Whether a message has the transaction identifier of a request whose answer is still to come.
  package func isAwaiting(_ message: RawSpan) -> Bool {
    guard isSTUN(message), let high = message.bigEndian(UInt32.self, at: 8),
      let low = message.bigEndian(UInt64.self, at: 12)
    else { return false }
    let id = STUNTransactionID(high: high, low: low)
    return transactions.contains { $0.id == id }
  }

  /// Whether messages are under way on ``path``, or may be: a connection there is needed.
  package var isActive: Bool {
    switch state {
    case .allocating, .allocated, .releasing: true
    case .idle, .released, .failed: false
    }
  }

  /// Gives the allocation back (a Refresh with lifetime zero). ``Event/released`` follows, at the latest when the
  /// server does not answer.
  package mutating func release(at now: Instant) {
    switch state {
    // Without a challenge answered there is nothing on the server to give back.
    case .allocating where session == nil: finishRelease()
    case .allocating: isReleaseWanted = true
    case .allocated:
      forget(keepingAllocation: true)
      state = .releasing
      begin(.refresh(seconds: 0), at: tick(now))
    case .idle, .failed:
      state = .released
      events.append(.released)
    case .releasing, .released: break
    }
  }

  /// The connection that carried the allocation is gone, and the allocation with it (RFC 8656 section 3.1).
  ///
  /// - Parameter reason: for people, where it is known; such as what TLS did not like.
  package mutating func connectionLost(reason: String? = nil, at now: Instant) {
    _ = tick(now)
    guard configuration.transport != .udp else { return }
    outbox.removeAll()
    switch state {
    case .allocating, .allocated: fail(.connectionLost(reason: reason))
    case .releasing: finishRelease()
    case .idle, .released, .failed: break
    }
  }

  // MARK: SansIO

  package mutating func receive(_ datagram: RawSpan, on path: Path, at now: Instant) {
    let now = tick(now)
    guard path.unmarked == self.path else {
      counters.unexpected += 1
      return
    }
    if Self.carriesData(datagram) {
      guard let (peer, range) = payload(of: datagram, on: path, at: now),
        let bytes = datagram.bytes(in: range)
      else { return }
      events.append(.data(from: peer, bytes))
      return
    }
    do throws(STUNMalformation) {
      handle(try STUNMessage(parsing: datagram), at: now)
    } catch {
      counters.malformed += 1
    }
  }

  /// Whether a server has framed a peer's payload in `datagram`.
  package static func carriesData(_ datagram: RawSpan) -> Bool {
    isChannelData(datagram) || PeerIndication.method(of: datagram) == .data
  }

  /// Where in `datagram` a peer's payload lies, or nil when it carries none: then it is for ``receive(_:on:at:)``.
  ///
  /// This is the way for media: nothing is copied and nothing allocated.
  package mutating func payload(
    of datagram: RawSpan, on path: Path, at now: Instant
  ) -> (peer: Endpoint, range: Range<Int>)? {
    _ = tick(now)
    guard path.unmarked == self.path, state == .allocated else { return nil }
    if let (number, range) = ChannelData.parse(datagram) {
      // Whether the answer to our ChannelBind has arrived does not matter: the server binds before it answers.
      guard let channel = channels.first(where: { $0.number == number }) else {
        counters.unexpected += 1
        return nil
      }
      counters.channelDataReceived += 1
      return (channel.peer, range)
    }
    guard PeerIndication.method(of: datagram) == .data else { return nil }
    guard let (peer, range) = PeerIndication.parse(datagram) else {
      counters.malformed += 1
      return nil
    }
    guard permissions.contains(where: { $0.address == peer.address }) else {
      counters.unexpected += 1
      return nil
    }
    counters.indicationsReceived += 1
    return (peer, range)
  }

  package mutating func advance(to now: Instant) {
    let now = tick(now)
    retransmit(at: now)
    guard state == .allocated else { return }
    if let expiresAt, now >= expiresAt { return fail(.expired) }
    if let refreshAt, now >= refreshAt {
      self.refreshAt = nil
      begin(.refresh(seconds: nil), at: now)
    }
    forgetUnused(at: now)
    for index in permissions.indices {
      guard let refreshAt = permissions[index].refreshAt, now >= refreshAt else { continue }
      permissions[index].refreshAt = nil
      begin(.createPermission(permissions[index].address), at: now)
    }
    for index in channels.indices {
      guard let refreshAt = channels[index].refreshAt, now >= refreshAt else { continue }
      channels[index].refreshAt = nil
      begin(.channelBind(channels[index].peer, number: channels[index].number), at: now)
    }
  }

  package mutating func transmit(into buffer: inout OutputSpan<UInt8>) -> Path? { outbox.transmit(into: &buffer) }

  package mutating func nextEvent() -> Event? { events.popFirst() }

  /// Reasons: 1 a request's retransmission, 2 the allocation, 3 a permission, 4 a channel.
  package var wake: Wake {
    var earliest = Wake.never
    for transaction in transactions { earliest = .earliest(earliest, .at(transaction.timer.deadline, reason: 1)) }
    guard state == .allocated else { return earliest }
    for instant in [refreshAt, expiresAt] {
      if let instant { earliest = .earliest(earliest, .at(instant, reason: 2)) }
    }
    for permission in permissions {
      if let instant = permission.refreshAt { earliest = .earliest(earliest, .at(instant, reason: 3)) }
    }
    for channel in channels {
      if let instant = channel.refreshAt { earliest = .earliest(earliest, .at(instant, reason: 4)) }
    }
    return earliest
  }

  // MARK: Helpers

  /// The path to the server that is asked now: another than the configured one after a redirection.
  package var path: Path { Path(local: localAddress, remote: server, transport: configuration.transport) }

  /// The current instant; time never goes backwards.
  mutating func tick(_ now: Instant) -> Instant {
    clock = max(clock, now)
    return clock
  }

  private func checkPeer(_ address: IPAddress) throws(Misuse) {
    guard state == .allocated, let allocation else { throw .notAllocated }
    guard allocation.relayed(towards: address) != nil else { throw .familyMismatch }
  }

  /// Drops everything that hangs on an allocation, and the allocation itself unless it is kept.
  mutating func forget(keepingAllocation: Bool = false) {
    transactions.removeAll()
    permissions.removeAll()
    channels.removeAll()
    indications.removeAll()
    dropQueue { _ in true }
    refreshAt = nil
    expiresAt = nil
    if !keepingAllocation { allocation = nil }
  }

  mutating func fail(_ failure: Failure) {
    forget()
    state = isReleaseWanted ? .released : .failed
    events.append(isReleaseWanted ? .released : .failed(failure))
  }
}
