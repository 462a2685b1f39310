internal import CallCore
internal import STUN

/// The identity of an allocation (RFC 8656 section 3.2): the transport addresses of client and server, and the
/// transport.
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

/// A user who has proven knowledge of a password.
struct Requester {
  let username: String
  let account: String
  let key: STUNKey
  /// The nonce of the proof.
  let nonce: String
}

/// One allocation, with its permissions and channels. These expire when they are read; only an allocation has sockets
/// to close.
///
/// Every look-up takes constant time, and the number of permissions and channels is limited: a client could otherwise
/// delay all others.
struct ServerAllocation {
  struct Channel {
    let peer: Endpoint
    var expiresAt: Instant
  }

  let tuple: FiveTuple
  /// The address of the relay's socket.
  var relay: Endpoint
  /// The address of the socket of the other family, if the client asked for both, until the client releases it.
  var additionalRelay: Endpoint?
  var requester: Requester
  /// The request that made the allocation, and its response, for retransmissions.
  let transactionID: STUNTransactionID
  var response: [UInt8]
  var expiresAt: Instant
  private(set) var permissions: [IPAddress: Instant] = [:]
  private(set) var channels: [UInt16: Channel] = [:]
  private var numbers: [Endpoint: UInt16] = [:]
  /// The permissions and channels that were ended early and not granted anew, with their original expiry.
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

  /// The addresses of the relay's sockets: one, or one of each family.
  var relays: [Endpoint] { [relay] + (additionalRelay.map { [$0] } ?? []) }

  /// Returns the address of the socket that reaches a peer's family, or nil if there is none.
  func relay(towards peer: IPAddress) -> Endpoint? {
    if relay.address.isIPv6 == peer.isIPv6 { return relay }
    return additionalRelay.flatMap { $0.address.isIPv6 == peer.isIPv6 ? $0 : nil }
  }

  // MARK: Permissions

  func permits(_ address: IPAddress, at now: Instant) -> Bool { permissions[address].map { now < $0 } ?? false }

  /// Grants or renews all permissions, or none if there would be more than `limit`.
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

  /// Removes expired permissions if necessary, and returns whether the new ones fit the limit.
  mutating func makeRoom(forPermissionsOf addresses: Set<IPAddress>, limit: Int, at now: Instant) -> Bool {
    let added = addresses.count { permissions[$0] == nil }
    if permissions.count + added <= limit { return true }
    permissions = permissions.filter { now < $0.value || addresses.contains($0.key) }
    return permissions.count + added <= limit
  }

  /// Ends every permission before its expiry.
  mutating func withdrawPermissions() {
    withdrawnPermissions.merge(permissions) { $1 }
    permissions.removeAll()
  }

  /// Returns whether there would be a permission without ``withdrawPermissions()``.
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

  /// Binds or renews a channel. It is a conflict if the channel or the peer has another binding, or had one until less
  /// than `coolDown` ago (RFC 8656 sections 12 and 12.2).
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

  /// Ends every binding before its expiry.
  mutating func withdrawChannels() {
    withdrawnChannels.merge(channels) { $1 }
    channels.removeAll()
    numbers.removeAll()
  }

  /// Returns whether the channel would be bound without ``withdrawChannels()``.
  func misses(channel: UInt16, at now: Instant) -> Bool {
    withdrawnChannels[channel].map { now < $0.expiresAt } ?? false
  }

  /// Returns whether the peer would have a channel without ``withdrawChannels()``.
  func misses(channelTo peer: Endpoint, at now: Instant) -> Bool {
    withdrawnChannels.contains { $0.value.peer == peer && now < $0.value.expiresAt }
  }
}
