package import CallCore
package import RTP

/// Numbers the packets of a transport as they leave, and learns from feedback what became of each
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
package struct TransportSequencer: Sendable {
  /// What feedback says of a packet.
  package struct Result: Hashable, Sendable, BitwiseCopyable {
    package let byteCount: Int
    package let sent: Instant
    /// By the far side's clock, of which only differences mean something; nil for a packet that has not come.
    package let arrived: Instant?
  }

  private struct Packet: BitwiseCopyable {
    var sent: Instant
    var byteCount: Int32
    /// Whether nobody has said that it arrived.
    var isOpen: Bool
  }

  /// The packets from ``oldest`` to ``next``, each at its number modulo the ring's size, which is a power of two.
  private var ring: [Packet] = []
  private var oldest: Int64
  private var next: Int64
  /// The highest number that has arrived, and the bytes of those above it.
  private var highestArrived: Int64
  package private(set) var bytesInFlight = 0
  /// The reference times of feedback, whose 24 bits are the highest of these 32.
  private var references = Unwrapper<UInt32>()
  private var lastFeedback: UInt8?
  /// Feedback that was lost on its way, by its numbers.
  package private(set) var lostFeedbackCount = 0

  /// How long packets are remembered.
  private static let memory = Interval.seconds(60)
  /// Numbers further apart can be taken for one another.
  private static let limit = 1 << 15

  /// - Parameter first: the first number to give out.
  package init(first: UInt16 = 1) {
    oldest = Int64(first)
    next = Int64(first)
    highestArrived = Int64(first) - 1
  }

  /// How many packets are remembered.
  package var count: Int { Int(next - oldest) }

  /// The number of a packet that leaves.
  ///
  /// - Parameter byteCount: its size, before protection.
  package mutating func assign(byteCount: Int, at now: Instant) -> UInt16 {
    while oldest < next, now - ring[place(oldest)].sent > Self.memory || count >= Self.limit {
      if oldest > highestArrived { land(oldest) }
      oldest += 1
    }
    if count == ring.count { grow() }
    ring[place(next)] = Packet(sent: now, byteCount: Int32(clamping: byteCount), isOpen: true)
    bytesInFlight += byteCount
    next += 1
    return UInt16(truncatingIfNeeded: next - 1)
  }

  /// Takes feedback, and appends what it says of each packet that is remembered, by number. A packet that has not come may
  /// yet be told of as arrived; one that has is told of once.
  package mutating func receive(_ feedback: TransportFeedback, into results: inout [Result]) {
    count(feedback.feedbackNumber)
    // What is told of has been sent: the first number is the nearest one below those that were given out.
    let raw = UInt32(bitPattern: feedback.referenceTime) << 8
    let reference = TransportFeedback.referenceUnit * (references.unwrap(raw) >> 8)
    let distance = UInt16(truncatingIfNeeded: next - 1) &- feedback.firstNumber
    let first = Defect.feedbackNumbersNotExtended.isPlanted ? Int64(feedback.firstNumber) : next - 1 - Int64(distance)
    var clock = Instant.zero + reference
    var untold = first
    for arrival in feedback.arrivals {
      let number = first + Int64(arrival.index)
      guard number < next else { break }
      clock += TransportFeedback.tick * Int64(arrival.delta)
      for missing in max(untold, oldest)..<max(untold, oldest, number) { tell(missing, arrived: nil, to: &results) }
      if number >= oldest { tell(number, arrived: clock, to: &results) }
      untold = number + 1
    }
    let end = min(first + Int64(feedback.count), next)
    for missing in max(untold, oldest)..<max(untold, oldest, end) { tell(missing, arrived: nil, to: &results) }
  }

  /// Feedback that comes after a later one was taken for lost.
  private mutating func count(_ feedback: UInt8) {
    guard let last = lastFeedback else {
      lastFeedback = feedback
      return
    }
    switch feedback &- last {
    case 0: break
    case let step where step < 128:
      lostFeedbackCount += Int(step) - 1
      lastFeedback = feedback
    default: lostFeedbackCount = max(0, lostFeedbackCount - 1)
    }
  }

  private mutating func tell(_ number: Int64, arrived: Instant?, to results: inout [Result]) {
    let packet = ring[place(number)]
    guard packet.isOpen else { return }
    results.append(Result(byteCount: Int(packet.byteCount), sent: packet.sent, arrived: arrived))
    guard arrived != nil else {
      if Defect.missingIsLostForEver.isPlanted { ring[place(number)].isOpen = false }
      return
    }
    ring[place(number)].isOpen = false
    land(number)
  }

  /// What was sent before a packet that has arrived is in flight no more: it has arrived or is lost.
  private mutating func land(_ number: Int64) {
    guard number > highestArrived else { return }
    for landed in max(highestArrived + 1, oldest)...number { bytesInFlight -= Int(ring[place(landed)].byteCount) }
    highestArrived = number
  }

  private func place(_ number: Int64) -> Int { Int(number & Int64(ring.count - 1)) }

  private mutating func grow() {
    var larger = Array(repeating: Packet(sent: .zero, byteCount: 0, isOpen: false), count: max(64, ring.count * 2))
    for number in oldest..<next { larger[Int(number & Int64(larger.count - 1))] = ring[place(number)] }
    ring = larger
  }
}
