extension UInt8 {
  /// `ice-char` of RFC 8839 section 5.4, which credentials and foundations consist of: letters, digits, `+` and `/`.
  public var isICECharacter: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }
}
