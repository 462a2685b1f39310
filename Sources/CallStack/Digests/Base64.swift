/// Base64 with the standard alphabet and padding (RFC 4648 section 4).
package enum Base64 {
  private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits: UInt32 = 0
      for byte in group { bits = bits << 8 | UInt32(byte) }
      bits <<= UInt32(8 * (3 - group.count))
      for position in 0..<4 {
        let digit = Int(bits >> UInt32(18 - 6 * position)) & 63
        text.append(position <= group.count ? alphabet[digit] : padding)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes `text`; returns nil if it is not canonical base64: wrong alphabet, length or padding, or stray bits in the
  /// last digit.
  package static func decode(_ text: String) -> [UInt8]? {
    let digits = [UInt8](text.utf8)
    guard digits.count % 4 == 0 else { return nil }
    let padded = digits.suffix(2).reversed().prefix { $0 == padding }.count
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 4 * 3)
    var bits: UInt32 = 0
    var held: UInt32 = 0
    for digit in digits.dropLast(padded) {
      guard let value = value(of: digit) else { return nil }
      bits = bits << 6 | value
      held += 6
      if held >= 8 {
        held -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> held))
        bits &= (1 << held) - 1
      }
    }
    return bits == 0 ? bytes : nil
  }

  private static func value(of digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
