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
struct ServerAllocation {
  struct Permission {
    let address: IPAddress
    var expiresAt: Instant
  }

  struct Channel {
    let number: UInt16
    let peer: Endpoint
    var expiresAt: Instant
  }

  let tuple: FiveTuple
  /// The relay's socket.
  let relay: Endpoint
  var requester: Requester
  /// The request that made the allocation and its answer, for retransmissions.
  let transactionID: STUNTransactionID
  var response: [UInt8]
  var expiresAt: Instant
  var permissions: [Permission] = []
  var channels: [Channel] = []

  func permits(_ address: IPAddress, at now: Instant) -> Bool {
    permissions.contains { $0.address == address && now < $0.expiresAt }
  }

  mutating func permit(_ address: IPAddress, until expiry: Instant, at now: Instant) {
    permissions.removeAll { $0.address == address || now >= $0.expiresAt }
    permissions.append(Permission(address: address, expiresAt: expiry))
  }

  func channel(to peer: Endpoint, at now: Instant) -> UInt16? {
    channels.first { $0.peer == peer && now < $0.expiresAt }?.number
  }

  func peer(of channel: UInt16, at now: Instant) -> Endpoint? {
    channels.first { $0.number == channel && now < $0.expiresAt }?.peer
  }

  /// Binds or renews a channel.
  ///
  /// - Returns: false when the channel or the peer is bound otherwise, or was until less than `coolDown` ago
  ///   (RFC 8656 sections 12 and 12.2).
  mutating func bind(
    _ number: UInt16, to peer: Endpoint, until expiry: Instant, coolDown: Interval, at now: Instant
  ) -> Bool {
    channels.removeAll { now >= $0.expiresAt + coolDown }
    guard !channels.contains(where: { ($0.number == number) != ($0.peer == peer) }) else { return false }
    channels.removeAll { $0.number == number }
    channels.append(Channel(number: number, peer: peer, expiresAt: expiry))
    return true
  }
}
