public import CallCore
internal import STUN

/// The four methods of TURN (RFC 8656 sections 7 to 12).
extension TURNServer {
  /// An authenticated request.
  struct Request {
    let message: STUNMessage
    let path: Path
    let requester: Requester
    let now: Instant

    var tuple: FiveTuple { FiveTuple(path) }
  }

  mutating func handle(_ message: STUNMessage, on path: Path, at now: Instant) {
    if message.method == .allocate, let known = byClient[FiveTuple(path)].flatMap({ slots[$0] }),
      known.transactionID == message.transactionID, !Defect.repeatedAllocateRefused.isPlanted
    {
      counters.replays += 1
      // While the relay is being opened the first one is not answered either.
      if opening[known.relay] == nil { outbox.append(known.response, on: known.tuple.path) }
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
    let wanted = try wantedRelay(message)
    if let quota = configuration.userQuota, allocationsOfAccount[request.requester.account, default: 0] >= quota {
      throw .allocationQuotaReached
    }
    if let quota = configuration.totalQuota, allocationCount >= quota { throw .allocationQuotaReached }

    ports.expire(at: request.now)
    let free =
      if let token = message[.reservationToken] { ports.redeem(token, at: request.now) } else {
        ports.take(wanted.address, parity, random: &random)
      }
    // A token brings its own address, which may be of another family than the default.
    guard let socket = free, let relay = configuration.relays.first(where: { $0.address == socket.address }) else {
      throw .insufficientCapacity
    }

    let lifetime = lifetime(for: message)
    var response = STUNMessageBuilder(.successResponse, to: message)
    response.append(.xorRelayedAddress, Endpoint(relay.advertised, port: socket.port))
    response.append(.lifetime, UInt32(clamping: lifetime.nanoseconds / 1_000_000_000))
    if parity == .evenWithNextFree {
      let expiry = request.now + configuration.reservationLifetime
      response.append(.reservationToken, ports.reserveNext(after: socket, until: expiry, random: &random))
    }
    response.append(.xorMappedAddress, request.path.remote)
    let bytes = sealed(response, for: message, key: request.requester.key)
    insert(
      ServerAllocation(
        tuple: request.tuple, relay: socket, requester: request.requester, transactionID: message.transactionID,
        response: bytes, expiresAt: request.now + lifetime))
    opening[socket] = (request, attempt)
  }

  /// The relay's socket is open: now its client may know.
  public mutating func relayOpened(_ relay: Endpoint, at now: Instant) {
    _ = tick(now)
    guard opening.removeValue(forKey: relay) != nil, let allocation = byRelay[relay].flatMap({ slots[$0] }) else {
      return
    }
    counters.successes += 1
    outbox.append(allocation.response, on: allocation.tuple.path)
  }

  /// The driver could not open this relay's socket: something else has the port. Another is tried, a few times over.
  public mutating func relayUnavailable(_ relay: Endpoint, at now: Instant) {
    _ = tick(now)
    let pending = opening[relay]
    if let index = byRelay[relay] { end(index, .unavailable) }
    guard let (request, attempt) = pending else { return }
    do throws(STUNError) {
      // A reserved port is that one and no other.
      guard attempt < Self.relayAttempts, !request.message.contains(.reservationToken) else {
        throw .insufficientCapacity
      }
      try allocate(request, attempt: attempt + 1)
    } catch {
      reject(request.message, with: error, key: request.requester.key, on: request.path)
    }
  }

  private static let relayAttempts = 8

  private func wantedRelay(_ message: STUNMessage) throws(STUNError) -> Relay {
    let hasFamily = message.contains(.requestedAddressFamily)
    if message.contains(.reservationToken), hasFamily || message.contains(.evenPort) { throw .badRequest }
    guard let family = hasFamily ? message[.requestedAddressFamily] : .ipv4, let relay = configuration.relay(family)
    else { throw .addressFamilyNotSupported }
    return relay
  }

  /// RFC 8656 section 7.2: what the client asks for, but no less than the default and no more than the maximum.
  private func lifetime(for message: STUNMessage) -> Interval {
    let wanted = message[.lifetime].map { Interval.seconds(Int64($0)) } ?? configuration.defaultLifetime
    return min(max(wanted, configuration.defaultLifetime), configuration.maximumLifetime)
  }

  // MARK: Refresh, CreatePermission, ChannelBind

  /// The slot of the requester's own allocation, which takes note of the nonce its owner now uses.
  private mutating func ownAllocation(_ request: Request) throws(STUNError) -> Int {
    guard let index = byClient[request.tuple], let owner = slots[index]?.requester else { throw .allocationMismatch }
    guard owner.username == request.requester.username else { throw .wrongCredentials }
    slots[index]?.requester = request.requester
    return index
  }

  private mutating func refresh(_ request: Request) throws(STUNError) -> STUNMessageBuilder {
    let index = try ownAllocation(request)
    if request.message.contains(.requestedAddressFamily) {
      guard let relay = slots[index]?.relay,
        request.message[.requestedAddressFamily] == STUNAddressFamily(relay.address)
      else { throw .peerAddressFamilyMismatch }
    }
    var response = STUNMessageBuilder(.successResponse, to: request.message)
    if request.message[.lifetime] == 0 {
      end(index, .released)
      response.append(.lifetime, 0)
    } else {
      let lifetime = lifetime(for: request.message)
      slots[index]?.expiresAt = request.now + lifetime
      updateExpiry()
      response.append(.lifetime, UInt32(clamping: lifetime.nanoseconds / 1_000_000_000))
    }
    return response
  }

  private mutating func createPermission(_ request: Request) throws(STUNError) -> STUNMessageBuilder {
    let index = try ownAllocation(request)
    guard let peers = request.message.all(.xorPeerAddress), !peers.isEmpty else { throw .badRequest }
    for peer in peers { try check(peer, for: index) }
    for peer in peers { permit(peer.address, index, at: request.now) }
    return STUNMessageBuilder(.successResponse, to: request.message)
  }

  private mutating func bindChannel(_ request: Request) throws(STUNError) -> STUNMessageBuilder {
    let index = try ownAllocation(request)
    guard let number = request.message[.channelNumber], configuration.channelNumbers.contains(number),
      let peer = request.message[.xorPeerAddress]
    else { throw .badRequest }
    try check(peer, for: index)
    let isBound = slots[index]?.bind(
      number, to: peer, until: request.now + configuration.channelLifetime,
      coolDown: configuration.channelCoolDown, at: request.now)
    guard isBound == true else { throw .badRequest }
    permit(peer.address, index, at: request.now)
    return STUNMessageBuilder(.successResponse, to: request.message)
  }

  private mutating func permit(_ address: IPAddress, _ index: Int, at now: Instant) {
    slots[index]?.permit(address, until: now + configuration.permissionLifetime, at: now)
  }

  private func check(_ peer: Endpoint, for index: Int) throws(STUNError) {
    guard slots[index]?.relay.address.isIPv6 == peer.address.isIPv6 else { throw .peerAddressFamilyMismatch }
    guard configuration.permits(peer.address) else { throw .forbidden }
  }

  // MARK: Answers

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
    if let key { response.appendIntegrity(key: key) }
    if request.hasFingerprint { response.appendFingerprint() }
    return response.bytes
  }
}
