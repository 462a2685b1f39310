import CallCore
import RTP
import Testing

/// draft-holmer-rmcat-transport-wide-cc-extensions-01 section 3.1, and REMB.
@Suite struct TransportFeedbackTests {
  private func read(_ bytes: [UInt8]) -> (packets: [RTCPPacket], malformed: Int) {
    var reader = RTCPReader()
    var packets: [RTCPPacket] = []
    while let packet = reader.next(in: bytes.span.bytes) { packets.append(packet) }
    return (packets, reader.malformedCount)
  }

  private func write(_ packet: RTCPPacket) -> [UInt8] { written { _ = packet.write(into: &$0) } }

  /// A feedback of a few chunks and no more; the deltas follow, and padding.
  private func feedback(count: Int, chunks: [UInt16], deltas: [UInt8]) -> [UInt8] {
    var body: [UInt8] = [0, 0, 0, 1, 0, 0, 0, 2, 0, 9, UInt8(count >> 8), UInt8(count & 0xFF), 0, 0, 1, 5]
    for chunk in chunks { body.append(bigEndian: chunk) }
    body += deltas
    let padding = (4 - body.count % 4) % 4
    if padding > 0 { body += Array(repeating: 0, count: padding - 1) + [UInt8(padding)] }
    return [padding > 0 ? 0xAF : 0x8F, 205, 0, UInt8(body.count / 4)] + body
  }

  private func arrivals(_ bytes: [UInt8]) throws -> [TransportFeedback.Arrival] {
    guard case .transportFeedback(let feedback)? = read(bytes).packets.first else { return [] }
    return feedback.arrivals
  }

  /// As Chromium sent them (recorded by Pion).
  @Test(arguments: [
    (
      [
        0xAF, 0xCD, 0, 5, 0xFA, 0x17, 0xFA, 0x17, 0x43, 0x03, 0x2F, 0xA0, 0, 0x99, 0, 1, 0x3D, 0xE8, 0x02, 0x17, 0x20,
        0x01, 0x94, 0x01,
      ] as [UInt8],
      TransportFeedback(
        senderSSRC: 4_195_875_351, mediaSSRC: 1_124_282_272, firstNumber: 153, count: 1, referenceTime: 4_057_090,
        feedbackNumber: 23, arrivals: [.init(index: 0, delta: 148)])
    ),
    (
      [
        0xAF, 0xCD, 0, 6, 0xFA, 0x17, 0xFA, 0x17, 0x19, 0x3D, 0xD8, 0xBB, 0x01, 0x74, 0, 2, 0x45, 0xB1, 0x5A, 0x40,
        0xD8,
        0, 0xF0, 0xFF, 0xD0, 0, 0, 3,
      ],
      TransportFeedback(
        senderSSRC: 4_195_875_351, mediaSSRC: 423_483_579, firstNumber: 372, count: 2, referenceTime: 4_567_386,
        feedbackNumber: 64, arrivals: [.init(index: 0, delta: 240), .init(index: 1, delta: -48)])
    ),
  ])
  func `recorded feedback is read, and written byte for byte`(bytes: [UInt8], feedback: TransportFeedback) {
    #expect(read(bytes).packets == [.transportFeedback(feedback)])
    #expect(read(bytes).malformed == 0)
    #expect(write(.transportFeedback(feedback)) == bytes)
  }

  /// Section 3.1.3: a run of 221 packets that have not come, and section 3.1.4: 1 not, 5 come, 3 not, 3 come, 2 not.
  @Test func `3-1-3 and 3-1-4 - the examples of chunks are read`() throws {
    let run = feedback(count: 235, chunks: [0x00DD, 0x9F1C], deltas: Array(repeating: 4, count: 8))
    let indices = try arrivals(run).map(\.index)
    #expect(indices == ([1, 2, 3, 4, 5, 9, 10, 11] as [UInt16]).map { 221 + $0 })
    // Two bits each: 1 not, 1 with a large delta, 3 with small ones, 2 not.
    let vector = feedback(count: 7, chunks: [0xC000 | 0b00_10_01_01_01_00_00], deltas: [0xFF, 0x00, 1, 2, 3])
    #expect(try arrivals(vector).map(\.delta) == [-256, 1, 2, 3])
  }

