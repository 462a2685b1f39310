package import CallCore
internal import STUN

/// The four request methods of TURN (RFC 8656 sections 7 to 12).
extension TURNServer {
  /// An authenticated request.
  struct Request {
    let message: STUNMessage
    let path: Path
    let requester: Requester
    let now: Instant

    var tuple: FiveTuple { FiveTuple(path) }
  }

  /// An Allocate request while its relay's sockets are being opened.
  struct Opening {
    let request: Request
    /// The number of ports tried so far.
    let attempt: Int
    var waitsFor: [Endpoint]
  }

  mutating func handle(_ message: STUNMessage, on path: Path, at now: Instant) {
    if message.method == .allocate, let index = byClient[FiveTuple(path)], let known = slots[index],
      known.transactionID == message.transactionID, !Defect.repeatedAllocateRefused.isPlanted
    {
      counters.replays += 1
      // While the relay is being opened, the first request has no response either.
      if opening[index] == nil { outbox.append(known.response, on: known.tuple.path) }
      return
    }
    switch authenticate(message, on: path, at: now) {
    case .challenged(let error): challenge(message, with: error, on: path, at: now)
    case .malformed: reject(message, with: .badRequest, key: nil, on: path)
    case .accepted(let requester):
      handle(Request(message: message, path: path, requester: requester, now: now))
    }
  }

  private mutating func handle(_ request: Request) {
    guard request.message.unknownAttributes.isEmpty else {
      return reject(request.message, with: .unknownAttribute, key: request.requester.key, on: request.path) {
        $0.append(.unknownAttributes, STUNAttributeTypes(request.message.unknownAttributes))
      }
    }
    if let index = faults.firstIndex(where: { $0.method == request.message.method }) {
      return inject(faults.remove(at: index), into: request)
    }
    if let rejection = rejections.first(where: { $0.method == request.message.method }) {
      counters.rejections[rejection.method, default: 0] += 1
      if rejection.error.endsAllocation { counters.finalRejections += 1 }
      return inject((rejection.method, rejection.error, nil), into: request)
    }
    let response: STUNMessageBuilder
    do throws(STUNError) {
      switch request.message.method {
      case .allocate: return try allocate(request)
      case .refresh: response = try refresh(request)
      case .createPermission: response = try createPermission(request)
      case .channelBind: response = try bindChannel(request)
      default: throw .badRequest
      }
    } catch {
      return reject(request.message, with: error, key: request.requester.key, on: request.path)
    }
    counters.successes += 1
    outbox.append(sealed(response, for: request.message, key: request.requester.key), on: request.path.unmarked)
  }

  private mutating func inject(
    _ fault: (method: STUNMethod, error: STUNError, alternate: Endpoint?), into request: Request
  ) {
    if fault.error.code == 401 || fault.error.code == 438 {
      return challenge(request.message, with: fault.error, on: request.path, at: request.now)
    }
    reject(request.message, with: fault.error, key: request.requester.key, on: request.path) {
      if let alternate = fault.alternate { $0.append(.alternateServer, alternate) }
    }
  }

  // MARK: Allocate

