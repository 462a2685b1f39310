internal import CallCore

/// The lengths of the parts that protection leaves in clear.
enum PacketShape {
  /// The size of an RTCP header with its source (RFC 3550 section 6.1).
  static let rtcpHeaderSize = 8

  /// Returns the size of the whole RTP header (RFC 3550 section 5.1); nil if `packet` does not begin with one, followed
  /// by at least `trailer` bytes.
  static func rtpHeaderSize(_ packet: RawSpan, trailer: Int) -> Int? {
    guard let first = packet.byte(at: 0), first >> 6 == 2 else { return nil }
    var header = 12 + 4 * Int(first & 0x0F)
    if first & 0x10 != 0 {
      guard let words = packet.bigEndian(UInt16.self, at: header + 2) else { return nil }
      header += 4 + 4 * Int(words)
    }
    return packet.byteCount >= header + trailer ? header : nil
  }

  /// Returns whether `packet` begins with an RTCP header and a source, followed by at least `trailer` bytes.
  static func isRTCP(_ packet: RawSpan, trailer: Int) -> Bool {
    guard let first = packet.byte(at: 0), first >> 6 == 2 else { return false }
    return packet.byteCount >= rtcpHeaderSize + trailer
  }
}
