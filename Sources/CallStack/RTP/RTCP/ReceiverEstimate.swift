package import CallCore

/// What a receiver believes that its path takes (REMB, draft-alvestrand-rmcat-remb-03 section 2.2).
package struct ReceiverEstimate: Hashable, Sendable {
  package var senderSSRC: UInt32
  /// The sources it is about.
  package var sources: [UInt32]
  /// On the wire it has eighteen digits: smaller ones are cut off.
  package var bitrate: DataRate

  package init(senderSSRC: UInt32, sources: [UInt32], bitrate: DataRate) {
    self.senderSSRC = senderSSRC
    self.sources = sources
    self.bitrate = bitrate
  }

  static let format: UInt8 = 15
  /// `REMB`
  private static let identifier: UInt32 = 0x5245_4D42

  /// Format 15 is for everything that applications agree on (RFC 4585 section 6.4).
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
    // Its media source is unused.
    output.append(bigEndian: UInt32(0))
    output.append(bigEndian: Self.identifier)
    output.append(UInt8(min(sources.count, 255)))
    output.append(UInt8(exponent << 2) | UInt8(mantissa >> 16))
    output.append(bigEndian: UInt16(truncatingIfNeeded: mantissa))
    for source in sources.prefix(255) { output.append(bigEndian: source) }
  }
}
