internal import CallCore
internal import STUN

/// Requests and their responses.
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
      switch family {
      case .ipv4: break
      case .ipv6: request.append(.requestedAddressFamily, .ipv6)
      case .both: request.append(.additionalAddressFamily, .ipv6)
      }
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
        let purpose = transactions.remove(at: index).purpose
        giveUp(purpose, .timedOut(purpose.method), at: now)
      case nil:
        index += 1
      }
    }
  }

  // MARK: Responses

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
      // Ignore the response (RFC 8489 section 9.2.5).
      counters.forged += 1
      return
    }
    transactions.remove(at: index)
    guard message.messageClass == .errorResponse else {
      return message.unknownAttributes.isEmpty
        ? succeed(transaction.purpose, message, at: now)
        : giveUp(transaction.purpose, .badResponse(message.method), at: now)
    }
    guard let error = message[.errorCode] else {
      return giveUp(transaction.purpose, .badResponse(message.method), at: now)
    }
    switch error.code {
    case 300 where transaction.purpose == .allocate && redirect(message, at: now): break
    case 440 where transaction.purpose == .allocate && turnToOtherFamily(): begin(.allocate, at: now)
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

  /// Returns whether a response is authentic. A success needs integrity; genuine error responses often have none.
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

  /// Switches to the other family, once: its relay is better than none.
  private mutating func turnToOtherFamily() -> Bool {
    guard family == configuration.family else { return false }
    switch family {
    case .ipv4: return false
    case .ipv6: family = .ipv4
    case .both: family = .ipv6
    }
    return true
  }

  /// Follows ALTERNATE-SERVER (RFC 8489 section 10), which an attacker on the path may have written: not to a server
  /// that redirected the client before, and not from another machine to this one.
  private mutating func redirect(_ message: STUNMessage, at now: Instant) -> Bool {
    guard let alternate = message[.alternateServer], alternate != server, !leftServers.contains(alternate),
      alternate.address.isIPv6 == server.address.isIPv6, leftServers.count < configuration.redirectLimit,
      !alternate.address.isLoopback || server.address.isLoopback, !alternate.address.isUnspecified
    else { return false }
    // Without TLS there is no certificate to check a name against.
    let domain = configuration.transport == .tls ? message[.alternateDomain] : nil
    if let domain, !domain.isDomainName { return false }
    leftServers.append(server)
    server = alternate
    alternateDomain = domain ?? alternateDomain
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
      permissions[index].refreshAt = permissionRenewal(of: address, at: now)
      if Defect.permissionRefreshedTooLate.isPlanted {
        permissions[index].refreshAt = now + Self.permissionLifetime * 10 / 9
      }
      // A channel that was not renewed with its permission is renewed with it again.
      for channel in channels.indices
      where channels[channel].peer.address == address && channels[channel].refreshAt == nil
        && channels[channel].isBound(at: now)
      {
        channels[channel].refreshAt = now
      }
      if isNew { events.append(.permissionGranted(address)) }
      flushQueue(to: address, at: now)
    case .channelBind(let peer, let number):
      guard let index = channels.firstIndex(where: { $0.peer == peer }) else { return }
      let isNew = !channels[index].isBound(at: now)
      channels[index].expiresAt = now + Self.channelLifetime
      channels[index].refreshAt = now + configuration.channelRefresh
      if Defect.channelRefreshedTooLate.isPlanted { channels[index].refreshAt = now + Self.channelLifetime * 10 / 9 }
      // A binding installs or renews the permission (RFC 8656 section 12.2).
      if let permission = permissions.firstIndex(where: { $0.address == peer.address && $0.expiresAt != nil }) {
        permissions[permission].expiresAt = now + Self.permissionLifetime
        if permissions[permission].refreshAt != nil, configuration.channelRefresh < Self.permissionLifetime {
          permissions[permission].refreshAt = permissionRenewal(of: peer.address, at: now)
        }
      }
      if isNew { events.append(.channelBound(peer, number: number)) }
    }
  }

  /// Returns the time to renew a permission that was just granted: its end, if a channel renews it in time.
  private func permissionRenewal(of address: IPAddress, at now: Instant) -> Instant {
    let isRenewedByChannel =
      configuration.channelRefresh < Self.permissionLifetime
      && channels.contains { $0.peer.address == address && $0.isBound(at: now) && $0.refreshAt != nil }
    return now + (isRenewedByChannel ? Self.permissionLifetime : configuration.permissionRefresh)
  }

  private mutating func allocated(_ message: STUNMessage, at now: Instant) {
    guard let addresses = message.all(.xorRelayedAddress), let relayed = addresses.first,
      let mapped = message[.xorMappedAddress], let seconds = message[.lifetime], seconds > 0
    else { return fail(.badResponse(.allocate)) }
    let lifetime = Interval.seconds(Int64(seconds))
    let additional = family == .both ? addresses.first { $0.address.isIPv6 != relayed.address.isIPv6 } : nil
    let allocation = Allocation(
      relayed: relayed, additionalRelayed: additional, mapped: mapped, lifetime: lifetime, server: server)
    self.allocation = allocation
    state = .allocated
    guard !isReleaseWanted else { return release(at: now) }
    schedule(lifetime: lifetime, at: now)
    events.append(.allocated(allocation))
  }

  private mutating func schedule(lifetime: Interval, at now: Instant) {
    expiresAt = now + lifetime
    // A server may end an allocation before the granted lifetime: as in libwebrtc the wait is at most an hour.
    let relied = min(lifetime, .minutes(60))
    refreshAt = now + (relied - min(configuration.refreshMargin, relied / 2))
  }

  mutating func finishRelease() {
    forget()
    state = .released
    events.append(.released)
  }

  private mutating func reject(_ purpose: Purpose, _ error: STUNError, at now: Instant) {
    // 437 means that the server does not have the allocation: it restarted, or the allocation expired.
    switch purpose {
    case .allocate where error.code == 437 && !isReleaseWanted:
      forget()
      state = .failed
      events.append(.newLocalAddressNeeded)
    case .refresh where state == .releasing: finishRelease()
    case _ where error.code == 437 && Defect.lostAllocationKept.isPlanted: break
    case _ where error.endsAllocation: fail(.rejected(purpose.method, error))
    default: giveUp(purpose, .rejected(purpose.method, error), at: now)
    }
  }

  /// Handles a request without a usable response: the allocation lives as long as its Refresh is answered.
  private mutating func giveUp(_ purpose: Purpose, _ failure: Failure, at now: Instant) {
    switch purpose {
    case .createPermission(let address): permissionFailed(address, failure)
    case .channelBind(let peer, _): channelFailed(peer, failure, at: now)
    case .refresh where state == .releasing: finishRelease()
    case .allocate, .refresh: fail(failure)
    }
  }

  /// Stores the failure of a permission, so that not every datagram causes another request.
  private mutating func permissionFailed(_ address: IPAddress, _ failure: Failure) {
    guard let index = permissions.firstIndex(where: { $0.address == address }) else { return }
    permissions[index].expiresAt = nil
    permissions[index].refreshAt = nil
    permissions[index].failure = failure
    for channel in channels.indices where channels[channel].peer.address == address {
      channels[channel].refreshAt = nil
    }
    dropQueue { $0.address == address }
    events.append(.permissionFailed(address, failure))
  }

  /// Schedules another attempt after the cool-down; until then payloads go in indications.
  private mutating func channelFailed(_ peer: Endpoint, _ failure: Failure, at now: Instant) {
    guard let index = channels.firstIndex(where: { $0.peer == peer }) else { return }
    channels[index].refreshAt = now + Self.channelCoolDown
    events.append(.channelFailed(peer, failure))
  }
}

extension String {
  /// Whether the string consists of labels of letters, digits and hyphens, and is not an address (RFC 1123
  /// section 2.1). An absolute name ends with a dot.
  fileprivate var isDomainName: Bool {
    let name = hasSuffix(".") ? dropLast() : self[...]
    let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard utf8.count <= 253, labels.allSatisfy(Self.isLabel), let last = labels.last else { return false }
    return !last.allSatisfy(\.isASCIIDigit)
  }

  private static func isLabel(_ label: Substring.UTF8View) -> Bool {
    guard (1...63).contains(label.count), let first = label.first, let last = label.last else { return false }
    return label.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == hyphen } && first != hyphen && last != hyphen
  }

  private static var hyphen: UInt8 { UInt8(ascii: "-") }
}
