import CallCore

/// The rate at which packets arrive, over a window of their arrival times (r_recv of RFC 8698 section 5.1.3).
struct NADAThroughput: Sendable {
  private static let limit = 4_096

  private var packets = SlidingWindow<(arrived: Instant, byteCount: Int)>(capacity: NADAThroughput.limit)
  private var byteCount = 0
  private var start: Instant?

  mutating func add(byteCount size: Int, arrived: Instant) {
    if packets.isFull, let first = packets.first { byteCount -= first.byteCount }
    packets.append((arrived, size))
    byteCount += size
    if start == nil { start = arrived }
    while let first = packets.first, arrived - first.arrived > .seconds(1) {
      byteCount -= first.byteCount
      packets.removeFirst()
    }
  }

  /// Returns the rate; nil until packets have arrived over a window.
  func rate(over window: Interval) -> DataRate? {
    guard let last = packets.last?.arrived, let start, last - start >= window else { return nil }
    var sum = 0
    for index in 0..<packets.count where last - packets[index].arrived < window { sum += packets[index].byteCount }
    return DataRate(byteCount: sum, per: window)
  }
}
