import CallCore

/// Unsigned integers of seven bits a byte, the lowest first (AV1 specification section 4.10.5).
enum LEB128 {
  /// Reads a value and moves `offset` behind it. Returns nil when it ends early, has more than eight bytes or exceeds
  /// 32 bits.
  static func read(_ bytes: RawSpan, at offset: inout Int) -> Int? {
    var (value, position) = (0, offset)
    for index in 0..<8 {
      guard let byte = bytes.byte(at: position) else { return nil }
      position += 1
      value |= Int(byte & 0x7F) << (7 * index)
      guard byte & 0x80 == 0 else { continue }
      guard value <= UInt32.max else { return nil }
      offset = position
      return value
    }
    return nil
  }

  /// Returns the number of bytes of a value.
  static func size(of value: Int) -> Int { max(1, (Int.bitWidth - value.leadingZeroBitCount + 6) / 7) }

  static func write(_ value: Int, into output: inout OutputSpan<UInt8>) {
    var rest = value
    while rest >= 0x80 {
      output.append(0x80 | UInt8(rest & 0x7F))
      rest >>= 7
    }
    output.append(UInt8(rest))
  }

  static func append(_ value: Int, to bytes: inout [UInt8]) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(0x80 | UInt8(rest & 0x7F))
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
