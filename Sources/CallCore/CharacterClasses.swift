/// Character classes of ASCII bytes.
extension UInt8 {
  package var isASCIIDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

  package var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

  /// `ice-char` of RFC 8839 section 5.4, the characters of credentials and foundations: letters, digits, `+` and `/`.
  package var isICECharacter: Bool {
    isASCIILetter || isASCIIDigit || self == UInt8(ascii: "+") || self == UInt8(ascii: "/")
  }
}
