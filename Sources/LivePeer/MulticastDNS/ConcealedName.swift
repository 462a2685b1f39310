internal import CallCore

extension RandomStream {
  /// A name for an address that is not to be told: a UUID of version 4 (RFC 9562 section 5.4) under `.local`.
  mutating func concealedName() -> String {
    var bytes = bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    var text = ""
    for (index, byte) in bytes.enumerated() {
      if [4, 6, 8, 10].contains(index) { text += "-" }
      text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return text + ".local"
  }
}
