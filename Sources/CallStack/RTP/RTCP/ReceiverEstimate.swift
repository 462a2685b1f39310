package import CallCore

/// A receiver's estimate of the bandwidth of its path (REMB, draft-alvestrand-rmcat-remb-03 section 2.2).
package struct ReceiverEstimate: Hashable, Sendable {
  package var senderSSRC: UInt32
  /// The sources of the estimate.
  package var sources: [UInt32]
  /// The bitrate. The wire format keeps the highest eighteen binary digits.
  package var bitrate: DataRate

  package init(senderSSRC: UInt32, sources: [UInt32], bitrate: DataRate) {
    self.senderSSRC = senderSSRC
    self.sources = sources
    self.bitrate = bitrate
  }

  static let format: UInt8 = 15
  /// The identifier `REMB`.
  private static let identifier: UInt32 = 0x5245_4D42

  /// Returns whether a body of format 15, which any application may use (RFC 4585 section 6.4), is a REMB.
  static func isHeld(by body: RawSpan) -> Bool { body.bigEndian(UInt32.self, at: 8) == identifier }

  init?(parsing body: RawSpan) {
    guard let sender = body.bigEndian(UInt32.self, at: 0), let rate = body.bigEndian(UInt32.self, at: 12) else {
      return nil
    }
    let (count, exponent, mantissa) = (Int(rate >> 24), Int64(rate >> 18 & 0x3F), Int64(rate & 0x3FFFF))
    guard body.byteCount >= 16 + 4 * count, exponent < 45 else { return nil }
    senderSSRC = sender
    sources = (0..<count).compactMap { body.bigEndian(UInt32.self, at: 16 + 4 * $0) }
    bitrate = .bitsPerSecond(mantissa << exponent)
  }

  var size: Int { 16 + 4 * min(sources.count, 255) }

  func write(into output: inout OutputSpan<UInt8>) {
    var (mantissa, exponent) = (max(0, bitrate.bitsPerSecond), UInt32(0))
    while mantissa > 0x3FFFF {
      mantissa >>= 1
      exponent += 1
    }
    output.append(bigEndian: senderSSRC)
    // The media source is unused.
    output.append(bigEndian: UInt32(0))
    output.append(bigEndian: Self.identifier)
    output.append(UInt8(min(sources.count, 255)))
    output.append(UInt8(exponent << 2) | UInt8(mantissa >> 16))
    output.append(bigEndian: UInt16(truncatingIfNeeded: mantissa))
    for source in sources.prefix(255) { output.append(bigEndian: source) }
  }
}
