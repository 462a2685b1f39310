internal import CallCore

/// Who gave a relay what it forwards: the datagrams that it sends carry the same bytes as those that it got.
///
/// Show it what every host gets. It remembers the newest ``capacity`` of them, some ten seconds of a call.
struct RelayedOrigins {
  static let capacity = 4096

  private struct Key: Hashable {
    let holder: HostID
    let content: UInt64

    /// Nil for what is between a client and its relay alone.
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
  /// The oldest is at `next` once there are as many as may be.
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

  /// Who gave `sender` what the datagram carries, or `sender` itself.
  func origin(of datagram: RawSpan, from sender: HostID) -> HostID {
    guard !origins.isEmpty, let key = Key(datagram, at: sender) else { return sender }
    return origins[key] ?? sender
  }
}