  private mutating func allocate(_ request: Request, attempt: Int = 1) throws(STUNError) {
    guard byClient[request.tuple] == nil else { throw .allocationMismatch }
    let message = request.message
    guard let transport = message[.requestedTransport] else { throw .badRequest }
    guard transport == 17 else { throw .unsupportedTransport }
    let parity: RelayPorts.Parity = message[.evenPort].map { $0 ? .evenWithNextFree : .even } ?? .any
    let wanted = try wantedRelays(message)
    ports.expire(at: request.now)
    let account = request.requester.account
    // A port reserved for the account already counts.
    let isKept = message[.reservationToken].map { ports.isReserved($0, for: account) } ?? false
    try checkQuota(of: account, wants: isKept ? 0 : parity == .evenWithNextFree ? 2 : 1)

    let (socket, additional, missing) = try takeSockets(wanted, parity, for: message, at: request.now)
    let lifetime = lifetime(for: message)
    var response = STUNMessageBuilder(.successResponse, to: message)
    for socket in [socket] + (additional.map { [$0] } ?? []) {
      response.append(.xorRelayedAddress, advertised(socket))
    }
    if let missing { response.append(.addressErrorCode, missing) }
    response.append(.lifetime, UInt32(clamping: lifetime.nanoseconds / 1_000_000_000))
    if parity == .evenWithNextFree {
      let expiry = request.now + configuration.reservationLifetime
      let token = ports.reserveNext(after: socket, for: request.requester.account, until: expiry, random: &random)
      response.append(.reservationToken, token)
    }
    response.append(.xorMappedAddress, request.path.remote)
    let bytes = sealed(response, for: message, key: request.requester.key)
    let allocation = ServerAllocation(
      tuple: request.tuple, relay: socket, additionalRelay: additional, requester: request.requester,
      transactionID: message.transactionID, response: bytes, expiresAt: request.now + lifetime)
    opening[insert(allocation)] = Opening(request: request, attempt: attempt, waitsFor: allocation.relays)
  }

  /// Checks the quotas. A reserved port counts like an allocation, or a user could reserve all ports.
  private func checkQuota(of account: String, wants count: Int) throws(STUNError) {
    if let quota = configuration.userQuota {
      let held = allocationsOfAccount[account, default: 0] + ports.reservationCount(of: account)
      guard held + count <= quota else { throw .allocationQuotaReached }
    }
    if let quota = configuration.totalQuota {
      guard allocationCount + ports.reservationCount() + count <= quota else { throw .allocationQuotaReached }
    }
  }

  /// Takes the ports of an allocation. One is required; the response names a second one that is unavailable.
  private mutating func takeSockets(
    _ wanted: WantedRelays, _ parity: RelayPorts.Parity, for message: STUNMessage, at now: Instant
  ) throws(STUNError) -> (socket: Endpoint, additional: Endpoint?, missing: STUNAddressError?) {
    if let token = message[.reservationToken] {
      // A token determines the address, which may be of another family than the default.
      guard let socket = ports.redeem(token, at: now) else { throw .insufficientCapacity }
      return (socket, nil, nil)
    }
    let first = ports.take(wanted.relay.address, parity, random: &random)
    guard let other = wanted.additional else {
      guard let first else { throw .insufficientCapacity }
      return (first, nil, wanted.missing)
    }
    switch (first, ports.take(other.address, parity, random: &random)) {
    case (let first?, let second?): return (first, second, nil)
    case (let first?, nil):
      return (first, nil, STUNAddressError(STUNAddressFamily(other.address), .insufficientCapacity))
    case (nil, let second?):
      return (second, nil, STUNAddressError(STUNAddressFamily(wanted.relay.address), .insufficientCapacity))
    case (nil, nil): throw .insufficientCapacity
    }
  }

  /// Returns the address that clients are given for a relay's socket.
  private func advertised(_ socket: Endpoint) -> Endpoint {
    let relay = configuration.relays.first { $0.address == socket.address }
    return Endpoint(relay?.advertised ?? socket.address, port: socket.port)
  }

  /// Reports an open relay socket. Once all sockets of an allocation are open, the server responds to the client.
  package mutating func relayOpened(_ relay: Endpoint, at now: Instant) {
    _ = tick(now)
    guard let index = byRelay[relay], let allocation = slots[index], opening[index] != nil else { return }
    opening[index]?.waitsFor.removeAll { $0 == relay }
    guard opening[index]?.waitsFor.isEmpty == true else { return }
    opening[index] = nil
    counters.successes += 1
    outbox.append(allocation.response, on: allocation.tuple.path)
  }

  /// Reports a relay socket that the driver could not open because the port is in use. The server tries other ports, up
  /// to a limit.
  package mutating func relayUnavailable(_ relay: Endpoint, at now: Instant) {
    _ = tick(now)
    guard let index = byRelay[relay] else { return }
    let pending = opening[index]
    end(index, .unavailable)
    guard let pending else { return }
    let request = pending.request
    if request.message[.evenPort] == true { ports.cancelReservation(after: relay) }
    do throws(STUNError) {
      // A reserved port cannot be replaced by another.
      guard pending.attempt < Self.relayAttempts, !request.message.contains(.reservationToken) else {
        throw .insufficientCapacity
      }
      try allocate(request, attempt: pending.attempt + 1)
    } catch {
      reject(request.message, with: error, key: request.requester.key, on: request.path)
    }
  }

