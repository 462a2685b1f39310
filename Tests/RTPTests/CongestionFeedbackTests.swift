import CallCore
import RTP
import Testing

@Suite struct CongestionFeedbackTests {
  func read(_ bytes: [UInt8]) -> RTCPPacket? {
    var reader = RTCPReader()
    return reader.next(in: bytes.span.bytes)
  }

  static let feedback = CongestionFeedback(
    senderSSRC: 1,
    streams: [
      .init(
        ssrc: 2, firstNumber: 65_535, packets: [.init(ecn: .ect1, offset: 1), nil, .init(ecn: .ce, offset: 0x1FFF)]),
      .init(ssrc: 3, firstNumber: 7, packets: []),
    ], timestamp: 0xAABB_CCDD)

  static let bytes: [UInt8] = [
    0x8B, 205, 0, 8, 0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0xFF, 0, 3, 0xA0, 0x01, 0, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 3, 0, 7, 0,
    0, 0xAA, 0xBB, 0xCC, 0xDD,
  ]

  @Test func `feedback is laid out as RFC 8888 draws it`() {
    #expect(written { _ = RTCPPacket.congestionFeedback(Self.feedback).write(into: &$0) } == Self.bytes)
    #expect(read(Self.bytes) == .congestionFeedback(Self.feedback))
  }

  @Test func `a block longer than the packet is refused`() {
    var bytes = Self.bytes
    bytes[31] = 2
    #expect(read(bytes) == nil)
    bytes[31] = 0
    bytes[15] = 9
    #expect(read(bytes) == nil)
  }

  @Test func `ages are counted in 1024ths of a second, and long ones are marked`() {
    typealias Arrival = CongestionFeedback.Arrival
    #expect(Arrival(ecn: .ect0, age: .milliseconds(500)).offset == 512)
    #expect(Arrival(ecn: .ect0, age: .seconds(-1)).offset == 0)
    #expect(Arrival(ecn: .ect0, age: Interval(nanoseconds: 8_189 * 1_000_000_000 / 1_024 + 1)).offset == 8_189)
    #expect(Arrival(ecn: .ect0, age: .seconds(8)).offset == Arrival.tooOldOffset)
    #expect(Arrival(ecn: .ect0, age: Interval(nanoseconds: .max)).offset == Arrival.tooOldOffset)
    #expect(Arrival(ecn: .ect0, offset: 512).age == .milliseconds(500))
    #expect(Arrival(ecn: .ect0, offset: Arrival.tooOldOffset).age == nil)
    #expect(Arrival(ecn: .ect0, offset: Arrival.unknownOffset).age == nil)
  }

  @Test func `a block of too many packets is not written`() {
    let feedback = CongestionFeedback(
      senderSSRC: 1, streams: [.init(ssrc: 2, firstNumber: 0, packets: Array(repeating: nil, count: 16_385))],
      timestamp: 0)
    #expect(written(capacity: 70_000) { _ = RTCPPacket.congestionFeedback(feedback).write(into: &$0) }.isEmpty)
  }
}

@Suite struct LossNotificationTests {
  func read(_ bytes: [UInt8]) -> RTCPPacket? {
    var reader = RTCPReader()
    return reader.next(in: bytes.span.bytes)
  }

  @Test func `a loss notification has the name LNTF, a number, a distance and a flag`() {
    let notification = LossNotification(
      senderSSRC: 1, mediaSSRC: 2, lastDecoded: 65_535, lastReceived: 4, isDecodable: true)
    let bytes: [UInt8] = [
      0x8F, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 2, 0x4C, 0x4E, 0x54, 0x46, 0xFF, 0xFF, 0, 0x0B,
    ]
    #expect(written { _ = RTCPPacket.lossNotification(notification).write(into: &$0) } == bytes)
    #expect(read(bytes) == .lossNotification(notification))
    #expect(read([0x8F, 206, 0, 3] + bytes[4..<16]) == nil)
  }

  @Test func `a distance beyond fifteen bits is not written`() {
    let notification = LossNotification(
      senderSSRC: 1, mediaSSRC: 2, lastDecoded: 0, lastReceived: 0x8000, isDecodable: false)
    #expect(written { _ = RTCPPacket.lossNotification(notification).write(into: &$0) }.isEmpty)
  }
}