  @Test func `what is cut off or reserved is malformed, and a run of nothing ends`() {
    let broken = [
      feedback(count: 2, chunks: [0x2002], deltas: []), feedback(count: 1, chunks: [0x6001], deltas: [1, 1]),
      feedback(count: 9, chunks: [0x0000], deltas: [1, 1]), feedback(count: 0, chunks: [0x2001], deltas: [1]),
      feedback(count: 60_000, chunks: [0x3FFF], deltas: [1]),
    ]
    for bytes in broken { #expect(read(bytes).malformed == 1 && read(bytes).packets.isEmpty) }
  }

  @Test func `its padding may stand anywhere in a compound`() {
    let first = TransportFeedback(
      senderSSRC: 1, mediaSSRC: 2, firstNumber: 3, count: 1, referenceTime: -5, feedbackNumber: 6,
      arrivals: [.init(index: 0, delta: 7)])
    let bytes = write(.transportFeedback(first)) + write(.transportFeedback(first))
    #expect(read(bytes).packets == [.transportFeedback(first), .transportFeedback(first)])
  }

  @Test(arguments: 0..<40) func `what arrived when comes back within half a tick, through any chunks`(seed: UInt64) {
    var random = RandomSource(seed: seed).stream("feedback")
    let loss = [0, 0.02, 0.5, 0.98][Int(seed % 4)]
    var now = Instant.zero + .milliseconds(Int64(random.uniform(below: 1 << 32)))
    let start = now
    var builder: TransportFeedback.Builder?
    var expected: [Int: Instant] = [:]
    var count = 0
    for index in 0..<Int(random.uniform(below: 500)) + 1 {
      now += .microseconds(Int64(random.uniform(below: seed % 3 == 0 ? 500_000 : 20_000)))
      if random.chance(loss) { continue }
      let arrival = now - .microseconds(Int64(random.uniform(below: 3_000)))
      var next = builder ?? .init(firstNumber: 65_530, arrival: start, senderSSRC: 1, mediaSSRC: 2, feedbackNumber: 3)
      guard next.append(index: index, at: arrival) else { break }
      builder = next
      expected[index] = arrival
      count = index + 1
    }
    guard let feedback = builder?.feedback else { return }
    let bytes = write(.transportFeedback(feedback))
    #expect(bytes.count <= 1_020 && bytes.count % 4 == 0)
    #expect(read(bytes).packets == [.transportFeedback(feedback)])
    #expect(feedback.count == UInt16(count) && feedback.arrivals.map { Int($0.index) } == expected.keys.sorted())
    let wrap = Int64(1) << 24 * 64_000_000
    var time = Int64(feedback.referenceTime) * 64_000_000
    for arrival in feedback.arrivals {
      time += Int64(arrival.delta) * 250_000
      let off = ((expected[Int(arrival.index)]!.nanoseconds - time) % wrap + wrap) % wrap
      #expect(min(off, wrap - off) <= 125_000)
    }
  }

  @Test func `a receiver's estimate keeps eighteen digits`() {
    let estimate = ReceiverEstimate(senderSSRC: 1, sources: [2, 3], bitrate: .bitsPerSecond(1_000_001))
    let bytes = write(.receiverEstimate(estimate))
    // 1,000,001 is 250,000 times four, and one that is cut off.
    let expected: [UInt8] = [
      0x8F, 206, 0, 6, 0, 0, 0, 1, 0, 0, 0, 0, 0x52, 0x45, 0x4D, 0x42, 2, 0b1011, 0xD0, 0x90, 0, 0, 0, 2, 0, 0, 0, 3,
    ]
    #expect(bytes == expected)
    let read = ReceiverEstimate(senderSSRC: 1, sources: [2, 3], bitrate: .bitsPerSecond(1_000_000))
    #expect(self.read(bytes).packets == [.receiverEstimate(read)])
    // Another application's message of the same format is none of ours.
    var other = bytes
    other[12] = 0x58
    #expect(self.read(other).packets == [.unknown(packetType: 206, format: 15)])
  }
}