  private static let relayAttempts = 8

  /// The relays that a client asks for.
  private struct WantedRelays {
    var relay: Relay
    /// The relay of the other family, for a client that asks for both.
    var additional: Relay?
    /// The requested family for which this server has no relay.
    var missing: STUNAddressError?
  }

  /// Returns the requested relays (RFC 8656 section 7.2): REQUESTED-ADDRESS-FAMILY names one family,
  /// ADDITIONAL-ADDRESS-FAMILY asks for IPv6 besides IPv4, and without both the family is IPv4.
  private func wantedRelays(_ message: STUNMessage) throws(STUNError) -> WantedRelays {
    let hasFamily = message.contains(.requestedAddressFamily)
    let wantsBoth = message.contains(.additionalAddressFamily)
    if message.contains(.reservationToken), hasFamily || wantsBoth || message.contains(.evenPort) { throw .badRequest }
    if wantsBoth {
      guard message[.additionalAddressFamily] == .ipv6, !hasFamily, message[.evenPort] != true else {
        throw .badRequest
      }
    }
    let family = hasFamily ? message[.requestedAddressFamily] : .ipv4
    let relay = family.flatMap { configuration.relay($0) }
    guard wantsBoth else {
      guard let relay else {
        // The token determines the family of a reserved port.
        guard message.contains(.reservationToken), let any = configuration.relays.first else {
          throw .addressFamilyNotSupported
        }
        return WantedRelays(relay: any)
      }
      return WantedRelays(relay: relay)
    }
    switch (relay, configuration.relay(.ipv6)) {
    case (let relay?, let other?): return WantedRelays(relay: relay, additional: other)
    case (let relay?, nil):
      return WantedRelays(relay: relay, missing: STUNAddressError(.ipv6, .addressFamilyNotSupported))
    case (nil, let other?):
      return WantedRelays(relay: other, missing: STUNAddressError(.ipv4, .addressFamilyNotSupported))
    case (nil, nil): throw .addressFamilyNotSupported
    }
  }

  /// Returns the lifetime of an allocation (RFC 8656 section 7.2): the requested one, but not below the default or
  /// above the maximum.
  private func lifetime(for message: STUNMessage) -> Interval {
    let wanted = message[.lifetime].map { Interval.seconds(Int64($0)) } ?? configuration.defaultLifetime
    return min(max(wanted, configuration.defaultLifetime), configuration.maximumLifetime)
  }

  // MARK: Refresh, CreatePermission, ChannelBind

  /// Returns the slot of the requester's own allocation, and stores the nonce that its owner now uses.
  private mutating func ownAllocation(_ request: Request) throws(STUNError) -> Int {
    guard let index = byClient[request.tuple], let owner = slots[index]?.requester else { throw .allocationMismatch }
    guard owner.username == request.requester.username else { throw .wrongCredentials }
    slots[index]?.requester = request.requester
    return index
  }

  private mutating func refresh(_ request: Request) throws(STUNError) -> STUNMessageBuilder {
    let index = try ownAllocation(request)
    guard let allocation = slots[index] else { throw .allocationMismatch }
    var named: Endpoint?
    if request.message.contains(.requestedAddressFamily) {
      guard let family = request.message[.requestedAddressFamily],
        let relay = allocation.relays.first(where: { STUNAddressFamily($0.address) == family })
      else { throw .peerAddressFamilyMismatch }
      named = relay
    }
    var response = STUNMessageBuilder(.successResponse, to: request.message)
    if request.message[.lifetime] == 0 {
      giveBack(named, of: index)
      response.append(.lifetime, 0)
    } else {
      let lifetime = lifetime(for: request.message)
      slots[index]?.expiresAt = request.now + lifetime
      expiries.set(request.now + lifetime, for: index)
      response.append(.lifetime, UInt32(clamping: lifetime.nanoseconds / 1_000_000_000))
    }
    return response
  }

