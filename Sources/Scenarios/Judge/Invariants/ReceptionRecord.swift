internal import CallCore

/// The counts that a receiver of one source must have for the packets that reached it: losses and jitter of RFC 3550
/// (appendices A.3 and A.8) with libwebrtc's rule for restarts.
///
/// It deliberately shares no code with the stack, because it judges the stack.
struct ReceptionRecord {
  private(set) var packets: Int64 = 0
  private(set) var bytes: Int64 = 0
  /// The jitter in ticks, for each of ``clockRates``: the wire does not show which clock a source has.
  private var jitters = [0.0, 0.0, 0.0, 0.0]
  /// The number of sequence numbers that the source has used, as far as known.
  private var expected: Int64 = 0
  private var highest: UInt16 = 0
  /// The number of the last packet, when its distance from the others was too large for loss or reordering. It counts
  /// as lost only after the next packet has shown whether the source restarted.
  private var doubtful: UInt16?
  /// The clock of the last claim.
  private var clockRate: Int64?
  /// Whether the last packet had a static payload type of audio, whose clock is 8 kHz (RFC 3551 section 6).
  private var isStatic: Bool?
  /// Whether packets have come since the last claim that may be by another clock.
  private var hasNewClock = false
  /// The last packet in order, and its arrival.
  private var last: (timestamp: UInt32, arrival: Instant)?

  /// The media clocks in hertz: of telephony, iSAC, Opus and video.
  private static let clockRates: [Int64] = [8_000, 16_000, 48_000, 90_000]
  private static let reorderingLimit: UInt16 = 50
  private static let lastStaticAudio: UInt8 = 23

  /// The number of lost packets; negative when packets came more than once.
  var lost: Int64 { expected - packets + (doubtful == nil ? 0 : 1) }

  /// - Parameter isTimed: whether the timestamp is that of the packet's sound, and not of the beginning of a telephone
  ///   event (RFC 4733 section 2.2.1), which does not show the transit time.
  mutating func receive(_ media: WireMedia, isTimed: Bool = true) {
    packets += 1
    bytes += Int64(media.byteCount)
    let isStatic = media.payloadType <= Self.lastStaticAudio
    if let before = self.isStatic, before != isStatic { hasNewClock = true }
    self.isStatic = isStatic
    if isInOrder(media.sequence), isTimed { time(media) }
  }

  private mutating func isInOrder(_ sequence: UInt16) -> Bool {
    let doubt = doubtful
    doubtful = nil
    if packets == 1 || doubt.map({ $0 &+ 1 }) == sequence {
      // A source starts with one packet and restarts with two: the numbers skipped before are not losses.
      expected += packets == 1 ? 1 : 2
      highest = sequence
      return true
    }
    let ahead = Int16(bitPattern: sequence &- highest)
    guard ahead.magnitude <= Self.reorderingLimit else {
      doubtful = sequence
      return false
    }
    guard ahead > 0 else { return false }
    expected += Int64(ahead)
    highest = sequence
    return true
  }

  private mutating func time(_ media: WireMedia) {
    // Packets of one frame have one timestamp, and do not show the transit time.
    guard media.timestamp != last?.timestamp else { return }
    defer { last = (media.timestamp, media.time) }
    guard let last else { return }
    let sent = Int64(Int32(bitPattern: media.timestamp &- last.timestamp))
    for (index, rate) in Self.clockRates.enumerated() {
      // In whole ticks, or a pause of five seconds is less than that here and not there.
      let difference = abs(Self.ticks(rate, at: media.time) - Self.ticks(rate, at: last.arrival) - sent)
      // A difference of five seconds or more means another media clock.
      if difference < 5 * rate { jitters[index] += (Double(difference) - jitters[index]) / 16 }
    }
  }

  private static func ticks(_ rate: Int64, at time: Instant) -> Int64 {
    let (seconds, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return seconds * rate + rest * rate / 1_000_000_000
  }

  /// Returns the jitter in seconds of a source with this clock; nil for a clock that is not known.
  ///
  /// The packet at which a source changes its clock (RFC 7160) is not to be told on the wire: from the first claim after it
  /// the jitter goes on at what is claimed.
  mutating func jitter(clockRate: Int64, claimed: Double) -> Double? {
    guard let index = Self.clockRates.firstIndex(of: clockRate) else { return nil }
    defer { (self.clockRate, hasNewClock) = (clockRate, false) }
    if hasNewClock || self.clockRate ?? clockRate != clockRate { jitters[index] = claimed * Double(clockRate) }
    return jitters[index] / Double(clockRate)
  }
}
