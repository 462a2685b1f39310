internal import CallCore

/// The original senders of datagrams that relays forward: a forwarded datagram has the same bytes as the received one.
///
/// Pass it every datagram that a host receives. It stores the newest ``capacity`` of them, some ten seconds of a call.
struct RelayedOrigins {
  static let capacity = 4096

  private struct Key: Hashable {
    let holder: HostID
    let content: UInt64

    /// Nil for messages that only a client and its relay exchange.
    init?(_ datagram: RawSpan, at holder: HostID) {
      if let relayed = PacketContent.relayed(in: datagram) {
        content = PacketContent.identity(of: datagram.extracting(relayed))
      } else if PacketContent(datagram) != .turn {
        content = PacketContent.identity(of: datagram)
      } else {
        return nil
      }
      self.holder = holder
    }
  }

  private var origins: [Key: HostID] = [:]
  /// The stored keys; the oldest is at `next` once the capacity is reached.
  private var order: [Key] = []
  private var next = 0

  mutating func note(_ datagram: RawSpan, from origin: HostID, to holder: HostID) {
    guard origin != holder, let key = Key(datagram, at: holder), origins[key] == nil else { return }
    origins[key] = origin
    if order.count < Self.capacity {
      order.append(key)
    } else {
      origins[order[next]] = nil
      order[next] = key
      next = (next + 1) % Self.capacity
    }
  }

  /// Returns the host that sent the datagram's content to `sender`, or `sender` itself.
  func origin(of datagram: RawSpan, from sender: HostID) -> HostID {
    guard !origins.isEmpty, let key = Key(datagram, at: sender) else { return sender }
    return origins[key] ?? sender
  }
}
