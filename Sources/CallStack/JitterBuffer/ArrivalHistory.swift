import CallCore

/// The travel times of packets of the last two seconds of media, relative to each other: this compares no two clocks,
/// and their drift within two seconds is negligible.
struct ArrivalHistory: Sendable {
  private struct Arrival {
    var timestamp: Int64
    /// Arrival minus timestamp in nanoseconds: the travel time plus an unknown constant.
    var travel: Int64
  }

  /// The length of the history, at 48 kHz.
  static let window: Int64 = 2 * 48_000

  // Each keeps the packets that can become the extreme when older ones leave the window, so its first one is the
  // extreme.
  private var fastest: [Arrival] = []
  private var slowest: [Arrival] = []
  private var newest: Int64?

  /// Adds a packet.
  ///
  /// - Parameter timestamp: the unwrapped timestamp at 48 kHz.
  /// - Returns: false for a packet older than the newest, which is not added.
  mutating func insert(_ timestamp: Int64, at now: Instant) -> Bool {
    if let newest, timestamp < newest { return false }
    newest = timestamp
    let arrival = Arrival(timestamp: timestamp, travel: Self.travel(timestamp, now))
    let oldest = timestamp &- Self.window
    if let first = fastest.first, first.timestamp < oldest { fastest.removeAll { $0.timestamp < oldest } }
    if let first = slowest.first, first.timestamp < oldest { slowest.removeAll { $0.timestamp < oldest } }
    while let last = fastest.last, arrival.travel <= last.travel { fastest.removeLast() }
    while let last = slowest.last, arrival.travel >= last.travel { slowest.removeLast() }
    fastest.append(arrival)
    slowest.append(arrival)
    return true
  }

  /// Returns the delay of media with this timestamp at `now`, relative to the fastest packet.
  func delay(of timestamp: Int64, at now: Instant) -> Interval {
    guard let first = fastest.first else { return .zero }
    return max(.zero, Interval(nanoseconds: Self.travel(timestamp, now) &- first.travel))
  }

  /// The delay of the slowest packet.
  var largestDelay: Interval {
    guard let slow = slowest.first, let fast = fastest.first else { return .zero }
    return Interval(nanoseconds: slow.travel &- fast.travel)
  }

  private static func travel(_ timestamp: Int64, _ now: Instant) -> Int64 {
    now.nanoseconds &- timestamp &* 62_500 / 3
  }
}
