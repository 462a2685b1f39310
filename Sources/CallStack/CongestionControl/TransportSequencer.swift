package import CallCore
package import RTP

/// Numbers the packets of a transport when they are sent, and evaluates feedback about them
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
package struct TransportSequencer: Sendable {
  /// The feedback about one packet, whatever the format of the feedback.
  package struct Result: Hashable, Sendable, BitwiseCopyable {
    /// The packet's number, which does not wrap.
    package var number: Int64
    package var byteCount: Int
    package var sent: Instant
    /// The arrival by the remote clock, of which only differences are meaningful; nil for a packet that has not
    /// arrived.
    package var arrived: Instant?
    /// The number of the probe cluster that the packet was part of.
    package var probe: Int32?
    /// The bytes of packets without a number, sent between the numbered packet before this one and this one.
    package var unnumberedByteCount = 0
  }

  private struct Packet: BitwiseCopyable {
    var sent: Instant
    var byteCount: Int32
    var unnumberedByteCount: Int32 = 0
    /// The probe cluster; zero outside of one.
    var probe: Int32 = 0
    /// Whether its arrival has not been reported.
    var isOpen: Bool
  }

  /// The packets from ``oldest`` to ``next``, each at its number modulo the ring's size, which is a power of two.
  private var ring: [Packet] = []
  private var oldest: Int64
  private var next: Int64
  /// The highest number that has arrived, and the number of bytes sent after it.
  private var highestArrived: Int64
  private var unnumberedByteCount = 0
  package private(set) var bytesInFlight = 0
  /// Extends the reference times of feedback, whose 24 bits are the highest of these 32.
  private var references = Unwrapper<UInt32>()
  private var lastFeedback: UInt8?
  /// The number of lost feedback packets, from gaps in their numbers.
  package private(set) var lostFeedbackCount = 0

  /// The time for which packets are kept.
  private static let memory = Interval.seconds(60)
  /// The maximum number of packets kept, because numbers further apart are ambiguous.
  private static let limit = 1 << 15

  /// - Parameter first: the first number.
  package init(first: UInt16 = 1) {
    oldest = Int64(first)
    next = Int64(first)
    highestArrived = Int64(first) - 1
  }

  /// The number of packets kept.
  package var count: Int { Int(next - oldest) }

  /// Returns the number of a packet that is sent.
  ///
  /// - Parameters:
  ///   - byteCount: the packet's size before protection.
  ///   - probe: the number of the probe cluster that the packet is part of.
  package mutating func assign(byteCount: Int, probe: Int32? = nil, at now: Instant) -> UInt16 {
    while oldest < next, now - ring[place(oldest)].sent > Self.memory || count >= Self.limit {
      if oldest > highestArrived { land(oldest) }
      oldest += 1
    }
    if count == ring.count { grow() }
    ring[place(next)] = Packet(
      sent: now, byteCount: Int32(clamping: byteCount), unnumberedByteCount: Int32(clamping: unnumberedByteCount),
      probe: probe ?? 0, isOpen: true)
    unnumberedByteCount = 0
    bytesInFlight += byteCount
    next += 1
    return UInt16(truncatingIfNeeded: next - 1)
  }

  /// Notes a packet that is sent without a number, such as audio beside numbered video: it uses bandwidth too.
  package mutating func sentUnnumbered(byteCount: Int) { unnumberedByteCount += byteCount }

  /// Takes feedback, and appends a result for each packet that is kept, by number. A missing packet may be reported as
  /// received later; a received one is reported once.
  package mutating func receive(_ feedback: TransportFeedback, into results: inout [Result]) {
    count(feedback.feedbackNumber)
    // Reported packets have been sent, so the first number is the nearest one at or below the last assigned number.
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

  /// Counts lost feedback. Late feedback had been counted as lost.
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
    results.append(
      Result(
        number: number, byteCount: Int(packet.byteCount), sent: packet.sent, arrived: arrived,
        probe: packet.probe == 0 ? nil : packet.probe, unnumberedByteCount: Int(packet.unnumberedByteCount)))
    guard arrived != nil else {
      if Defect.missingIsLostForEver.isPlanted { ring[place(number)].isOpen = false }
      return
    }
    ring[place(number)].isOpen = false
    land(number)
  }

  /// Removes packets up to one that has arrived from the bytes in flight: they have arrived or are lost.
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
