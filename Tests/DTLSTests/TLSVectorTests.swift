import Testing

@testable import DTLS

/// What RFC 8448 section 3 prints.
struct TLSVectorTests {
  private static func bytes(_ text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  @Test func `keys of a handshake come from its traffic secret`() throws {
    let suite = try #require(TLSSuite(0x1301))
    let secret = Self.bytes("b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38")
    #expect(suite.expand(secret, "key", length: 16) == Self.bytes("3fce516009c21727d0f2e4e86ee403bc"))
    #expect(suite.expand(secret, "iv", length: 12) == Self.bytes("5d313eb2671276ee13000b30"))
  }

  @Test func `only suites that are AEADs are known`() {
    for number in [0x1301, 0x1302, 0x1303, 0xC02B, 0xC02C, 0xC02F, 0xC030, 0xCCA8, 0xCCA9] as [UInt16] {
      #expect(TLSSuite(number) != nil)
    }
    for number in [0, 0x1304, 0xC009, 0xC02A, 0x009C] as [UInt16] { #expect(TLSSuite(number) == nil) }
  }
}
