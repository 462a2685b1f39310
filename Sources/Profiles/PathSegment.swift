/// A user id as a segment of a URL's path (RFC 3986 section 2.1).
enum PathSegment {
  private static let unreserved = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8)

  static func encode(_ text: String) -> String {
    var segment = ""
    for byte in text.utf8 {
      if unreserved.contains(byte) {
        segment.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let digits = String(byte, radix: 16, uppercase: true)
        segment += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
      }
    }
    return segment
  }

  /// Returns the text of a segment; nil for one that is not well-formed, or no UTF-8.
  static func decode(_ segment: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = segment.utf8
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
      guard digits.count == 2 else { return nil }
      bytes.append(UInt8(digits[0] << 4 | digits[1]))
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
