/// Lower-case hexadecimal text.
package enum Hexadecimal {
  private static let digits = [UInt8]("0123456789abcdef".utf8)

  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes `text` in either case, ignoring white space; returns nil if it is not hexadecimal.
  package static func decode(_ text: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text where !character.isWhitespace {
      guard let value = character.hexDigitValue, character.isASCII else { return nil }
      if let first = high {
        bytes.append(first << 4 | UInt8(value))
        high = nil
      } else {
        high = UInt8(value)
      }
    }
    return high == nil ? bytes : nil
  }
}
