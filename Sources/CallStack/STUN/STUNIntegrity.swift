internal import CallCore
internal import Digests

/// The computation of MESSAGE-INTEGRITY and FINGERPRINT. Both cover everything before the attribute, with the header's
/// length field set as if the attribute were the last (RFC 8489 sections 14.5 to 14.7).
enum STUNIntegrity {
  /// Returns the HMAC of `message[..<offset]` for an integrity attribute that ends at `end`.
  static func code(_ function: HashFunction, key: STUNKey, of message: RawSpan, upTo offset: Int, end: Int) -> [UInt8] {
    var hmac = HMAC(function, key: key.bytes.span.bytes)
    var start = message.bytes(in: 0..<2) ?? []
    start.append(bigEndian: UInt16(truncatingIfNeeded: end - STUNHeader.size))
    hmac.update(start.span.bytes)
    hmac.update(message.extracting(4..<offset))
    return hmac.finish()
  }

  /// Returns the value of FINGERPRINT for a message whose length field already includes the attribute.
  static func fingerprint(of message: RawSpan, upTo offset: Int) -> UInt32 {
    var crc: UInt32 = 0xFFFF_FFFF
    for index in 0..<offset {
      let byte = message.unsafeLoad(fromByteOffset: index, as: UInt8.self)
      crc = crcTable[Int((crc ^ UInt32(byte)) & 0xFF)] ^ (crc >> 8)
    }
    return ~crc ^ 0x5354_554E
  }

  /// The table of CRC-32 (ITU V.42), bit-reflected.
  private static let crcTable: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
  }
}
