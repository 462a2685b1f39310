package import CallCore
package import STUN

extension TURNServer {
  /// The commands to the driver for the relays' sockets.
  package enum Event: Hashable, Sendable {
    /// Open a datagram socket here and pass received datagrams to ``TURNServer/receive(_:on:at:)``. Then call
    /// ``TURNServer/relayOpened(_:at:)``, or ``TURNServer/relayUnavailable(_:at:)`` if it cannot be opened: the client
    /// waits for its response.
    case openRelay(Endpoint, client: Endpoint, username: String)
    case closeRelay(Endpoint, client: Endpoint, reason: EndReason)
  }

  /// The reason why a relay is closed; the raw values are the names in traces.
  package enum EndReason: String, Hashable, Sendable {
    /// The client released the allocation.
    case released
    case expired
    case restarted
    /// The client's connection ended.
    case disconnected
    /// The driver could not open the socket.
    case unavailable
  }

  package struct Counters: Hashable, Sendable {
    package var requests: UInt64 = 0
    package var successes: UInt64 = 0
    /// 401 and 438, the usual responses that carry a nonce.
    package var challenges: UInt64 = 0
    package var errors: UInt64 = 0
    /// The errors caused by ``TURNServer/setRejection(_:of:)``, by method.
    package var rejections: [STUNMethod: UInt64] = [:]
    /// Those of them after which a client gives its allocation up: 401 and 437.
    package var finalRejections: UInt64 = 0
    /// The challenges caused by ``TURNServer/expireNonces()``, which made the nonce stale before its expiry.
    package var withdrawnNonces: UInt64 = 0
    /// Data that was dropped, or not sent by channel, because ``TURNServer/expirePermissions()`` or
    /// ``TURNServer/expireChannels()`` had ended the permission or the channel before its expiry.
    package var missedPermissions: UInt64 = 0
    package var missedChannels: UInt64 = 0
    /// Retransmitted Allocate requests that got the same response again.
    package var replays: UInt64 = 0
    package var malformed: UInt64 = 0
    package var relayedToPeers: UInt64 = 0
    package var relayedToClients: UInt64 = 0
    /// Data from either side without a valid permission.
    package var droppedWithoutPermission: UInt64 = 0
    /// ChannelData of an unbound or expired channel.
    package var droppedWithoutChannel: UInt64 = 0
    package var droppedWithoutAllocation: UInt64 = 0
    /// Payloads of peers that exceed the size of a datagram with the TURN header.
    package var droppedTooLarge: UInt64 = 0
  }
}

extension TURNServer.EndReason: CustomStringConvertible {
  package var description: String {
    switch self {
    case .released: "the client gave it back"
    case .expired: "it was not renewed in time"
    case .restarted: "the server restarted"
    case .disconnected: "the client's connection ended"
    case .unavailable: "no socket could be opened for it"
    }
  }
}
