import CallCore
import RTP
import Testing

/// The two figures of RFC 8285, with a letter as the data of each element.
@Suite struct HeaderExtensionVectorTests {
  private static let fixed: [UInt8] = [0x90, 111, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]
  private static let payload: [UInt8] = [0xEE, 0xFF]

  /// Section 4.2: three elements of 1, 2 and 4 bytes in twelve, two of them padding.
  @Test func `4-2 - the one-byte figure is read element by element`() throws {
    let bytes =
      Self.fixed + [0xBE, 0xDE, 0, 3, 0x10, 0x61, 0x21, 0x62, 0x62, 0, 0, 0x33, 0x63, 0x63, 0x63, 0x63]
      + Self.payload
    let packet = try #require(RTPPacket(bytes: bytes))
    let elements = try (1...3).map { Array(bytes[try #require(packet.element($0, of: bytes))]) }
    #expect(elements == [[0x61], [0x62, 0x62], [0x63, 0x63, 0x63, 0x63]])
    #expect(Array(bytes[packet.payloadRange]) == Self.payload)
  }

  /// Section 4.3: three elements of 0, 1 and 4 bytes, a padding byte behind the second.
  @Test func `4-3 - the two-byte figure is read element by element`() throws {
    let bytes =
      Self.fixed + [0x10, 0x00, 0, 3, 0x01, 0, 0x02, 1, 0x62, 0, 0x03, 4, 0x63, 0x63, 0x63, 0x63] + Self.payload
    let packet = try #require(RTPPacket(bytes: bytes))
    let elements = try (1...3).map { Array(bytes[try #require(packet.element($0, of: bytes))]) }
    #expect(elements == [[], [0x62], [0x63, 0x63, 0x63, 0x63]])
    #expect(Array(bytes[packet.payloadRange]) == Self.payload)
  }

  /// Section 4.3: the low four bits of the profile word belong to the application.
  @Test(arguments: UInt8(0)...15) func `4-3 - any application bits are the two-byte form`(bits: UInt8) throws {
    let bytes = Self.fixed + [0x10, bits, 0, 1, 7, 2, 0x61, 0x62]
    let packet = try #require(RTPPacket(bytes: bytes))
    #expect(packet.element(7, of: bytes) == 18..<20)
  }
}
