internal import CallCore
internal import Digests

extension RandomStream {
  /// Returns a name that hides an address: a UUID of version 4 (RFC 9562 section 5.4) under `.local`.
  mutating func mdnsName() -> String {
    var bytes = bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let parts = [bytes[..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]]
    return parts.map { Hexadecimal.encode(Array($0)) }.joined(separator: "-") + ".local"
  }
}
