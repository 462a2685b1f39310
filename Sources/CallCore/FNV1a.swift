/// The FNV-1a hash, 64 bits: for identities that are equal in every process, not against forgery.
package struct FNV1a {
  package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init() {}

  package mutating func mix(_ bytes: some Sequence<UInt8>) {
    for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
  }

  package mutating func mix(word: UInt64) {
    for shift in stride(from: 0, to: 64, by: 8) { value = (value ^ (word >> UInt64(shift)) & 0xFF) &* 0x100_0000_01B3 }
  }

  /// Returns the hash of a text in UTF-8.
  package static func hash(of text: String) -> UInt64 {
    var digest = FNV1a()
    digest.mix(text.utf8)
    return digest.value
  }

  /// Returns a hash of the bytes by words of eight, and then by bytes: for packets and files, where it is faster.
  package static func hash(words bytes: RawSpan) -> UInt64 {
    var hash = FNV1a().value
    var offset = 0
    while let word = bytes.bigEndian(UInt64.self, at: offset) {
      hash = (hash ^ word) &* 0x100_0000_01B3
      hash ^= hash >> 32
      offset += 8
    }
    while let byte = bytes.byte(at: offset) {
      hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
      offset += 1
    }
    return hash
  }
}
