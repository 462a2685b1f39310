internal import CallCore
internal import PeerSession

/// The connections of a server's clients, and their limits.
///
/// Anyone can open a connection, so three limits apply. One address has only a share of the total. An unneeded
/// connection is closed after a minute, even with traffic. At the limit, a new connection replaces the oldest unneeded.
struct StreamConnections {
  private struct Connection {
    let stream: TURNStream
    /// The start of the connection, or the last check at which it was needed.
    var idleSince: Instant
  }

  static let limit = 1_000
  static let limitPerAddress = 100
  /// The timeout of an unneeded connection, which RFC 8489 section 6.2.2 leaves to the server.
  static let idleLimit = Interval.seconds(60)
  static let sweepPeriod = Interval.seconds(5)
  /// The number of oldest connections that are checked for need before a new one is refused.
  private static let candidates = 16

  private var connections: [Path: Connection] = [:]
  private var counts: [IPAddress: Int] = [:]
  /// The paths in the order of arrival; paths of closed connections are skipped when they are reached.
  private var arrivals = FIFO<Path>()

  subscript(path: Path) -> TURNStream? { connections[path]?.stream }
  var count: Int { connections.count }

  /// Returns the address that counts as one client: an IPv4 address, or the /64 prefix in which an IPv6 host chooses
  /// its addresses.
  private static func holder(_ path: Path) -> IPAddress {
    let address = path.remote.address
    return address.isIPv6 ? IPAddress(v6: address.high, 0) : address
  }

  /// Returns whether a new connection is accepted; closes the oldest unneeded one for it if necessary.
  mutating func makeRoom(for path: Path, isNeeded: (Path) -> Bool) -> Bool {
    guard counts[Self.holder(path), default: 0] < Self.limitPerAddress else { return false }
    guard connections.count >= Self.limit else { return true }
    var asked = 0
    while asked < Self.candidates, let oldest = arrivals.popFirst() {
      guard let connection = connections[oldest] else { continue }
      asked += 1
      if isNeeded(oldest) {
        arrivals.append(oldest)
      } else {
        connection.stream.close()
        remove(oldest)
        return true
      }
    }
    return false
  }

  mutating func insert(_ stream: TURNStream, on path: Path, at now: Instant) {
    connections[path] = Connection(stream: stream, idleSince: now)
    counts[Self.holder(path), default: 0] += 1
    arrivals.append(path)
  }

  mutating func remove(_ path: Path) {
    guard connections.removeValue(forKey: path) != nil else { return }
    let holder = Self.holder(path)
    counts[holder] = counts[holder].flatMap { $0 > 1 ? $0 - 1 : nil }
  }

  /// Closes connections that have not been needed for ``idleLimit``.
  mutating func closeIdle(at now: Instant, isNeeded: (Path) -> Bool) {
    for path in Array(connections.keys) {
      guard let connection = connections[path] else { continue }
      if isNeeded(path) {
        connections[path]?.idleSince = now
      } else if now - connection.idleSince >= Self.idleLimit {
        connection.stream.close()
        remove(path)
      }
    }
    // Paths of closed connections would accumulate.
    var kept = FIFO<Path>()
    while let path = arrivals.popFirst() {
      if connections[path] != nil { kept.append(path) }
    }
    arrivals = kept
  }

  func closeAll() {
    for (_, connection) in connections { connection.stream.close() }
  }
}
