import Bitstreams
import Testing

@Suite struct H264ByteStreamTests {
  func units(_ bytes: [UInt8]) -> [Range<Int>] { H264ByteStream.units(of: bytes.span.bytes).map(\.range) }

  @Test func `the NAL units of a byte stream lie between start codes of three and four bytes`() {
    let bytes: [UInt8] = [9, 0, 0, 0, 1, 0x67, 1, 0, 0, 1, 0x68, 2, 0, 0, 0, 0, 1, 0x65, 0, 3, 0, 0]
    var units = H264ByteStream(bytes.span.bytes)
    var found: [[UInt8]] = []
    while let unit = units.next(in: bytes.span.bytes) { found.append(Array(bytes[unit.range])) }
    #expect(found == [[0x67, 1], [0x68, 2], [0x65, 0, 3]])
  }

  @Test func `bytes without a start code hold no NAL unit`() {
    let bytes: [UInt8] = [0x67, 1, 0, 0, 2, 0, 0]
    var units = H264ByteStream(bytes.span.bytes)
    #expect(units.next(in: bytes.span.bytes) == nil)
  }

  @Test func `units lie between start codes of three or four bytes`() {
    #expect(units([0, 0, 0, 1, 7, 8, 0, 0, 1, 9]) == [4..<6, 9..<10])
    #expect(units([0, 0, 1, 7, 0, 0, 0, 0, 1, 9, 0, 0]) == [3..<4, 9..<10])
    #expect(units([0, 0, 1, 0, 0, 1, 5]) == [6..<7])
  }

  @Test func `bytes without a start code are no unit`() {
    for bytes in [[], [1], [0, 0], [0, 1, 5], [0, 0, 2, 5], [0, 0, 0, 1]] as [[UInt8]] { #expect(units(bytes).isEmpty) }
  }
}
