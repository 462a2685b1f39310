internal import CallCore

/// The byte and packet counters of the session's paths, for `transport` and `candidate-pair` statistics.
struct TransportTraffic {
  struct Counters {
    var bytesSent: Int64 = 0
    var bytesReceived: Int64 = 0
    var packetsSent: Int64 = 0
    var packetsReceived: Int64 = 0
    var lastSent: Instant?
    var lastReceived: Instant?
  }

  private(set) var total = Counters()
  /// The counters of each path. Few paths ever carry traffic, so an array is faster than a dictionary.
  private var paths: [(local: Endpoint, remote: Endpoint, counters: Counters)] = []
  var selectedPairChanges: Int64 = 0

  func counters(local: Endpoint, remote: Endpoint) -> Counters {
    paths.first { $0.local == local && $0.remote == remote }?.counters ?? Counters()
  }

  mutating func sent(_ byteCount: Int, on path: Path, at now: Instant) {
    total.bytesSent += Int64(byteCount)
    total.packetsSent += 1
    let index = index(of: path)
    paths[index].counters.bytesSent += Int64(byteCount)
    paths[index].counters.packetsSent += 1
    paths[index].counters.lastSent = now
  }

  /// - Parameter isPair: whether the path is a candidate pair's; others are not stored, so that a peer cannot make the
  ///   array grow.
  mutating func received(_ byteCount: Int, on path: Path, isPair: Bool, at now: Instant) {
    total.bytesReceived += Int64(byteCount)
    total.packetsReceived += 1
    guard isPair else { return }
    let index = index(of: path)
    paths[index].counters.bytesReceived += Int64(byteCount)
    paths[index].counters.packetsReceived += 1
    paths[index].counters.lastReceived = now
  }

  private mutating func index(of path: Path) -> Int {
    if let known = paths.firstIndex(where: { $0.local == path.local && $0.remote == path.remote }) { return known }
    paths.append((path.local, path.remote, Counters()))
    return paths.count - 1
  }
}
