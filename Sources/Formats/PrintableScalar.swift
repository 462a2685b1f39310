extension Unicode.Scalar {
  /// Whether it is not a control character, except tab, and does not change the direction of following text (UAX #9).
  package var isPrintable: Bool {
    switch value {
    case 0x09: true
    case 0x00...0x1F, 0x7F...0x9F: false
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: false
    default: true
    }
  }
}
