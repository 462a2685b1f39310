/// The CRC32c of a packet (RFC 9260 appendix A), eight bytes a step.
package struct CRC32C: Sendable {
  private var state: UInt32 = .max

  package init() {}

  /// The checksum of all bytes so far. Its least significant byte is sent first.
  package var value: UInt32 { ~state }

  /// Continues the checksum over further bytes.
  package mutating func update(_ bytes: RawSpan) {
    let tables = Self.tables.span
    var crc = state
    var offset = 0
    let count = bytes.byteCount
    while offset &+ 8 <= count {
      let word = UInt64(
        littleEndian: bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
      let low = UInt32(truncatingIfNeeded: word) ^ crc
      let high = UInt32(truncatingIfNeeded: word >> 32)
      crc =
        tables[0x700 | Int(low & 0xFF)] ^ tables[0x600 | Int(low >> 8 & 0xFF)]
        ^ tables[0x500 | Int(low >> 16 & 0xFF)] ^ tables[0x400 | Int(low >> 24)]
      crc ^=
        tables[0x300 | Int(high & 0xFF)] ^ tables[0x200 | Int(high >> 8 & 0xFF)]
        ^ tables[0x100 | Int(high >> 16 & 0xFF)] ^ tables[Int(high >> 24)]
      offset &+= 8
    }
    while offset < count {
      let byte = bytes.unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
      crc = tables[Int((crc ^ UInt32(byte)) & 0xFF)] ^ crc >> 8
      offset &+= 1
    }
    state = crc
  }

  /// Returns the checksum of `bytes`.
  package static func checksum(of bytes: RawSpan) -> UInt32 {
    var crc = CRC32C()
    crc.update(bytes)
    return crc.value
  }

  /// Eight tables of 256 entries: table n continues a byte over n zero bytes. The polynomial is reflected.
  private static let tables: [UInt32] = {
    var tables: [UInt32] = []
    tables.reserveCapacity(2_048)
    for byte in 0..<UInt32(256) {
      var crc = byte
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
      tables.append(crc)
    }
    for index in 256..<2_048 {
      let previous = tables[index - 256]
      tables.append(tables[Int(previous & 0xFF)] ^ previous >> 8)
    }
    return tables
  }()
}
