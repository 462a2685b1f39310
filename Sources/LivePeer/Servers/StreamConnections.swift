internal import CallCore
internal import CallSession

/// The connections that clients of a server have, and how many of them it puts up with.
///
/// Anybody can open one, so what a stranger holds is little: one address has a share of the places, a connection that
/// nothing needs is closed after a minute whatever is said on it, and when all places are taken the oldest of those
/// makes room for whoever comes.
struct StreamConnections {
  private struct Connection {
    let stream: TURNStream
    /// Since when nothing has needed it, as far as the last look says.
    var idleSince: Instant
  }

  static let limit = 1_000
  static let limitPerAddress = 100
  /// RFC 8489 section 6.2.2 leaves the time to the server.
  static let idleLimit = Interval.seconds(60)
  static let sweepPeriod = Interval.seconds(5)
  /// How many of the oldest are asked whether they are needed before a newcomer is turned away.
  private static let candidates = 16

  private var connections: [Path: Connection] = [:]
  private var counts: [IPAddress: Int] = [:]
  /// Every path in the order of arrival; those that are gone are passed over when they come up.
  private var arrivals = FIFO<Path>()

  subscript(path: Path) -> TURNStream? { connections[path]?.stream }
  var count: Int { connections.count }

  /// Who counts as one client: an IPv4 address, or the network that an IPv6 host chooses its addresses from.
  private static func holder(_ path: Path) -> IPAddress {
    let address = path.remote.address
    return address.isIPv6 ? IPAddress(v6: address.high, 0) : address
  }

  /// Says whether a newcomer is let in; the oldest connection that nothing needs may have to go for it.
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

  /// Closes what nothing has needed for ``idleLimit``.
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
    // What came up for nobody would pile up.
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
