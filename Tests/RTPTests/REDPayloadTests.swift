import CallCore
import RTP
import Testing

@Suite struct REDPayloadTests {
  func blocks(_ bytes: [UInt8]) -> [REDPayload.Block]? {
    guard var payload = REDPayload(parsing: bytes.span.bytes) else { return nil }
    var result: [REDPayload.Block] = []
    while let block = payload.next(in: bytes.span.bytes) { result.append(block) }
    return result.count == payload.count ? result : nil
  }

  func write(_ primary: [UInt8], _ redundant: [REDPayload.Source], capacity: Int = 1_500) -> (
    bytes: [UInt8], count: Int?
  ) {
    var count: Int?
    let bytes = written(capacity: capacity) {
      count = REDPayload.write(primary: primary.span.bytes, payloadType: 111, redundant: redundant, into: &$0)
    }
    return (bytes, count)
  }

  @Test func `a redundant block precedes the primary as RFC 2198 draws it`() {
    let (bytes, count) = write([7, 8, 9], [.init(payloadType: 111, timestampOffset: 960, bytes: [1, 2])])
    // F and the type, then 14 bits of offset and 10 of length.
    #expect(bytes == [0x80 | 111, 0x0F, 0x00, 2, 111, 1, 2, 7, 8, 9])
    #expect(count == 1)
    let read = blocks(bytes)
    #expect(read?.map(\.payloadType) == [111, 111])
    #expect(read?.map(\.timestampOffset) == [960, 0])
    #expect(read?.map(\.range) == [5..<7, 7..<10])
    #expect(read?.map(\.isPrimary) == [false, true])
  }

  @Test func `a block too old or too long for its header is left out`() {
    let old = REDPayload.Source(payloadType: 111, timestampOffset: 1 << 14, bytes: [1])
    let long = REDPayload.Source(payloadType: 111, timestampOffset: 960, bytes: [UInt8](repeating: 0, count: 1_024))
    let (bytes, count) = write([7], [old, long])
    #expect(bytes == [111, 7])
    #expect(count == 0)
  }

  @Test func `as many of the newest blocks are written as there is room for`() {
    let blocks = [(1_920, 2), (960, 1)].map {
      REDPayload.Source(payloadType: 111, timestampOffset: $0, bytes: [UInt8($1)])
    }
    #expect(write([7, 8], blocks, capacity: 13).count == 2)
    #expect(write([7, 8], blocks, capacity: 12).bytes == [0x80 | 111, 0x0F, 0x00, 1, 111, 1, 7, 8])
    #expect(write([7, 8], blocks, capacity: 7).bytes == [111, 7, 8])
    #expect(write([7, 8], blocks, capacity: 2).count == nil)
  }

  @Test func `what is older than a block that is left out is left out too`() {
    let long = REDPayload.Source(payloadType: 111, timestampOffset: 960, bytes: [UInt8](repeating: 0, count: 1_024))
    #expect(write([7], [.init(payloadType: 111, timestampOffset: 1_920, bytes: [1]), long]).bytes == [111, 7])
  }

  @Test func `a payload that ends early is refused`() {
    #expect(blocks([]) == nil)
    #expect(blocks([0xEF, 0x0F, 0x00]) == nil)
    #expect(blocks([0xEF, 0x0F, 0x00, 2]) == nil)
    #expect(blocks([0xEF, 0x0F, 0x00, 2, 111, 1]) == nil)
    // An empty primary is allowed.
    #expect(blocks([0xEF, 0x0F, 0x00, 2, 111, 1, 2])?.last?.range.isEmpty == true)
    let many: [UInt8] = Array(repeating: [0xEF, 0, 0, 0] as [UInt8], count: 33).flatMap { $0 } + [111]
    #expect(blocks(many) == nil)
    #expect(blocks(Array(many.dropFirst(4)))?.count == 33)
  }
}

@Suite struct RetransmissionReceiverTests {
  func packet(_ payload: [UInt8], payloadType: UInt8 = 97) -> [UInt8] {
    let header = RTPHeader(payloadType: payloadType, marker: true, sequenceNumber: 5, timestamp: 90, ssrc: 2)
    return written { _ = header.write(into: &$0) } + payload
  }

  var receiver: RetransmissionReceiver {
    RetransmissionReceiver(
      originalSSRC: 1, associations: [.init(payloadType: 97, original: 96), .init(payloadType: 99, original: 98)])
  }

  func receive(_ bytes: [UInt8], by receiver: inout RetransmissionReceiver) -> RTPPacket? {
    guard let packet = RTPPacket(bytes: bytes) else { return nil }
    return receiver.receive(packet, in: bytes.span.bytes)
  }

  @Test func `a retransmission becomes the original of its payload type`() throws {
    var receiver = receiver
    let original = try #require(receive(packet([0x12, 0x34, 7, 8], payloadType: 99), by: &receiver))
    #expect(
      original.header == RTPHeader(payloadType: 98, marker: true, sequenceNumber: 0x1234, timestamp: 90, ssrc: 1))
    #expect(original.payloadRange == 14..<16)
    #expect(receiver.recoveredCount == 1)
    #expect(receiver.recoveredBytes == 2)
  }

  @Test func `padding and packets without a payload have no original`() {
    var receiver = receiver
    for payload: [UInt8] in [[], [1], [0x12, 0x34]] {
      let original = receive(packet(payload), by: &receiver)
      #expect(original == nil)
    }
    #expect(receiver.paddingCount == 3)
    #expect(receiver.recoveredCount == 0)
  }

  @Test func `a payload type that retransmits none is counted`() {
    var receiver = receiver
    let original = receive(packet([0x12, 0x34, 7], payloadType: 96), by: &receiver)
    #expect(original == nil)
    #expect(receiver.unknownPayloadTypeCount == 1)
  }
}
