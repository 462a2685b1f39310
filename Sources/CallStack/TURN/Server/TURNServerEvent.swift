package import CallCore
package import STUN

extension TURNServer {
  /// What the driver must do with sockets.
  package enum Event: Hashable, Sendable {
    /// Open a datagram socket here and hand what arrives to ``TURNServer/receive(_:on:at:)``. Say
    /// ``TURNServer/relayOpened(_:at:)`` when that is done, or ``TURNServer/relayUnavailable(_:at:)`` when it cannot be:
    /// the client waits for its answer.
    case openRelay(Endpoint, client: Endpoint, username: String)
    case closeRelay(Endpoint, client: Endpoint, reason: EndReason)
  }

  /// Why a relay is closed; the raw values are the words in traces.
  package enum EndReason: String, Hashable, Sendable {
    /// The client gave the allocation back.
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
    /// 401 and 438: the ordinary way to hand out a nonce.
    package var challenges: UInt64 = 0
    package var errors: UInt64 = 0
    /// Of the errors, those that ``TURNServer/setRejection(_:of:)`` asked for, by method.
    package var rejections: [STUNMethod: UInt64] = [:]
    /// Of the challenges, those for a nonce that ``TURNServer/expireNonces()`` made stale before its time.
    package var withdrawnNonces: UInt64 = 0
    /// Data that was dropped for want of a permission, or not carried by a channel, that ``TURNServer/expirePermissions()``
    /// or ``TURNServer/expireChannels()`` ended before its time.
    package var missedPermissions: UInt64 = 0
    package var missedChannels: UInt64 = 0
    /// Retransmitted Allocate requests answered as before.
    package var replays: UInt64 = 0
    package var malformed: UInt64 = 0
    package var relayedToPeers: UInt64 = 0
    package var relayedToClients: UInt64 = 0
    /// Data from either side for which there is no permission, or none any more.
    package var droppedWithoutPermission: UInt64 = 0
    /// ChannelData of a channel that is not bound, or no longer.
    package var droppedWithoutChannel: UInt64 = 0
    package var droppedWithoutAllocation: UInt64 = 0
    /// A peer's payload that does not fit a datagram once wrapped.
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
