/// What a context knows of one synchronisation source.
struct SRTPSource {
  /// The highest number of a packet that one master key protects (RFC 3711 section 9.2).
  static let highestRTPIndex: UInt64 = 1 << 48 - 1
  static let highestRTCPIndex: UInt64 = 1 << 31 - 1

  let ssrc: UInt32
  /// The RTP packets, by rollover counter and sequence number.
  var rtp = ReplayWindow()
  /// The RTCP packets, by SRTCP index.
  var rtcp = ReplayWindow()
  /// When it was heard last, in packets of the context.
  var lastHeard: UInt64 = 0

  init(_ ssrc: UInt32) { self.ssrc = ssrc }

  var rolloverCounter: UInt32? { rtp.highest.map { UInt32(truncatingIfNeeded: $0 >> 16) } }

  /// Returns the index of an RTP packet: the one nearest to the highest index (RFC 3711 section 3.3.1).
  ///
  /// Nothing comes before the first rollover.
  func rtpIndex(of sequence: UInt16) -> UInt64 {
    guard let highest = rtp.highest else { return UInt64(sequence) }
    let rollover = highest >> 16
    let difference = Int(sequence) - Int(highest & 0xFFFF)
    if difference > 0x8000, rollover > 0 { return (rollover - 1) << 16 | UInt64(sequence) }
    if difference < -0x8000 { return (rollover + 1) << 16 | UInt64(sequence) }
    return rollover << 16 | UInt64(sequence)
  }
}
