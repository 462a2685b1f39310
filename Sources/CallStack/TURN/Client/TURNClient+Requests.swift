internal import CallCore
internal import STUN

/// Requests and their answers.
extension TURNClient {
  mutating func begin(_ purpose: Purpose, staleNonces: Int = 0, at now: Instant) {
    let id = STUNTransactionID(from: &random)
    let bytes = request(purpose, id)
    counters.requests += 1
    outbox.append(bytes, on: path)
    transactions.append(
      Transaction(
        purpose: purpose, id: id, bytes: bytes, isAuthenticated: session != nil, staleNonces: staleNonces,
        timer: STUNTransactionTimer(sentAt: now, policy: retransmission)))
  }

  private func request(_ purpose: Purpose, _ id: STUNTransactionID) -> [UInt8] {
    var request = STUNMessageBuilder(.request, purpose.method, id)
    switch purpose {
    case .allocate:
      request.append(.requestedTransport, 17)
      if configuration.family == .ipv6 { request.append(.requestedAddressFamily, .ipv6) }
      if let seconds = configuredSeconds { request.append(.lifetime, seconds) }
    case .refresh(let seconds):
      if let seconds = seconds ?? configuredSeconds { request.append(.lifetime, seconds) }
    case .createPermission(let address):
      request.append(.xorPeerAddress, Endpoint(address, port: 0))
    case .channelBind(let peer, let number):
      request.append(.channelNumber, number)
      request.append(.xorPeerAddress, peer)
    }
    if let software = configuration.software { request.append(.software, software) }
    if let session {
      request.append(.username, configuration.credentials.username)
      request.append(.realm, session.realm)
      request.append(.nonce, session.nonce)
      request.appendIntegrity(key: session.key)
    }
    if configuration.usesFingerprint { request.appendFingerprint() }
    return request.bytes
  }

  private var retransmission: STUNTransactionTimer.Policy {
    configuration.transport == .udp ? configuration.retransmission : .reliable
  }

  private var configuredSeconds: UInt32? {
    configuration.lifetime.map { UInt32(clamping: max(1, $0.nanoseconds / 1_000_000_000)) }
  }

  mutating func retransmit(at now: Instant) {
    var index = 0
    while index < transactions.count {
      switch transactions[index].timer.advance(to: now) {
      case .retransmit:
        counters.retransmissions += 1
        outbox.append(transactions[index].bytes, on: path)
        index += 1
      case .timedOut:
        // A server that stopped answering has most likely lost the allocation too.
        let method = transactions[index].purpose.method
        return state == .releasing ? finishRelease() : fail(.timedOut(method))
      case nil:
        index += 1
      }
    }
  }

  // MARK: Answers

  mutating func handle(_ message: STUNMessage, at now: Instant) {
    guard message.messageClass == .successResponse || message.messageClass == .errorResponse,
      let index = transactions.firstIndex(where: { $0.id == message.transactionID }),
      transactions[index].purpose.method == message.method
    else {
      counters.unexpected += 1
      return
    }
    let transaction = transactions[index]
    guard isGenuine(message, for: transaction) else {
      // RFC 8489 section 9.2.5: as if it had never been received.
      counters.forged += 1
      return
    }
    transactions.remove(at: index)
    guard message.messageClass == .errorResponse else {
      return message.unknownAttributes.isEmpty
        ? succeed(transaction.purpose, message, at: now) : fail(.badResponse(message.method))
    }
    guard let error = message[.errorCode] else { return fail(.badResponse(message.method)) }
    switch error.code {
    case 300 where transaction.purpose == .allocate && redirect(message, at: now): break
    case 401 where !transaction.isAuthenticated && adoptChallenge(message):
      begin(transaction.purpose, staleNonces: transaction.staleNonces, at: now)
    case 438
    where transaction.staleNonces < configuration.staleNonceLimit && transaction.purpose.outlivesNonce
      && adoptChallenge(message):
      counters.staleNonces += 1
      begin(transaction.purpose, staleNonces: transaction.staleNonces + 1, at: now)
    default: reject(transaction.purpose, error, at: now)
    }
  }

  /// Success must be proven by whoever knows the password; errors often come without proof.
  private func isGenuine(_ message: STUNMessage, for transaction: Transaction) -> Bool {
    guard transaction.isAuthenticated, let key = session?.key else { return true }
    switch message.integrity(key: key) {
    case .valid: return true
    case .invalid: return false
    case .absent: return message.messageClass == .errorResponse
    }
  }

