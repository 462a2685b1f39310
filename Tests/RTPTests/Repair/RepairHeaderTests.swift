import CallCore
import RTP
import Testing

/// The layouts of the three FEC headers, byte by byte.
@Suite struct RepairHeaderTests {
  /// The parity of one packet: M, payload type 96, timestamp 0x01020304, one CSRC and the payload 7, 8.
  private var parity: PacketParity {
    let header = RTPHeader(
      payloadType: 96, marker: true, sequenceNumber: 0x1234, timestamp: 0x0102_0304, ssrc: 0xAABB_CCDD)
    let packet = written {
      _ = header.write(into: &$0, contributingSources: [0x0A0B_0C0D])
      $0.append(7)
      $0.append(8)
    }
    var parity = PacketParity()
    parity.add(packet.span.bytes)
    return parity
  }

  private let tail: [UInt8] = [0x0A, 0x0B, 0x0C, 0x0D, 7, 8]

  private func payload(_ offsets: [Int], ssrc: UInt32? = nil) -> RepairPayload {
    RepairPayload(base: 0x1234, mask: PacketMask(offsets), parity: parity, ssrc: ssrc)
  }

  @Test func `ULPFEC has a mask of 16 bits, as RFC 5109 section 7_3 draws it`() {
    let bytes = payload([0, 15]).encoded(.ulpfec)
    // E, L, P, X and CC; M and type; SN base; TS; length; then protection length and mask.
    #expect(
      bytes == [0x01, 0xE0, 0x12, 0x34, 0x01, 0x02, 0x03, 0x04, 0x00, 0x06, 0x00, 0x06, 0x80, 0x01] + tail)
    #expect(RepairPayload(bytes: bytes, .ulpfec) == payload([0, 15]))
  }

  @Test func `the L bit of ULPFEC adds 32 bits to the mask`() {
    let bytes = payload([1, 16, 47]).encoded(.ulpfec)
    let head: [UInt8] = [0x41, 0xE0, 0x12, 0x34, 0x01, 0x02, 0x03, 0x04, 0x00, 0x06, 0x00, 0x06]
    #expect(bytes == head + [0x40, 0x00, 0x80, 0x00, 0x00, 0x01] + tail)
    #expect(RepairPayload(bytes: bytes, .ulpfec) == payload([1, 16, 47]))
  }

  @Test(
    arguments: [
      ([0, 14], [0x40, 0x01]), ([0, 15], [0xC0, 0x00, 0x40, 0x00, 0x00, 0x00]),
      ([45], [0x80, 0x00, 0x00, 0x00, 0x00, 0x01]),
      ([0, 46, 109], [0xC0, 0x00, 0x80, 0x00, 0x00, 0x00, 0x80, 0, 0, 0, 0, 0, 0, 0x01]),
    ] as [([Int], [UInt8])])
  func `FlexFEC has a mask in up to three parts, as RFC 8627 section 4_2_2_1 draws it`(offsets: [Int], mask: [UInt8]) {
    let bytes = payload(offsets).encoded(.flexFEC)
    // R, F, P, X and CC; M and type; length; TS; SN base and mask.
    #expect(bytes == [0x01, 0xE0, 0x00, 0x06, 0x01, 0x02, 0x03, 0x04, 0x12, 0x34] + mask + tail)
    #expect(RepairPayload(bytes: bytes, .flexFEC) == payload(offsets))
  }

  @Test(
    arguments: [
      ([0, 14], [0xC0, 0x01]), ([0, 15], [0x40, 0x00, 0xC0, 0x00, 0x00, 0x00]),
      ([45], [0x00, 0x00, 0x80, 0x00, 0x00, 0x01]),
      ([0, 46, 108], [0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0xC0, 0, 0, 0, 0, 0, 0, 0x01]),
    ] as [([Int], [UInt8])])
  func `the draft of FlexFEC names the stream and ends its mask by a bit`(offsets: [Int], mask: [UInt8]) {
    let bytes = payload(offsets, ssrc: 0xAABB_CCDD).encoded(.flexFECDraft)
    let head: [UInt8] = [
      0x01, 0xE0, 0x00, 0x06, 0x01, 0x02, 0x03, 0x04, 1, 0, 0, 0, 0xAA, 0xBB, 0xCC, 0xDD, 0x12, 0x34,
    ]
    #expect(bytes == head + mask + tail)
    #expect(RepairPayload(bytes: bytes, .flexFECDraft) == payload(offsets, ssrc: 0xAABB_CCDD))
  }

  @Test(arguments: RepairFormat.allCases)
  func `a mask longer than the header allows is not written`(format: RepairFormat) {
    #expect(payload([format.maximumSpan - 1], ssrc: 1).encoded(format).isEmpty == false)
    #expect(payload([format.maximumSpan], ssrc: 1).encoded(format).isEmpty)
  }

  @Test(arguments: RepairFormat.allCases)
  func `a header that ends early is refused`(format: RepairFormat) {
    let bytes = payload([0, format.maximumSpan - 1], ssrc: 1).encoded(format)
    let size = bytes.count - tail.count
    for length in 0..<size { #expect(RepairPayload(bytes: Array(bytes[..<length]), format) == nil) }
  }

  @Test func `what is not supported is refused`() {
    func changed(_ format: RepairFormat, at index: Int, to value: UInt8) -> Bool {
      var bytes = payload([0], ssrc: 1).encoded(format)
      bytes[index] = value
      return RepairPayload(bytes: bytes, format) == nil
    }
    // The extension bit of ULPFEC, and a protection length beyond the end.
    #expect(changed(.ulpfec, at: 0, to: 0x81))
    #expect(changed(.ulpfec, at: 11, to: 7))
    for format in [RepairFormat.flexFEC, .flexFECDraft] {
      // Retransmissions and fixed masks.
      #expect(changed(format, at: 0, to: 0x81))
      #expect(changed(format, at: 0, to: 0x41))
    }
    // Two streams, and a third part of the mask without its end.
    #expect(changed(.flexFECDraft, at: 8, to: 2))
    var long = payload([108], ssrc: 1).encoded(.flexFECDraft)
    long[24] &= 0x7F
    #expect(RepairPayload(bytes: long, .flexFECDraft) == nil)
    // An empty mask.
    #expect(RepairPayload(bytes: payload([]).encoded(.ulpfec), .ulpfec) == nil)
  }
}
