import CallCore

/// One reception report block of an SR or RR (RFC 3550 section 6.4.1).
package struct ReportBlock: Hashable, Sendable, BitwiseCopyable {
  /// The source of the reported stream.
  package var ssrc: UInt32
  /// The loss since the previous report, in 1/256.
  package var fractionLost: UInt8
  /// The number of packets lost since the start; negative when there are more duplicates than losses. 24 bits on the
  /// wire.
  package var cumulativeLost: Int32
  package var highestSequenceNumber: UInt32
  /// The interarrival jitter, in media clock ticks.
  package var jitter: UInt32
  /// The middle 32 bits of the last SR's NTP timestamp; zero if none was received.
  package var lastSenderReport: UInt32
  /// The delay since that SR, in 1/65536 s.
  package var delaySinceLastSenderReport: UInt32

  package init(
    ssrc: UInt32, fractionLost: UInt8, cumulativeLost: Int32, highestSequenceNumber: UInt32, jitter: UInt32,
    lastSenderReport: UInt32, delaySinceLastSenderReport: UInt32
  ) {
    self.ssrc = ssrc
    self.fractionLost = fractionLost
    self.cumulativeLost = cumulativeLost
    self.highestSequenceNumber = highestSequenceNumber
    self.jitter = jitter
    self.lastSenderReport = lastSenderReport
    self.delaySinceLastSenderReport = delaySinceLastSenderReport
  }

  static let size = 24

  init?(parsing bytes: RawSpan, at offset: Int) {
    guard let ssrc = bytes.bigEndian(UInt32.self, at: offset),
      let loss = bytes.bigEndian(UInt32.self, at: offset + 4),
      let highest = bytes.bigEndian(UInt32.self, at: offset + 8),
      let jitter = bytes.bigEndian(UInt32.self, at: offset + 12),
      let lsr = bytes.bigEndian(UInt32.self, at: offset + 16),
      let dlsr = bytes.bigEndian(UInt32.self, at: offset + 20)
    else { return nil }
    self.init(
      ssrc: ssrc, fractionLost: UInt8(loss >> 24),
      // The shift pair extends the 24-bit sign.
      cumulativeLost: Int32(bitPattern: loss << 8) >> 8,
      highestSequenceNumber: highest, jitter: jitter, lastSenderReport: lsr, delaySinceLastSenderReport: dlsr)
  }

  func write(into output: inout OutputSpan<UInt8>) {
    output.append(bigEndian: ssrc)
    let lost = UInt32(bitPattern: min(max(cumulativeLost, -0x80_0000), 0x7F_FFFF)) & 0xFF_FFFF
    output.append(bigEndian: UInt32(fractionLost) << 24 | lost)
    output.append(bigEndian: highestSequenceNumber)
    output.append(bigEndian: jitter)
    output.append(bigEndian: lastSenderReport)
    output.append(bigEndian: delaySinceLastSenderReport)
  }
}
