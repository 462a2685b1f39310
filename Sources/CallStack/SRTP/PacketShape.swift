internal import CallCore

/// The length checks that a packet must pass before libsrtp, which does not make them.
enum PacketShape {
  /// Returns whether `packet` begins with a whole RTP header (RFC 3550 section 5.1), followed by at least `trailer`
  /// bytes.
  static func isRTP(_ packet: RawSpan, trailer: Int) -> Bool {
    guard let first = packet.byte(at: 0), first >> 6 == 2 else { return false }
    var header = 12 + 4 * Int(first & 0x0F)
    if first & 0x10 != 0 {
      guard let words = packet.bigEndian(UInt16.self, at: header + 2) else { return false }
      header += 4 + 4 * Int(words)
    }
    return packet.byteCount >= header + trailer
  }

  /// Returns whether `packet` begins with an RTCP header and a source (RFC 3550 section 6.1), followed by at least
  /// `trailer` bytes.
  static func isRTCP(_ packet: RawSpan, trailer: Int) -> Bool {
    guard let first = packet.byte(at: 0), first >> 6 == 2 else { return false }
    return packet.byteCount >= 8 + trailer
  }
}