  private mutating func adoptChallenge(_ message: STUNMessage) -> Bool {
    guard let nonce = message[.nonce], let realm = message[.realm] ?? session?.realm else { return false }
    let credentials = configuration.credentials
    let key = session?.realm == realm ? session?.key : nil
    session = Session(
      realm: realm, nonce: nonce,
      key: key ?? .longTerm(username: credentials.username, realm: realm, password: credentials.password))
    return true
  }

  /// Follows ALTERNATE-SERVER (RFC 8489 section 10).
  private mutating func redirect(_ message: STUNMessage, at now: Instant) -> Bool {
    guard let alternate = message[.alternateServer], alternate != server,
      alternate.address.isIPv6 == server.address.isIPv6, redirects < configuration.redirectLimit
    else { return false }
    redirects += 1
    server = alternate
    session = nil
    begin(.allocate, at: now)
    return true
  }

  // MARK: Outcomes

  private mutating func succeed(_ purpose: Purpose, _ message: STUNMessage, at now: Instant) {
    switch purpose {
    case .allocate: allocated(message, at: now)
    case .refresh:
      guard state != .releasing else { return finishRelease() }
      guard let seconds = message[.lifetime], seconds > 0 else { return fail(.badResponse(.refresh)) }
      schedule(lifetime: .seconds(Int64(seconds)), at: now)
    case .createPermission(let address):
      guard let index = permissions.firstIndex(where: { $0.address == address }) else { return }
      let isNew = permissions[index].expiresAt == nil
      permissions[index].expiresAt = now + Self.permissionLifetime
      permissions[index].refreshAt = now + configuration.permissionRefresh
      if Defect.permissionRefreshedTooLate.isPlanted {
        permissions[index].refreshAt = now + Self.permissionLifetime * 10 / 9
      }
      if isNew { events.append(.permissionGranted(address)) }
      flushQueue(to: address, at: now)
    case .channelBind(let peer, let number):
      guard let index = channels.firstIndex(where: { $0.peer == peer }) else { return }
      let isNew = !channels[index].isBound(at: now)
      channels[index].expiresAt = now + Self.channelLifetime
      channels[index].refreshAt = now + configuration.channelRefresh
      if Defect.channelRefreshedTooLate.isPlanted { channels[index].refreshAt = now + Self.channelLifetime * 10 / 9 }
      if isNew { events.append(.channelBound(peer, number: number)) }
    }
  }

  private mutating func allocated(_ message: STUNMessage, at now: Instant) {
    guard let relayed = message[.xorRelayedAddress], let mapped = message[.xorMappedAddress],
      let seconds = message[.lifetime], seconds > 0
    else { return fail(.badResponse(.allocate)) }
    let lifetime = Interval.seconds(Int64(seconds))
    let allocation = Allocation(relayed: relayed, mapped: mapped, lifetime: lifetime, server: server)
    self.allocation = allocation
    state = .allocated
    guard !isReleaseWanted else { return release(at: now) }
    schedule(lifetime: lifetime, at: now)
    events.append(.allocated(allocation))
  }

  private mutating func schedule(lifetime: Interval, at now: Instant) {
    expiresAt = now + lifetime
    refreshAt = now + (lifetime - min(configuration.refreshMargin, lifetime / 2))
  }

  mutating func finishRelease() {
    forget()
    state = .released
    events.append(.released)
  }

  private mutating func reject(_ purpose: Purpose, _ error: STUNError, at now: Instant) {
    // 437 means that the server does not know the allocation: it restarted, or we came too late.
    switch purpose {
    case .allocate where error.code == 437 && !isReleaseWanted:
      forget()
      state = .failed
      events.append(.newLocalAddressNeeded)
    case .refresh where state == .releasing: finishRelease()
    case _ where error.code == 437 && Defect.lostAllocationKept.isPlanted: break
    case .createPermission(let address) where error.code != 437 && error.code != 401:
      permissions.removeAll { $0.address == address }
      dropQueue { $0.address == address }
      events.append(.permissionDenied(address, error))
    case .channelBind(let peer, _) where error.code != 437 && error.code != 401:
      // Indications still work; the same channel may be tried again after the cool-down.
      if let index = channels.firstIndex(where: { $0.peer == peer }) {
        channels[index].refreshAt = now + Self.channelCoolDown
      }
    default: fail(.rejected(purpose.method, error))
    }
  }
}
