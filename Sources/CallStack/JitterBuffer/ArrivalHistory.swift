import CallCore

/// How long the packets of the last two seconds of media travelled, compared with each other: no clock is compared with
/// another, and drift within two seconds is negligible.
struct ArrivalHistory: Sendable {
  private struct Arrival {
    var timestamp: Int64
    /// Arrival minus timestamp, in nanoseconds: the time travelled and an unknown constant.
    var travel: Int64
  }

  /// At 48 kHz.
  static let window: Int64 = 2 * 48_000

  // Each keeps what can still become the extreme when older packets leave the window, so its first is the extreme.
  private var fastest: [Arrival] = []
  private var slowest: [Arrival] = []
  private var newest: Int64?

  /// - Parameter timestamp: unwrapped, at 48 kHz.
  /// - Returns: false for a packet older than the newest, which the window leaves out.
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

  /// How much longer than the fastest packet's the travel of media with this timestamp is when it ends now.
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
