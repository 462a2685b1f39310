package import CallCore
package import STUN

extension TURNClient {
  /// The families of relayed addresses that a client asks for (RFC 8656 section 7.1).
  package enum RelayFamily: Hashable, Sendable {
    /// The request has no family attribute: IPv4 is the default.
    case ipv4
    /// REQUESTED-ADDRESS-FAMILY with IPv6.
    case ipv6
    /// ADDITIONAL-ADDRESS-FAMILY: IPv4 and IPv6. A server that does not know the attribute gives IPv4.
    case both
  }

  package struct Configuration: Sendable {
    package var server: Endpoint
    /// The transport to the server. From the server to peers it is always UDP.
    package var transport: Path.Transport
    package var credentials: TURNCredentials
    /// The family of the relayed address. If the server has no relay of it (440), the client requests the other one,
    /// once.
    package var family: RelayFamily
    /// The requested lifetime; nil leaves it to the server.
    package var lifetime: Interval?
    /// The time before its expiry at which an allocation is refreshed; at most half the lifetime.
    package var refreshMargin: Interval
    /// The interval at which a permission is renewed; it lives five minutes.
    package var permissionRefresh: Interval
    /// The interval at which a channel binding is renewed; it lives ten minutes. Each renewal also renews the
    /// permission, which is not renewed separately if this interval is short enough.
    package var channelRefresh: Interval
    /// The time for which the client renews a permission requested by ``TURNClient/send(_:to:bindsChannel:at:)``, and
    /// its channels, without data to the peer; nil for the lifetime of the allocation.
    package var unusedPermissionLifetime: Interval?
    /// The number of payloads sent to a peer in Send indications before a channel is bound; nil never binds one.
    package var indicationsBeforeChannel: Int?
    /// The maximum number of payloads that wait for permissions, over all peers; the oldest is dropped for a new one.
    package var queueLimit: Int
    /// The maximum number of successive stale nonces of one request.
    package var staleNonceLimit: Int
    /// The maximum number of redirections.
    package var redirectLimit: Int
    /// The retransmission policy over UDP; over a connection requests are not retransmitted.
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
