package import CallCore

/// The reception counters of RFC 3550 for one source, by libwebrtc's rules: gaps of up to 50 sequence numbers are loss
/// or reordering (appendix A.3), a larger step that the next packet continues is a restart without loss, and jitter is
/// measured on packets in order (appendix A.8).
package struct ReceptionStatistics: Sendable {
  /// The classification of a packet by its sequence number.
  package enum Verdict: Hashable, Sendable {
    /// The source has not yet sent enough packets in sequence to be valid (appendix A.1).
    case probation
    /// In order, with `missing` numbers skipped before it.
    case advanced(missing: Int)
    /// Late, reordered, or a duplicate.
    case old
    /// A step too large for loss or reordering: if the next packet continues it, the source restarted.
    case jumped
    /// The packet after one that jumped. The numbers skipped by the jump do not count as lost; the other counters stay.
    case restarted
  }

  static let maximumReordering: Int64 = 50

  package private(set) var clockRate: UInt32
  package private(set) var received: Int64 = 0
  /// The number of packets lost since the start; duplicates can make it negative.
  package private(set) var cumulativeLost: Int64 = 0
  private var unwrapper = SequenceUnwrapper()
  private var highest: Int64 = 0
  /// The number of the last packet if it jumped. It does not count as received until the next one has arrived.
  private var jumped: UInt16?
  private let minimumSequential: Int
  private var probation: Int
  private var lastProbed: UInt16?
  private var hasStarted = false
  private var reportedHighest: Int64 = 0
  private var reportedLost: Int64 = 0
  private var last: (timestamp: UInt32, transit: UInt32)?
  /// The jitter times sixteen, as in appendix A.8.
  private var scaledJitter: UInt32 = 0

  /// - Parameter minimumSequential: the number of packets in sequence before a source is valid; 0 for sources known
  ///   from signalling.
  package init(clockRate: UInt32, minimumSequential: Int = 2) {
    self.clockRate = clockRate
    self.minimumSequential = minimumSequential
    probation = minimumSequential
  }

  /// Takes one packet's sequence number.
  package mutating func receive(sequenceNumber sequence: UInt16) -> Verdict {
    guard isValid else { return probe(sequence) }
    let number = unwrapper.peek(sequence)
    received += 1
    cumulativeLost -= 1
    if let before = jumped {
      jumped = nil
      cumulativeLost -= 1
      if sequence == before &+ 1 {
        reportedHighest = number - 2
        highest = number - 2
        advance(to: number)
        return .restarted
      }
    }
    guard abs(number - highest) <= Self.maximumReordering else {
      jumped = sequence
      cumulativeLost += 1
      return .jumped
    }
    guard number > highest else {
      if Defect.latePacketStaysLost.isPlanted { cumulativeLost += 1 }
      return .old
    }
    let missing = Int(number - highest) - 1
    advance(to: number)
    return .advanced(missing: missing)
  }

  private mutating func advance(to number: Int64) {
    cumulativeLost += number - highest
    highest = number
    _ = unwrapper.unwrap(UInt16(truncatingIfNeeded: number))
  }

  private mutating func probe(_ sequence: UInt16) -> Verdict {
    if let lastProbed, sequence == lastProbed &+ 1 {
      probation -= 1
    } else {
      probation = max(0, minimumSequential - 1)
    }
    lastProbed = sequence
    guard probation == 0 else { return .probation }
    hasStarted = true
    received = 1
    highest = unwrapper.unwrap(sequence)
    reportedHighest = highest - 1
    return .advanced(missing: 0)
  }

  /// Takes the timing of a packet in order. Retransmitted or reordered packets say nothing about jitter, and neither
  /// does the second packet of a frame.
  package mutating func receive(timestamp: UInt32, at now: Instant) {
    let transit = mediaClock(clockRate, at: now) &- timestamp
    if let last {
      guard timestamp != last.timestamp else { return }
      let difference = Int32(bitPattern: transit &- last.transit).magnitude
      // A change of more than five seconds is a new media clock, not jitter.
      if difference < clockRate &* 5 {
        scaledJitter = scaledJitter &+ difference &- ((scaledJitter &+ 8) >> 4)
      }
    }
    last = (timestamp, transit)
  }

  /// Changes the rate of the media clock: the jitter is kept in seconds, and the next packet begins a comparison.
  mutating func setClockRate(_ rate: UInt32) {
    guard rate != clockRate, clockRate > 0 else { return }
    scaledJitter = UInt32(truncatingIfNeeded: UInt64(scaledJitter) * UInt64(rate) / UInt64(clockRate))
    clockRate = rate
    last = nil
  }

  /// The interarrival jitter, in media clock ticks.
  package var jitter: UInt32 { scaledJitter >> 4 }

  /// The highest sequence number received, extended by the count of cycles.
  package var highestSequenceNumber: UInt32 { UInt32(truncatingIfNeeded: highest) }

  /// Whether the source has left probation.
  package var isValid: Bool { hasStarted }

  /// Returns the loss since the last call, in 1/256 (appendix A.3). Call it once per report.
  package mutating func takeFractionLost() -> UInt8 {
    let expected = highest - reportedHighest
    let lost = cumulativeLost - reportedLost
    reportedHighest = highest
    reportedLost = cumulativeLost
    guard expected > 0, lost > 0 else { return 0 }
    return UInt8(min(255, (lost << 8) / expected))
  }
}
