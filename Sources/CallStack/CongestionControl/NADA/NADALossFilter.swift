import CallCore

/// The loss of a path: a smoothed share of the packets of a window (RFC 8698 section 5.1.2), and the mean interval
/// between losses in packets, with the weights of RFC 5348 section 5.4.
struct NADALossFilter: Sendable {
  private static let weights = [1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2]
  private static let windowLimit = 128

  private(set) var ratio = 0.0
  private var counts = FIFO<(time: Instant, lost: Int, expected: Int)>()
  private var (lost, expected) = (0, 0)
  /// The numbers of packets between losses, the newest first.
  private var intervals: [Int] = []
  /// The packets since the last loss; nil before the first.
  private var sinceLoss: Int?

  /// Adds the packets of a feedback packet, and forgets those before the window.
  mutating func add(_ packets: [TransportSequencer.Result], window: Interval, weight: Double, at now: Instant) {
    var missing = 0
    for packet in packets {
      sinceLoss = sinceLoss.map { $0 + 1 }
      guard packet.arrived == nil else { continue }
      missing += 1
      if let interval = sinceLoss {
        if intervals.count == Self.weights.count { intervals.removeLast() }
        intervals.insert(interval, at: 0)
      }
      sinceLoss = 0
    }
    add(lost: missing, expected: packets.count, window: window, weight: weight, at: now)
  }

  /// Adds the counts of a report.
  mutating func add(lost missing: Int, expected count: Int, window: Interval, weight: Double, at now: Instant) {
    counts.append((now, missing, count))
    (lost, expected) = (lost + missing, expected + count)
    while let first = counts.first, now - first.time > window || counts.count > Self.windowLimit {
      _ = counts.popFirst()
      (lost, expected) = (lost - first.lost, expected - first.expected)
    }
    ratio += weight * (Double(lost) / Double(max(1, expected)) - ratio)
  }

  /// Whether a packet of the window was lost.
  var hasLoss: Bool { lost > 0 }

  /// Returns whether a loss is no longer ago than so many mean intervals.
  func isRecent(within multiple: Double) -> Bool {
    guard let sinceLoss else { return false }
    // Only one loss is known: its interval is at least that of the packets since.
    guard !intervals.isEmpty else { return true }
    let total = zip(intervals, Self.weights).reduce(0) { $0 + Double($1.0) * $1.1 }
    return Double(sinceLoss) <= multiple * total / Self.weights.prefix(intervals.count).reduce(0, +)
  }
}
