internal import CallCore
internal import STUN

/// What identifies an allocation (RFC 8656 section 3.2): the client's and the server's transport address, and what runs
/// between them.
struct FiveTuple: Hashable {
  let client: Endpoint
  let server: Endpoint
  let transport: Path.Transport

  init(_ path: Path) {
    client = path.remote
    server = path.local
    transport = path.transport
  }

  var path: Path { Path(local: server, remote: client, transport: transport) }
}

/// Someone who has proven to know a password.
struct Requester {
  let username: String
  let account: String
  let key: STUNKey
  /// The nonce the proof was made with.
  let nonce: String
}

/// One allocation, with its permissions and channels. These expire by being looked at; only the allocation itself
/// has something to close.
///
/// Every look-up takes the same time however many there are, and there is a limit to both: a client decides how many it
/// asks for, and all clients wait for it.
struct ServerAllocation {
  struct Channel {
    let peer: Endpoint
    var expiresAt: Instant
  }

  let tuple: FiveTuple
  /// The relay's socket.
  var relay: Endpoint
  /// The socket of the other address family, when the client asked for both and until it gives that one back.
  var additionalRelay: Endpoint?
  var requester: Requester
  /// The request that made the allocation and its answer, for retransmissions.
  let transactionID: STUNTransactionID
  var response: [UInt8]
  var expiresAt: Instant
  private var permissions: [IPAddress: Instant] = [:]
  private var channels: [UInt16: Channel] = [:]
  private var numbers: [Endpoint: UInt16] = [:]
  /// What was ended before its time and not granted anew, with when it would have ended by itself.
  private var withdrawnPermissions: [IPAddress: Instant] = [:]
  private var withdrawnChannels: [UInt16: Channel] = [:]

  init(
    tuple: FiveTuple, relay: Endpoint, additionalRelay: Endpoint?, requester: Requester,
    transactionID: STUNTransactionID, response: [UInt8], expiresAt: Instant
  ) {
    self.tuple = tuple
    self.relay = relay
    self.additionalRelay = additionalRelay
    self.requester = requester
    self.transactionID = transactionID
    self.response = response
    self.expiresAt = expiresAt
  }

  /// The sockets of the relay: one, or one of each family.
  var relays: [Endpoint] { [relay] + (additionalRelay.map { [$0] } ?? []) }

  /// The socket from which a peer of this family is reached; nil when there is none.
  func relay(towards peer: IPAddress) -> Endpoint? {
    if relay.address.isIPv6 == peer.isIPv6 { return relay }
    return additionalRelay.flatMap { $0.address.isIPv6 == peer.isIPv6 ? $0 : nil }
  }

  // MARK: Permissions

  func permits(_ address: IPAddress, at now: Instant) -> Bool { permissions[address].map { now < $0 } ?? false }

  /// Grants or renews permissions: all of them, or none when there would be more than `limit`.
  ///
  /// - Returns: whether they were granted.
  mutating func permit(_ addresses: Set<IPAddress>, until expiry: Instant, limit: Int, at now: Instant) -> Bool {
    guard makeRoom(forPermissionsOf: addresses, limit: limit, at: now) else { return false }
    for address in addresses {
      permissions[address] = expiry
      withdrawnPermissions[address] = nil
    }
    return true
  }

  /// Whether so many permissions may be granted, once those are gone that have expired.
  mutating func makeRoom(forPermissionsOf addresses: Set<IPAddress>, limit: Int, at now: Instant) -> Bool {
    let added = addresses.count { permissions[$0] == nil }
    if permissions.count + added <= limit { return true }
    permissions = permissions.filter { now < $0.value || addresses.contains($0.key) }
    return permissions.count + added <= limit
  }

  /// Ends every permission before its time.
  mutating func withdrawPermissions() {
    withdrawnPermissions.merge(permissions) { $1 }
    permissions.removeAll()
  }

  /// Whether there would be a permission if ``withdrawPermissions()`` had not ended it.
  func misses(permissionFor address: IPAddress, at now: Instant) -> Bool {
    withdrawnPermissions[address].map { now < $0 } ?? false
  }

  // MARK: Channels

  func channel(to peer: Endpoint, at now: Instant) -> UInt16? {
    guard let number = numbers[peer], let channel = channels[number], now < channel.expiresAt else { return nil }
    return number
  }

  func peer(of channel: UInt16, at now: Instant) -> Endpoint? {
    channels[channel].flatMap { now < $0.expiresAt ? $0.peer : nil }
  }

  enum Binding { case bound, conflict, tooMany }

  /// Binds or renews a channel. It is a conflict when the channel or the peer is bound otherwise, or was until less than
  /// `coolDown` ago (RFC 8656 sections 12 and 12.2).
  mutating func bind(
    _ number: UInt16, to peer: Endpoint, until expiry: Instant, coolDown: Interval, limit: Int, at now: Instant
  ) -> Binding {
    if let former = channels[number], former.peer != peer {
      guard now >= former.expiresAt + coolDown else { return .conflict }
      remove(number)
    }
    if let former = numbers[peer], former != number {
      guard let channel = channels[former], now >= channel.expiresAt + coolDown else { return .conflict }
      remove(former)
    }
    if channels[number] == nil, channels.count >= limit {
      channels = channels.filter { now < $0.value.expiresAt + coolDown }
      numbers = numbers.filter { channels[$0.value] != nil }
      guard channels.count < limit else { return .tooMany }
    }
    channels[number] = Channel(peer: peer, expiresAt: expiry)
    numbers[peer] = number
    withdrawnChannels = withdrawnChannels.filter { $0.key != number && $0.value.peer != peer }
    return .bound
  }

  private mutating func remove(_ number: UInt16) {
    if let channel = channels.removeValue(forKey: number) { numbers[channel.peer] = nil }
  }

  /// Ends every binding before its time.
  mutating func withdrawChannels() {
    withdrawnChannels.merge(channels) { $1 }
    channels.removeAll()
    numbers.removeAll()
  }

  /// Whether the channel would be bound if ``withdrawChannels()`` had not ended it.
  func misses(channel: UInt16, at now: Instant) -> Bool {
    withdrawnChannels[channel].map { now < $0.expiresAt } ?? false
  }

  /// Whether a channel would be bound to the peer if ``withdrawChannels()`` had not ended it.
  func misses(channelTo peer: Endpoint, at now: Instant) -> Bool {
    withdrawnChannels.contains { $0.value.peer == peer && now < $0.value.expiresAt }
  }
}
