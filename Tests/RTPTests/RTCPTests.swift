import CallCore
import RTP
import Testing

@Suite struct RTCPTests {
  static let block = ReportBlock(
    ssrc: 2, fractionLost: 64, cumulativeLost: -5, highestSequenceNumber: 0x1_0005, jitter: 99,
    lastSenderReport: 0xAABB_CCDD, delaySinceLastSenderReport: 65_536)

  static let packets: [RTCPPacket] = [
    .senderReport(
      SenderReport(
        ssrc: 1, ntpTime: NTPTime(rawValue: 0x0123_4567_89AB_CDEF), rtpTimestamp: 160, packetCount: 3, octetCount: 480,
        blocks: [block])),
    .receiverReport(ReceiverReport(ssrc: 1, blocks: [block, block])),
    .sourceDescription([
      SourceDescription(ssrc: 1, canonicalName: [UInt8]("abcdef".utf8)), SourceDescription(ssrc: 9, canonicalName: nil),
    ]),
    .genericNACK(GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [65_530, 65_531, 10, 11, 40])),
    .pictureLossIndication(PictureLossIndication(senderSSRC: 1, mediaSSRC: 2)),
    .fullIntraRequest(
      FullIntraRequest(
        senderSSRC: 1, entries: [.init(ssrc: 2, sequenceNumber: 7), .init(ssrc: 3, sequenceNumber: 255)])),
    .extendedReport(ExtendedReport(ssrc: 1, receiverReferenceTime: NTPTime(rawValue: 42))),
    .goodbye(Goodbye(sources: [1, 2], reason: [UInt8]("bye!".utf8))),
  ]

  func read(_ bytes: [UInt8]) -> (packets: [RTCPPacket], malformed: Int) {
    var reader = RTCPReader()
    var packets: [RTCPPacket] = []
    while let packet = reader.next(in: bytes.span.bytes) { packets.append(packet) }
    return (packets, reader.malformedCount)
  }

  func write(_ packets: [RTCPPacket]) -> [UInt8] {
    written { output in
      for packet in packets {
        let fitted = packet.write(into: &output)
        #expect(fitted)
      }
    }
  }

  @Test func `a compound comes back as written`() {
    let (packets, malformed) = read(write(Self.packets))
    #expect(packets == Self.packets)
    #expect(malformed == 0)
  }

  @Test(arguments: packets) func `every packet stands alone in a reduced-size datagram`(packet: RTCPPacket) {
    let (packets, malformed) = read(write([packet]))
    #expect(packets == [packet])
    #expect(malformed == 0)
  }

  @Test func `a receiver report is laid out as RFC 3550 draws it`() {
    let bytes = write([.receiverReport(ReceiverReport(ssrc: 1, blocks: [Self.block]))])
    #expect(bytes.count == 32)
    #expect(Array(bytes[..<16]) == [0x81, 201, 0, 7, 0, 0, 0, 1, 0, 0, 0, 2, 64, 0xFF, 0xFF, 0xFB])
  }

  /// RFC 4585 sections 6.1 and 6.3.1, RFC 5104 section 4.3.1, RFC 3611 sections 2 and 4.4.
  @Test(arguments: [
    (
      RTCPPacket.pictureLossIndication(PictureLossIndication(senderSSRC: 1, mediaSSRC: 2)),
      [0x81, 206, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2] as [UInt8]
    ),
    (
      .fullIntraRequest(FullIntraRequest(senderSSRC: 1, entries: [.init(ssrc: 2, sequenceNumber: 7)])),
      [0x84, 206, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 7, 0, 0, 0]
    ),
    (
      .extendedReport(ExtendedReport(ssrc: 1, receiverReferenceTime: NTPTime(rawValue: 0x0102_0304_0506_0708))),
      [0x80, 207, 0, 4, 0, 0, 0, 1, 4, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8]
    ),
  ])
  func `feedback and extended reports are laid out as their RFCs draw them`(packet: RTCPPacket, bytes: [UInt8]) {
    #expect(write([packet]) == bytes)
    #expect(read(bytes).packets == [packet])
  }

  @Test func `neighbouring losses share a mask`() {
    let nack = GenericNACK(senderSSRC: 1, mediaSSRC: 2, sequenceNumbers: [100, 101, 116, 117])
    let bytes = write([.genericNACK(nack)])
    #expect(Array(bytes[12...]) == [0, 100, 0x80, 0x01, 0, 117, 0, 0])
  }

  @Test func `the cumulative loss is clamped to 24 bits`() {
    for (value, expected) in [(Int32.max, Int32(0x7F_FFFF)), (.min, -0x80_0000)] {
      var block = Self.block
      block.cumulativeLost = value
      guard
        case .receiverReport(let report)? = read(write([.receiverReport(.init(ssrc: 1, blocks: [block]))])).packets
          .first
      else {
        Issue.record("no report")
        continue
      }
      #expect(report.blocks[0].cumulativeLost == expected)
    }
  }

  @Test func `unknown types are passed over and named`() {
    let bytes: [UInt8] = [0x80, 204, 0, 1, 1, 2, 3, 4, 0x8F, 206, 0, 2] + [UInt8](repeating: 0, count: 8)
    let (packets, malformed) = read(bytes)
    #expect(packets == [.unknown(packetType: 204, format: 0), .unknown(packetType: 206, format: 15)])
    #expect(malformed == 0)
  }

  @Test func `a broken body is counted and the next packet still read`() {
    let bytes: [UInt8] = [0x81, 201, 0, 1, 0, 0, 0, 1] + write([Self.packets[4]])
    let (packets, malformed) = read(bytes)
    #expect(packets == [Self.packets[4]])
    #expect(malformed == 1)
  }

  @Test func `a length beyond the datagram ends it`() {
    let (packets, malformed) = read(write([Self.packets[4]]) + [0x80, 200, 0xFF, 0xFF])
    #expect(packets.count == 1)
    #expect(malformed == 1)
  }

  @Test func `extended reports of other kinds are tolerated`() {
    let bytes: [UInt8] = [0x80, 207, 0, 4, 0, 0, 0, 1, 5, 0, 0, 2] + [UInt8](repeating: 1, count: 8)
    #expect(
      read(bytes).packets == [
        .extendedReport(ExtendedReport(ssrc: 1, receiverReferenceTime: nil, otherBlockCount: 1))
      ])
  }

  @Test func `no mutation of a compound traps`() {
    var random = RandomSource(seed: 2).stream("rtcp")
    let original = write(Self.packets)
    for _ in 0..<10_000 {
      var bytes = original
      for _ in 0...random.uniform(below: 6) {
        bytes[Int(random.uniform(below: UInt64(bytes.count)))] = UInt8(truncatingIfNeeded: random.next())
      }
      bytes.removeLast(Int(random.uniform(below: 40)))
      _ = read(bytes)
    }
  }
}

