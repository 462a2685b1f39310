internal import CallCore

/// A DATA chunk that was sent and is not yet acknowledged cumulatively.
struct OutstandingItem: Sendable {
  enum Acknowledgment {
    /// In flight.
    case none
    /// Received, by a gap block.
    case received
    /// Reported missing, or timed out.
    case missing
  }

  enum Lifecycle {
    case active
    /// Waits for its retransmission.
    case marked
    /// Will not be sent again.
    case abandoned
  }

  var fragment: OutgoingFragment
  var sentAt: Instant
  var acknowledgment = Acknowledgment.none
  var lifecycle = Lifecycle.active
  /// The number of SACKs that reported it missing since it was last sent (RFC 9260 section 7.2.4).
  var misses = 0
  var retransmissions = 0
  /// The TSN from which on an acknowledgment of others means that the last transmission is lost, too.
  var missedAbove: Int64 = .min

  var size: Int { fragment.chunk.encodedSize }
  var isInFlight: Bool { acknowledgment == .none }

  var mayBeRetransmitted: Bool { fragment.maximumRetransmissions.map { retransmissions < $0 } ?? true }
  func isExpired(at now: Instant) -> Bool { fragment.expiry.map { $0 <= now } ?? false }
}
