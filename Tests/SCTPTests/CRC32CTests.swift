import SCTP
import Testing

@Suite struct CRC32CTests {
  /// RFC 3720 appendix B.4, and the usual check string.
  static let vectors: [(bytes: [UInt8], checksum: UInt32)] = [
    ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
    ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
    ([UInt8](0..<32), 0x46DD_794E),
    ([UInt8]((0..<32).reversed()), 0x113F_DB5C),
    ([UInt8]("123456789".utf8), 0xE306_9283),
    ([], 0),
  ]

  @Test(arguments: vectors)
  func `the checksum of known bytes is the known one`(bytes: [UInt8], checksum: UInt32) {
    #expect(CRC32C.checksum(of: bytes.span.bytes) == checksum)
  }

  @Test func `bytes in pieces have the checksum of the whole`() {
    let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 * 37) }
    for split in 0...100 {
      var crc = CRC32C()
      crc.update(bytes.span.bytes.extracting(first: split))
      crc.update(bytes.span.bytes.extracting(droppingFirst: split))
      #expect(crc.value == CRC32C.checksum(of: bytes.span.bytes))
    }
  }
}
