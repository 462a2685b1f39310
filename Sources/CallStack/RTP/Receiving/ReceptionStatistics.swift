public import CallCore

/// What RFC 3550 counts about one received source: appendices A.1 (validity), A.3 (loss) and A.8 (jitter).
public struct ReceptionStatistics: Sendable {
  /// What the sequence number says about a packet.
  public enum Verdict: Hashable, Sendable {
    /// The source has not yet sent enough packets in sequence to be believed.
    case probation
    /// In sequence, with `missing` numbers skipped before it.
    case advanced(missing: Int)
    /// Late, reordered, or a duplicate.
    case old
    /// A jump too far to be loss; believed only if the next packet follows it.
    case rejected
    /// The source restarted: everything counted before is forgotten.
    case restarted
  }

  static let maximumDropout: UInt16 = 3_000
  static let maximumMisorder: UInt16 = 100

  public let clockRate: UInt32
  public private(set) var received: Int64 = 0
  private var maximum: UInt16 = 0
  private var cycles: UInt32 = 0
  private var base: UInt32 = 0
  private var badSequence: UInt32 = .max
  private let minimumSequential: Int
  private var probation: Int
  private var hasStarted = false
  private var expectedPrior: Int64 = 0
  private var receivedPrior: Int64 = 0
  private var transit: UInt32?
  /// Sixteen times the jitter, as appendix A.8 keeps it.
  private var scaledJitter: UInt32 = 0

  /// - Parameter minimumSequential: packets in sequence before a source counts; 0 for sources known from signalling.
  public init(clockRate: UInt32, minimumSequential: Int = 2) {
    self.clockRate = clockRate
    self.minimumSequential = minimumSequential
    probation = minimumSequential
  }

  /// Takes one packet's sequence number (appendix A.1).
  public mutating func receive(sequenceNumber sequence: UInt16) -> Verdict {
    guard hasStarted else {
      hasStarted = true
      if probation == 0 {
        restart(at: sequence)
        received = 1
        return .advanced(missing: 0)
      }
      maximum = sequence &- 1
      return probe(sequence)
    }
    guard probation == 0 else { return probe(sequence) }
    let distance = sequence &- maximum
    if maximum &- sequence < Self.maximumMisorder {
      received += 1
      return .old
    }
    if distance < Self.maximumDropout {
      if sequence < maximum { cycles &+= 1 << 16 }
      maximum = sequence
      received += 1
      return .advanced(missing: Int(distance) - 1)
    }
    if UInt32(sequence) == badSequence {
      restart(at: sequence)
      received = 1
      return .restarted
    }
    badSequence = UInt32(sequence &+ 1)
    return .rejected
  }

  private mutating func probe(_ sequence: UInt16) -> Verdict {
    if sequence == maximum &+ 1 {
      probation -= 1
      maximum = sequence
      if probation == 0 {
        restart(at: sequence)
        received = 1
        return .advanced(missing: 0)
      }
    } else {
      probation = minimumSequential - 1
      maximum = sequence
    }
    return .probation
  }

  private mutating func restart(at sequence: UInt16) {
    base = UInt32(sequence)
    maximum = sequence
    badSequence = .max
    cycles = 0
    received = 0
    receivedPrior = 0
    expectedPrior = 0
    transit = nil
    scaledJitter = 0
  }

  /// Takes one packet's timing (appendix A.8).
  public mutating func receive(timestamp: UInt32, at now: Instant) {
    let arrival = mediaClock(clockRate, at: now) &- timestamp
    if let transit {
      let difference = Int32(bitPattern: arrival &- transit).magnitude
      // A change of more than five seconds is a new media clock, not jitter.
      if difference < clockRate &* 5 {
        scaledJitter = scaledJitter &+ difference &- ((scaledJitter &+ 8) >> 4)
      }
    }
    transit = arrival
  }

  /// The interarrival jitter, in media clock ticks.
  public var jitter: UInt32 { scaledJitter >> 4 }

  /// The highest sequence number received, extended by the count of cycles.
  public var highestSequenceNumber: UInt32 { cycles | UInt32(maximum) }

  public var expected: Int64 {
    received == 0 ? 0 : Int64(highestSequenceNumber) - Int64(base) + 1
  }

  /// Packets lost since the start; duplicates can make it negative.
  public var cumulativeLost: Int64 { expected - received }

  /// Whether the source has left probation.
  public var isValid: Bool { hasStarted && probation == 0 }

  /// The loss since the last call, in 1/256 (appendix A.3). Call it once a report.
  public mutating func takeFractionLost() -> UInt8 {
    let expectedInterval = expected - expectedPrior
    let lost = expectedInterval - (received - receivedPrior)
    expectedPrior = expected
    receivedPrior = received
    guard expectedInterval > 0, lost > 0 else { return 0 }
    return UInt8(min(255, (lost << 8) / expectedInterval))
  }
}