  /// Ends an allocation, or only the named relay of an allocation with relays of both families.
  private mutating func giveBack(_ named: Endpoint?, of index: Int) {
    guard let named, let allocation = slots[index], let other = allocation.relays.first(where: { $0 != named }) else {
      return end(index, .released)
    }
    slots[index]?.relay = other
    slots[index]?.additionalRelay = nil
    close(named, of: allocation, .released)
  }

  private mutating func createPermission(_ request: Request) throws(STUNError) -> STUNMessageBuilder {
    let index = try ownAllocation(request)
    guard let peers = request.message.all(.xorPeerAddress), !peers.isEmpty else { throw .badRequest }
    for peer in peers { try check(peer, for: index) }
    try permit(Set(peers.map(\.address)), index, at: request.now)
    return STUNMessageBuilder(.successResponse, to: request.message)
  }

  private mutating func bindChannel(_ request: Request) throws(STUNError) -> STUNMessageBuilder {
    let index = try ownAllocation(request)
    guard let number = request.message[.channelNumber], configuration.channelNumbers.contains(number),
      let peer = request.message[.xorPeerAddress]
    else { throw .badRequest }
    try check(peer, for: index)
    guard !served.contains(peer) else { throw .forbidden }
    // A channel is bound together with its permission, or not at all.
    let hasRoom = slots[index]?.makeRoom(
      forPermissionsOf: [peer.address], limit: configuration.permissionLimit, at: request.now)
    guard hasRoom == true else { throw .insufficientCapacity }
    let binding = slots[index]?.bind(
      number, to: peer, until: request.now + configuration.channelLifetime, coolDown: configuration.channelCoolDown,
      limit: configuration.permissionLimit, at: request.now)
    guard binding != .tooMany else { throw .insufficientCapacity }
    guard binding == .bound else { throw .badRequest }
    try permit([peer.address], index, at: request.now)
    return STUNMessageBuilder(.successResponse, to: request.message)
  }

  private mutating func permit(_ addresses: Set<IPAddress>, _ index: Int, at now: Instant) throws(STUNError) {
    let isGranted = slots[index]?.permit(
      addresses, until: now + configuration.permissionLifetime, limit: configuration.permissionLimit, at: now)
    guard isGranted == true else { throw .insufficientCapacity }
  }

  private func check(_ peer: Endpoint, for index: Int) throws(STUNError) {
    guard slots[index]?.relay(towards: peer.address) != nil else { throw .peerAddressFamilyMismatch }
    guard configuration.permits(peer.address) else { throw .forbidden }
  }

  // MARK: Responses

  private mutating func challenge(_ message: STUNMessage, with error: STUNError, on path: Path, at now: Instant) {
    counters.challenges += 1
    var response = STUNMessageBuilder(.errorResponse, to: message)
    response.append(.errorCode, error)
    response.append(.realm, configuration.realm)
    response.append(.nonce, nonces.issue(to: path.remote, at: now))
    outbox.append(sealed(response, for: message, key: nil), on: path.unmarked)
  }

  private mutating func reject(
    _ message: STUNMessage, with error: STUNError, key: STUNKey?, on path: Path,
    _ addAttributes: (inout STUNMessageBuilder) -> Void = { _ in }
  ) {
    counters.errors += 1
    var response = STUNMessageBuilder(.errorResponse, to: message)
    response.append(.errorCode, error)
    addAttributes(&response)
    outbox.append(sealed(response, for: message, key: key), on: path.unmarked)
  }

  private func sealed(_ response: STUNMessageBuilder, for request: STUNMessage, key: STUNKey?) -> [UInt8] {
    var response = response
    if let software = configuration.software { response.append(.software, software) }
    if let key { response.appendIntegrity(key: key, answering: request) }
    if request.hasFingerprint { response.appendFingerprint() }
    return response.bytes
  }
}
