package import CallCore
package import STUN

extension TURNClient {
  /// The families of relayed addresses that a client asks for (RFC 8656 section 7.1).
  package enum RelayFamily: Hashable, Sendable {
    /// Nothing is said of the family: IPv4 is the default.
    case ipv4
    /// REQUESTED-ADDRESS-FAMILY.
    case ipv6
    /// ADDITIONAL-ADDRESS-FAMILY: IPv4, and IPv6 besides. A server that does not know the attribute gives IPv4.
    case both
  }

  package struct Configuration: Sendable {
    package var server: Endpoint
    /// How the server is reached. Whatever that is, what is relayed to peers goes by UDP.
    package var transport: Path.Transport
    package var credentials: TURNCredentials
    /// Of which family the relayed address is to be. What a server has no relay of (440) is asked for no more, and the
    /// other family once instead.
    package var family: RelayFamily
    /// The lifetime to ask for; nil leaves it to the server.
    package var lifetime: Interval?
    /// How long before its expiry an allocation is refreshed; never more than half the lifetime.
    package var refreshMargin: Interval
    /// How often a permission, which lives five minutes, is renewed.
    package var permissionRefresh: Interval
    /// How often a channel binding, which lives ten minutes, is renewed. Each renewal is one of the permission too, which
    /// is then not renewed for itself when channels are renewed often enough for it.
    package var channelRefresh: Interval
    /// How long a permission that ``TURNClient/send(_:to:bindsChannel:at:)`` asked for, and its channels, are renewed
    /// though nothing is sent there; nil for as long as the allocation lives.
    package var unusedPermissionLifetime: Interval?
    /// How many payloads go to a peer in Send indications before a channel is bound; nil never binds one.
    package var indicationsBeforeChannel: Int?
    /// How many payloads wait for their permission, over all peers; the oldest is dropped for a new one.
    package var queueLimit: Int
    /// How many stale nonces in a row one request survives.
    package var staleNonceLimit: Int
    /// How many alternate servers are followed.
    package var redirectLimit: Int
    /// When requests over UDP are sent again; over a connection they never are.
    package var retransmission: STUNTransactionTimer.Policy
    package var software: String?
    package var usesFingerprint: Bool

    package init(
      server: Endpoint, transport: Path.Transport = .udp, credentials: TURNCredentials,
      family: RelayFamily = .ipv4, lifetime: Interval? = nil,
      refreshMargin: Interval = .minutes(1), permissionRefresh: Interval = .minutes(4),
      channelRefresh: Interval = .minutes(9), unusedPermissionLifetime: Interval? = nil,
      indicationsBeforeChannel: Int? = 1, queueLimit: Int = 64, staleNonceLimit: Int = 5,
      redirectLimit: Int = 3, retransmission: STUNTransactionTimer.Policy = .init(), software: String? = nil,
      usesFingerprint: Bool = true
    ) {
      self.server = server
      self.transport = transport
      self.credentials = credentials
      self.family = family
      self.lifetime = lifetime
      self.refreshMargin = refreshMargin
      self.permissionRefresh = permissionRefresh
      self.channelRefresh = channelRefresh
      self.unusedPermissionLifetime = unusedPermissionLifetime
      self.indicationsBeforeChannel = indicationsBeforeChannel
      self.queueLimit = queueLimit
      self.staleNonceLimit = staleNonceLimit
      self.redirectLimit = redirectLimit
      self.retransmission = retransmission
      self.software = software
      self.usesFingerprint = usesFingerprint
    }
  }
}
