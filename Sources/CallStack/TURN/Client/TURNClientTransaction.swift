internal import CallCore
internal import STUN

extension TURNClient {
  enum Purpose: Hashable {
    case allocate
    /// Nil asks for the configured lifetime; zero releases the allocation.
    case refresh(seconds: UInt32?)
    case createPermission(IPAddress)
    case channelBind(Endpoint, number: UInt16)

    var method: STUNMethod {
      switch self {
      case .allocate: .allocate
      case .refresh: .refresh
      case .createPermission: .createPermission
      case .channelBind: .channelBind
      }
    }

    /// Whether the request is repeated with a new nonce: always, except with planted defects.
    var outlivesNonce: Bool {
      switch self {
      case .allocate: true
      case .refresh: !Defect.staleNonceFailsRefresh.isPlanted
      case .createPermission: !Defect.staleNonceFailsPermission.isPlanted
      case .channelBind: !Defect.staleNonceFailsChannel.isPlanted
      }
    }
  }

  /// A pending request.
  struct Transaction {
    let purpose: Purpose
    let id: STUNTransactionID
    let bytes: [UInt8]
    let isAuthenticated: Bool
    /// The number of stale nonces before this request.
    let staleNonces: Int
    var timer: STUNTransactionTimer
  }

  /// The authentication state, from the server's challenge and the credentials.
  struct Session {
    let realm: String
    let nonce: String
    let key: STUNKey
  }

  /// The permission for a peer's address.
  struct Permission {
    let address: IPAddress
    /// The expiry; nil until granted.
    var expiresAt: Instant?
    /// The time of the next renewal; nil while a request is pending.
    var refreshAt: Instant?
    /// The reason why there is neither a permission nor a pending request.
    var failure: TURNClient.Failure?
    /// The time of the last payload to the address, or of the request; nil for a permission that is kept.
    var lastUsedAt: Instant?

    func isGranted(at now: Instant) -> Bool { expiresAt.map { now < $0 } ?? false }
  }

  /// A payload that waits for a permission.
  struct Waiting {
    let peer: Endpoint
    let payload: [UInt8]
    let bindsChannel: Bool
  }

  /// The channel of a peer. A peer keeps its number as long as the allocation lives, which satisfies the five-minute
  /// rule against rebinding (RFC 8656 section 12).
  struct Channel {
    let peer: Endpoint
    let number: UInt16
    /// The expiry; nil until bound.
    var expiresAt: Instant?
    /// The time of the next binding; nil while a request is pending.
    var refreshAt: Instant?

    func isBound(at now: Instant) -> Bool { expiresAt.map { now < $0 } ?? false }
  }
}
