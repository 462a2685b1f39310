/// The congestion window: slow start and avoidance (RFC 5681), NewReno recovery (RFC 6582), an initial window of ten
/// segments (RFC 6928).
struct CongestionWindow {
  private(set) var bytes: Int
  private var threshold = Int.max
  private var segment: Int
  private var duplicates = 0
  /// The end of the sent data when recovery began, during recovery.
  private var recovery: SequenceNumber?

  /// The reaction to an acknowledgment.
  enum Response {
    case nothing, retransmitFirst
  }

  init(segment: Int) {
    self.segment = segment
    bytes = 10 * segment
  }

  mutating func setSegment(_ size: Int) {
    segment = size
    bytes = 10 * size
  }

  /// Handles an acknowledgment of `count` new bytes, up to `una`.
  mutating func acknowledged(_ count: Int, upTo una: SequenceNumber) -> Response {
    duplicates = 0
    if let end = recovery {
      guard una < end else {
        recovery = nil
        bytes = max(threshold, segment)
        return .nothing
      }
      // Partial: the next hole is lost as well (RFC 6582 section 3.2 step 3).
      bytes = max(bytes - count + segment, segment)
      return .retransmitFirst
    }
    let growth = bytes < threshold ? min(count, segment) : max(segment * segment / bytes, 1)
    bytes = min(bytes + growth, 1 << 30)
    return .nothing
  }

  /// Handles a duplicate acknowledgment while `inFlight` bytes up to `end` are outstanding.
  mutating func duplicate(inFlight: Int, end: SequenceNumber) -> Response {
    duplicates += 1
    if recovery != nil {
      bytes += segment
      return .nothing
    }
    guard duplicates == 3 else { return .nothing }
    threshold = max(inFlight / 2, 2 * segment)
    bytes = threshold + 3 * segment
    recovery = end
    return .retransmitFirst
  }

  mutating func timedOut(inFlight: Int) {
    threshold = max(inFlight / 2, 2 * segment)
    bytes = segment
    recovery = nil
    duplicates = 0
  }
}