@Suite struct RTCPSchedulerTests {
  @Test func `audio reports come 2_5 to 7_5 s apart, 5 s on average`() throws {
    var scheduler = RTCPScheduler(random: RandomStream(seed: 3))
    scheduler.start(at: .zero)
    let lastFound = scheduler.deadline
    var last = try #require(lastFound)
    #expect((Interval.milliseconds(1_250)...(.milliseconds(3_750))).contains(last - .zero))
    var total = Interval.zero
    for _ in 0..<2_000 {
      let due = scheduler.isDue(at: last)
      #expect(due)
      scheduler.sentReport(byteCount: 80, at: last)
      let nextFound = scheduler.deadline
      let next = try #require(nextFound)
      #expect((Interval.milliseconds(2_500)...(.milliseconds(7_500))).contains(next - last))
      total += next - last
      last = next
    }
    #expect(abs((total / 2_000).seconds - 5) < 0.1)
  }

  @Test func `a narrow RTCP bandwidth stretches the interval`() throws {
    var settings = RTCPScheduler.Settings()
    settings.bandwidth = .bitsPerSecond(200)
    settings.spread = 0
    var scheduler = RTCPScheduler(settings: settings, random: RandomStream(seed: 3))
    scheduler.start(at: .zero)
    for _ in 0..<200 { scheduler.note(byteCount: 100) }
    scheduler.sentReport(byteCount: 100, at: .zero)
    let deadlineFound = scheduler.deadline
    let deadline = try #require(deadlineFound)
    #expect(abs(deadline.seconds - 128 * 2 * 8 / 200.0) < 0.01)
  }

  @Test func `after a goodbye nothing is due`() {
    var scheduler = RTCPScheduler(random: RandomStream(seed: 3))
    scheduler.start(at: .zero)
    scheduler.stop()
    let due = scheduler.isDue(at: .milliseconds(100_000))
    #expect(!due)
  }
}
