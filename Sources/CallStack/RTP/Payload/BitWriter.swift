/// Writes bit fields from the highest bit of each byte on.
struct BitWriter {
  private(set) var bytes: [UInt8] = []
  /// The number of bits that were written.
  private(set) var count = 0

  /// Writes the lowest `width` bits of a value.
  mutating func write(_ value: Int, _ width: Int) {
    for bit in stride(from: width - 1, through: 0, by: -1) {
      if count & 7 == 0 { bytes.append(0) }
      if value >> bit & 1 == 1 { bytes[bytes.count - 1] |= 0x80 >> UInt8(count & 7) }
      count += 1
    }
  }

  mutating func write(_ flag: Bool) { write(flag ? 1 : 0, 1) }

  /// Writes a value below `limit`, `ns(n)` (AV1 specification section 4.10.7).
  mutating func write(_ value: Int, below limit: Int) {
    guard limit > 1 else { return }
    let width = Int.bitWidth - limit.leadingZeroBitCount
    let short = (1 << width) - limit
    if value < short { write(value, width - 1) } else { write(value + short, width) }
  }
}
