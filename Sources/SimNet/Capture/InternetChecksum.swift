import CallCore

/// The one's complement sum of IP, UDP and TCP (RFC 1071).
struct InternetChecksum {
  private var sum: UInt64 = 0

  /// Adds bytes at an even offset of the sum; an odd last byte is padded with zero.
  mutating func add(_ bytes: RawSpan) {
    var offset = 0
    while let word = bytes.bigEndian(UInt16.self, at: offset) {
      sum &+= UInt64(word)
      offset += 2
    }
    if let last = bytes.byte(at: offset) { sum &+= UInt64(last) << 8 }
  }

  mutating func add(_ value: UInt32) { sum &+= UInt64(value >> 16) &+ UInt64(value & 0xFFFF) }

  mutating func add(_ address: IPAddress) {
    guard address.isIPv6 else { return add(address.v4Bits) }
    for word in [address.high, address.low] {
      add(UInt32(truncatingIfNeeded: word >> 32))
      add(UInt32(truncatingIfNeeded: word))
    }
  }

  /// The checksum to put into a header.
  var value: UInt16 {
    var folded = sum
    while folded > 0xFFFF { folded = (folded >> 16) &+ (folded & 0xFFFF) }
    return ~UInt16(folded)
  }
}
