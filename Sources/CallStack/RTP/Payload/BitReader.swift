/// Reads bit fields from the highest bit of each byte on.
///
/// A read past the end gives zero and makes ``isValid`` false for good, so that a parser checks once at the end.
struct BitReader: Sendable {
  private let bytes: [UInt8]
  /// The number of bits that were read.
  private(set) var position = 0
  private(set) var isValid = true

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The number of bits that are left.
  var remaining: Int { 8 * bytes.count - position }

  mutating func invalidate() { isValid = false }

  /// Reads an unsigned integer of `count` bits, at most 32.
  mutating func bits(_ count: Int) -> UInt32 {
    guard isValid, count <= 32, count <= remaining else {
      isValid = false
      return 0
    }
    var (value, left) = (UInt32(0), count)
    while left > 0 {
      let byte = bytes[position >> 3]
      let available = 8 - position & 7
      let taken = min(available, left)
      let piece = UInt32(byte) >> UInt32(available - taken) & (1 << UInt32(taken) - 1)
      value = value << UInt32(taken) | piece
      position += taken
      left -= taken
    }
    return value
  }

  mutating func flag() -> Bool { bits(1) == 1 }

  /// Skips bits.
  mutating func skip(_ count: Int) {
    if count <= remaining { position += count } else { isValid = false }
  }

  /// Reads an unsigned Exp-Golomb code, `ue(v)` (ITU-T H.264 section 9.1).
  mutating func exponentialGolomb() -> UInt32 {
    var zeros = 0
    while isValid, !flag() { zeros += 1 }
    guard isValid, zeros < 32 else {
      isValid = false
      return 0
    }
    return zeros == 0 ? 0 : (1 << UInt32(zeros) - 1) + bits(zeros)
  }

  /// Reads a signed Exp-Golomb code, `se(v)`.
  mutating func signedExponentialGolomb() -> Int32 {
    let code = Int64(exponentialGolomb())
    return Int32(truncatingIfNeeded: code & 1 == 1 ? (code + 1) / 2 : -(code / 2))
  }

  /// Reads a value below `count`, `ns(n)` (AV1 specification section 4.10.7).
  mutating func nonSymmetric(below count: Int) -> Int {
    guard count > 1 else { return 0 }
    let width = Int.bitWidth - count.leadingZeroBitCount
    let short = (1 << width) - count
    let value = Int(bits(width - 1))
    return value < short ? value : (value << 1 | Int(bits(1))) - short
  }
}
