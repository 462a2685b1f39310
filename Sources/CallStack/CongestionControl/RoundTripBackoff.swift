import CallCore

/// Reduces the rate while packets take seconds, or no feedback comes at all (libwebrtc `RttBasedBackoff`).
struct RoundTripBackoff: Sendable {
  private var lastFeedback: Instant?
  private var roundTrip = Interval.zero
  private var lastSent: Instant?

  private static let limit = Interval.seconds(3)
  /// The decrease, the time between two, and the lowest rate that they lead to.
  static let factor = 0.8
  static let interval = Interval.seconds(1)
  static let floor = DataRate.kilobitsPerSecond(5)

  mutating func sent(at now: Instant) {
    // Until the first feedback, the round trip is at least the time since the first packet.
    if lastFeedback == nil { lastFeedback = now }
    lastSent = now
  }

  /// Takes the shortest round trip of a feedback packet's packets.
  mutating func feedback(_ roundTrip: Interval, at now: Instant) {
    self.roundTrip = roundTrip
    lastFeedback = now
  }

  /// Whether the round trip is too long. The time without feedback counts only while packets are sent.
  var isActive: Bool {
    guard let lastFeedback else { return false }
    return max((lastSent ?? lastFeedback) - lastFeedback, .zero) + roundTrip > Self.limit
  }
}
