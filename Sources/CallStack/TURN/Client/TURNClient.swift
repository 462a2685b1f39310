package import CallCore
internal import STUN

/// The client of one allocation on a TURN server (RFC 8656), which provides a socket with the server's address.
///
/// The client reaches the server over UDP or over a connection of its own. The driver opens the connection when the
/// first message for ``path`` comes out, passes whole received messages back (see ``TURNStreamFramer``), and calls
/// ``connectionLost(at:)``.
///
/// Received data comes out as ``Event/data(from:_:)``, or without a copy through ``payload(of:on:at:)``.
package struct TURNClient: SansIO, ~Copyable {
  /// The lifetimes that RFC 8656 sections 9 and 12 fix.
  static let permissionLifetime = Interval.minutes(5)
  static let channelLifetime = Interval.minutes(10)
  static let channelCoolDown = Interval.minutes(5)

  /// The largest payload that fits a datagram with every kind of TURN header.
  package static let maximumPayload = maximumDatagramSize - PeerIndication.overhead

  package let configuration: Configuration
  package internal(set) var state = State.idle
  package internal(set) var counters = Counters()
  package internal(set) var allocation: Allocation?

  /// The source address of datagrams; over a connection, the address of its socket.
  package internal(set) var localAddress: Endpoint
  var server: Endpoint
  /// The domain name that the certificate of an alternate server must have, if the redirecting server named one
  /// (RFC 8489 section 10).
  package internal(set) var alternateDomain: String?
  /// The address family of the current request.
  var family: RelayFamily
  var session: Session?
  /// Servers that redirected the client.
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

  /// Creates a client.
  ///
  /// - Parameter local: the source address of its datagrams.
  package init(configuration: Configuration, local: Endpoint, random: consuming RandomStream) {
    self.configuration = configuration
    localAddress = local
    self.random = random
    server = configuration.server
    family = configuration.family
  }

  // MARK: Commands

  /// Requests the allocation. This is possible at first, and again after a failure, ``Event/newLocalAddressNeeded`` or
  /// ``Event/released``; the state of an earlier allocation is forgotten.
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

  /// Requests the permission for a peer's address. A repeated call has no effect.
  ///
  /// - Parameter isKept: whether the permission is kept until ``removePermission(for:)``, and requested again after a
  ///   failure. Otherwise it is used like one that ``send(_:to:bindsChannel:at:)`` requests: kept as long as data is
  ///   sent there (``Configuration/unusedPermissionLifetime``), and not requested again after a failure.
  /// - Throws: ``Misuse/permissionRefused(_:)`` if the server refused it before or did not respond, and it is not to be
  ///   kept.
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

  /// Stops renewing the permission and the channels of an address; they expire on the server.
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

  /// Binds a channel to a peer immediately, instead of after traffic. A repeated call has no effect.
  package mutating func bindChannel(to peer: Endpoint, at now: Instant) throws(Misuse) {
    try checkPeer(peer.address)
    bind(peer, at: tick(now))
  }

  /// Sends a payload to a peer. Without a permission the client requests one, and the payload waits in a bounded queue.
  ///
  /// - Parameter bindsChannel: whether the payload counts towards ``Configuration/indicationsBeforeChannel``. libwebrtc
  ///   does not bind channels for connectivity checks.
  /// - Throws: ``Misuse/permissionRefused(_:)`` if the server refused the permission before or did not respond.
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

  /// Renews the allocation, its permissions and its channels before they are due, when the server may have forgotten
  /// them. Refused permissions may be requested again. If the server has forgotten the allocation, ``Event/failed(_:)``
  /// follows.
  package mutating func renew(at now: Instant) {
    let now = tick(now)
    guard state == .allocated else { return }
    permissions.removeAll { $0.failure != nil }
    if refreshAt != nil { refreshAt = now }
    for index in permissions.indices where permissions[index].refreshAt != nil { permissions[index].refreshAt = now }
    for index in channels.indices where channels[index].refreshAt != nil { channels[index].refreshAt = now }
    advance(to: now)
  }

  /// Whether a Refresh of the allocation is pending.
  package var isRefreshing: Bool { state == .allocated && refreshAt == nil }

  /// Returns whether a message has the transaction ID of a pending request.
  package func isAwaiting(_ message: RawSpan) -> Bool {
    guard isSTUN(message), let high = message.bigEndian(UInt32.self, at: 8),
      let low = message.bigEndian(UInt64.self, at: 12)
    else { return false }
    let id = STUNTransactionID(high: high, low: low)
    return transactions.contains { $0.id == id }
  }

  /// Whether messages may be in transit on ``path``, so that a connection there is needed.
  package var isActive: Bool {
    switch state {
    case .allocating, .allocated, .releasing: true
    case .idle, .released, .failed: false
    }
  }

  /// Releases the allocation (a Refresh with lifetime zero). ``Event/released`` follows, at the latest after a timeout.
  package mutating func release(at now: Instant) {
    switch state {
    // Without an authenticated request the server has no allocation to release.
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

  /// Reports the end of the connection, which ends the allocation (RFC 8656 section 3.1).
  ///
  /// - Parameter reason: a readable reason if known, such as a TLS failure.
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

  /// Returns whether `datagram` carries a peer's payload.
  package static func carriesData(_ datagram: RawSpan) -> Bool {
    isChannelData(datagram) || PeerIndication.method(of: datagram) == .data
  }

  /// Returns the range of a peer's payload in `datagram`, or nil if it has none: then pass it to ``receive(_:on:at:)``.
  ///
  /// Use it for media: it neither copies nor allocates.
  package mutating func payload(
    of datagram: RawSpan, on path: Path, at now: Instant
  ) -> (peer: Endpoint, range: Range<Int>)? {
    _ = tick(now)
    guard path.unmarked == self.path, state == .allocated else { return nil }
    if let (number, range) = ChannelData.parse(datagram) {
      // The response to our ChannelBind may arrive later: the server binds before it responds.
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

  /// The next deadline. Reasons: 1 a request's retransmission, 2 the allocation, 3 a permission, 4 a channel.
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

  /// The path to the current server: after a redirection not the configured one.
  package var path: Path { Path(local: localAddress, remote: server, transport: configuration.transport) }

  /// Advances the clock, which never goes backwards, and returns its time.
  mutating func tick(_ now: Instant) -> Instant {
    clock = max(clock, now)
    return clock
  }

  private func checkPeer(_ address: IPAddress) throws(Misuse) {
    guard state == .allocated, let allocation else { throw .notAllocated }
    guard allocation.relayed(towards: address) != nil else { throw .familyMismatch }
  }

  /// Drops the state of an allocation, and the allocation itself unless it is kept.
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
