public import CallCore
public import STUN

extension TURNServer {
  /// What the driver must do with sockets.
  public enum Event: Hashable, Sendable {
    /// Open a datagram socket here and hand what arrives to ``TURNServer/receive(_:on:at:)``. Say
    /// ``TURNServer/relayOpened(_:at:)`` when that is done, or ``TURNServer/relayUnavailable(_:at:)`` when it cannot be:
    /// the client waits for its answer.
    case openRelay(Endpoint, client: Endpoint, username: String)
    case closeRelay(Endpoint, client: Endpoint, reason: EndReason)
  }

  /// Why a relay is closed; the raw values are the words in traces.
  public enum EndReason: String, Hashable, Sendable {
    /// The client gave the allocation back.
    case released
    case expired
    case restarted
    /// The client's connection ended.
    case disconnected
    /// The driver could not open the socket.
    case unavailable
  }

  public struct Counters: Hashable, Sendable {
    public var requests: UInt64 = 0
    public var successes: UInt64 = 0
    /// 401 and 438: the ordinary way to hand out a nonce.
    public var challenges: UInt64 = 0
    public var errors: UInt64 = 0
    /// Of the errors, those that ``TURNServer/setRejection(_:of:)`` asked for, by method.
    public var rejections: [STUNMethod: UInt64] = [:]
    /// Of the challenges, those for a nonce that ``TURNServer/expireNonces()`` made stale before its time.
    public var withdrawnNonces: UInt64 = 0
    /// Data that was dropped for want of a permission, or not carried by a channel, that ``TURNServer/expirePermissions()``
    /// or ``TURNServer/expireChannels()`` ended before its time.
    public var missedPermissions: UInt64 = 0
    public var missedChannels: UInt64 = 0
    /// Retransmitted Allocate requests answered as before.
    public var replays: UInt64 = 0
    public var malformed: UInt64 = 0
    public var relayedToPeers: UInt64 = 0
    public var relayedToClients: UInt64 = 0
    /// Data from either side for which there is no permission, or none any more.
    public var droppedWithoutPermission: UInt64 = 0
    /// ChannelData of a channel that is not bound, or no longer.
    public var droppedWithoutChannel: UInt64 = 0
    public var droppedWithoutAllocation: UInt64 = 0
    /// A peer's payload that does not fit a datagram once wrapped.
    public var droppedTooLarge: UInt64 = 0
  }
}

extension TURNServer.EndReason: CustomStringConvertible {
  public var description: String {
    switch self {
    case .released: "the client gave it back"
    case .expired: "it was not renewed in time"
    case .restarted: "the server restarted"
    case .disconnected: "the client's connection ended"
    case .unavailable: "no socket could be opened for it"
    }
  }
}
