package import CallCore
package import STUN

extension TURNServer {
  /// An address whose ports are allocated as relayed addresses.
  package struct Relay: Hashable, Sendable {
    /// The local address of the sockets.
    package var address: IPAddress
    /// The address that clients are given. It differs if the server is behind a NAT; a wrong one makes relays
    /// unreachable.
    package var advertised: IPAddress

    package init(_ address: IPAddress, advertised: IPAddress? = nil) {
      self.address = address
      self.advertised = advertised ?? address
    }
  }

  package struct Configuration: Sendable {
    package var realm: String
    package var credentials: TURNCredentialStore
    /// The relays, of which the first of each family is used.
    package var relays: [Relay]
    package var relayPorts: ClosedRange<UInt16>
    package var defaultLifetime: Interval
    package var maximumLifetime: Interval
    package var permissionLifetime: Interval
    package var channelLifetime: Interval
    /// The channel numbers that may be bound: those of RFC 8656, or ``ChannelData/formerNumbers`` for older clients
    /// too.
    package var channelNumbers: ClosedRange<UInt16>
    /// The time after the end of a binding in which neither its channel nor its peer may be bound differently.
    package var channelCoolDown: Interval
    package var nonceLifetime: Interval
    /// The time for which a port reserved by EVEN-PORT waits for its RESERVATION-TOKEN.
    package var reservationLifetime: Interval
    /// The maximum number of allocations of a user; nil for no limit.
    package var userQuota: Int?
    package var totalQuota: Int?
    /// The maximum number of permissions, and of channels, of an allocation; more are refused with 508 (RFC 8656
    /// section 10.2).
    package var permissionLimit: Int
    /// Peers that are refused with 403, unless ``allowedPeers`` contains them.
    package var deniedPeers: [IPPrefix]
    package var allowedPeers: [IPPrefix]
    package var software: String?
    /// The other sockets of a server that also supports the NAT behaviour tests of RFC 5780.
    package var behaviorDiscovery: STUNBindingServer.BehaviorDiscovery?

    package init(
      realm: String, credentials: TURNCredentialStore, relays: [Relay],
      relayPorts: ClosedRange<UInt16> = 49_152...65_535, defaultLifetime: Interval = .seconds(600),
      maximumLifetime: Interval = .seconds(3_600), permissionLifetime: Interval = .seconds(300),
      channelLifetime: Interval = .seconds(600),
      channelNumbers: ClosedRange<UInt16> = ChannelData.numbers, channelCoolDown: Interval = .seconds(300),
      nonceLifetime: Interval = .seconds(600), reservationLifetime: Interval = .seconds(30), userQuota: Int? = nil,
      totalQuota: Int? = nil, permissionLimit: Int = 1_000, deniedPeers: [IPPrefix] = Configuration.unroutablePeers,
      allowedPeers: [IPPrefix] = [],
      software: String? = nil, behaviorDiscovery: STUNBindingServer.BehaviorDiscovery? = nil
    ) {
      self.realm = realm
      self.credentials = credentials
      self.relays = relays
      self.relayPorts = relayPorts
      self.defaultLifetime = defaultLifetime
      self.maximumLifetime = maximumLifetime
      self.permissionLifetime = permissionLifetime
      self.channelLifetime = channelLifetime
      self.channelNumbers = channelNumbers
      self.channelCoolDown = channelCoolDown
      self.nonceLifetime = nonceLifetime
      self.reservationLifetime = reservationLifetime
      self.userQuota = userQuota
      self.totalQuota = totalQuota
      self.permissionLimit = permissionLimit
      self.deniedPeers = deniedPeers
      self.allowedPeers = allowedPeers
      self.software = software
      self.behaviorDiscovery = behaviorDiscovery
    }

    /// Addresses that would let clients reach the relay's own host and network: loopback, "this network", link-local
    /// (including the metadata services of clouds), multicast and reserved ones; and IPv6 addresses that embed an IPv4
    /// address and would bypass the rules for it: mapped, NAT64 (RFC 6052) and 6to4.
    package static let unroutablePeers = [
      "127.0.0.0/8", "0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "::1/128", "::/128", "fe80::/10",
      "ff00::/8", "::ffff:0:0/96", "64:ff9b::/96", "2002::/16",
    ].compactMap { IPPrefix($0) }

    func permits(_ peer: IPAddress) -> Bool {
      allowedPeers.contains { $0.contains(peer) } || !deniedPeers.contains { $0.contains(peer) }
    }

    func relay(_ family: STUNAddressFamily) -> Relay? {
      relays.first { STUNAddressFamily($0.address) == family }
    }
  }
}
