internal import CallCore
internal import STUN

extension TURNClient {
  enum Purpose: Hashable {
    case allocate
    /// Nil asks for the usual lifetime again; zero gives the allocation back.
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

    /// Whether the request is made again with a new nonce. Every one is: this is the list of those that others forgot.
    var outlivesNonce: Bool {
      switch self {
      case .allocate: true
      case .refresh: !Defect.staleNonceFailsRefresh.isPlanted
      case .createPermission: !Defect.staleNonceFailsPermission.isPlanted
      case .channelBind: !Defect.staleNonceFailsChannel.isPlanted
      }
    }
  }

  /// A request under way.
  struct Transaction {
    let purpose: Purpose
    let id: STUNTransactionID
    let bytes: [UInt8]
    let isAuthenticated: Bool
    /// How many stale nonces led to this request.
    let staleNonces: Int
    var timer: STUNTransactionTimer
  }

  /// What the server's challenge and the credentials make together.
  struct Session {
    let realm: String
    let nonce: String
    let key: STUNKey
  }

  /// The permission for a peer's address.
  struct Permission {
    let address: IPAddress
    /// Nil until granted.
    var expiresAt: Instant?
    /// Nil while a request is under way.
    var refreshAt: Instant?
    /// Why there is none and no request under way.
    var failure: TURNClient.Failure?
    /// When something was last sent there, or when the permission was asked for; nil for one that is kept.
    var lastUsedAt: Instant?

    func isGranted(at now: Instant) -> Bool { expiresAt.map { now < $0 } ?? false }
  }

  /// A payload that waits for its permission.
  struct Waiting {
    let peer: Endpoint
    let payload: [UInt8]
    let bindsChannel: Bool
  }

  /// The channel of a peer. A peer keeps its number for as long as the allocation lives, so that the five-minute
  /// rule against rebinding (RFC 8656 section 12) cannot be broken.
  struct Channel {
    let peer: Endpoint
    let number: UInt16
    /// Nil until bound.
    var expiresAt: Instant?
    /// When to bind again. Nil while a request is under way.
    var refreshAt: Instant?

    func isBound(at now: Instant) -> Bool { expiresAt.map { now < $0 } ?? false }
  }
}
