import CallCore
import RTP
import Testing

@Suite struct RepairEncoderTests {
  private func encoder(_ factor: UInt8, frames: Int = 6, format: RepairFormat = .ulpfec) -> RepairEncoder {
    var encoder = RepairEncoder(format: format)
    encoder.protection = Protection(keyFactor: 255, deltaFactor: factor, maximumFrames: frames)
    return encoder
  }

  private func count(_ encoder: inout RepairEncoder) -> Int {
    var count = 0
    while encoder.next() != nil { count += 1 }
    return count
  }

  private func add(_ packets: some Sequence<[UInt8]>, to encoder: inout RepairEncoder, isKeyFrame: Bool = false) {
    for packet in packets { encoder.add(packet.span.bytes, isKeyFrame: isKeyFrame, endsFrame: true) }
  }

  @Test func `without protection nothing is kept`() {
    var encoder = RepairEncoder(format: .ulpfec)
    add(RepairSamples(4).packets, to: &encoder)
    #expect(encoder.pendingCount == 0 && encoder.next() == nil)
  }

  @Test func `a group waits for frames until its overhead is near the factor`() {
    // One repair packet of one media packet would be 256/256; of four it is 64/256, less than 50 above 20.
    var encoder = encoder(20)
    let samples = RepairSamples(4)
    add(samples.packets[..<3], to: &encoder)
    #expect(count(&encoder) == 0 && encoder.pendingCount == 3)
    add(samples.packets[3...], to: &encoder)
    #expect(count(&encoder) == 1 && encoder.pendingCount == 0)
  }

  @Test(arguments: [(35, 4), (36, 3)] as [(UInt8, Int)])
  func `the excess must be below 50 in 256`(factor: UInt8, packets: Int) {
    // One repair packet of three media packets is 85/256.
    var encoder = encoder(factor)
    let samples = RepairSamples(packets)
    add(samples.packets[..<(packets - 1)], to: &encoder)
    #expect(count(&encoder) == 0)
    add(samples.packets[(packets - 1)...], to: &encoder)
    #expect(count(&encoder) == 1)
  }

  @Test func `a group ends at the limit of frames`() {
    var encoder = encoder(20, frames: 2)
    add(RepairSamples(2).packets, to: &encoder)
    #expect(count(&encoder) == 1)
  }

  @Test func `a high factor waits for four packets`() {
    var encoder = encoder(128)
    let samples = RepairSamples(4)
    add(samples.packets[..<3], to: &encoder)
    #expect(count(&encoder) == 0)
    add(samples.packets[3...], to: &encoder)
    #expect(count(&encoder) == 2)
  }

  @Test func `a group with a key frame has its factor`() {
    var encoder = encoder(20, frames: 1)
    let samples = RepairSamples(3)
    for (index, packet) in samples.packets.enumerated() {
      encoder.add(packet.span.bytes, isKeyFrame: true, endsFrame: index == 2)
    }
    #expect(count(&encoder) == 3)
    add(samples.packets[..<1], to: &encoder)
    #expect(count(&encoder) == 1)
  }

  @Test func `a group ends before its numbers span more than the mask`() throws {
    var encoder = encoder(128, frames: 60)
    // Every fourth number belongs to another packet: 48 packets span 63 numbers.
    for packet in RepairSamples(48, first: 0, gaps: true).packets {
      encoder.add(packet.span.bytes, isKeyFrame: false, endsFrame: false)
    }
    #expect(encoder.shortenedCount == 1)
    var masks: [PacketMask] = []
    while let repair = encoder.next() { masks.append(repair.mask) }
    #expect(masks.count == 18 && masks.allSatisfy { $0.last! < 48 })
  }

  @Test func `numbers that wrap are offsets from the first`() throws {
    var encoder = encoder(1, frames: 1)
    let samples = RepairSamples(8, first: 65_532)
    for (index, packet) in samples.packets.enumerated() {
      encoder.add(packet.span.bytes, isKeyFrame: false, endsFrame: index == 7)
    }
    let repair = encoder.next()
    #expect(repair?.base == 65_532 && repair?.mask == PacketMask(0..<8))
  }

  @Test func `RED around a media packet is one byte, and comes off again`() throws {
    let packet = RepairSamples(1, seed: 5).packets[0]
    let wrapped = written { _ = REDEncapsulation.wrap(packet.span.bytes, redPayloadType: 120, into: &$0) }
    let parsed = try #require(RTPPacket(bytes: wrapped))
    let original = try #require(RTPPacket(bytes: packet))
    #expect(parsed.header.payloadType == 120 && parsed.header.sequenceNumber == original.header.sequenceNumber)
    #expect(wrapped[parsed.payloadRange.lowerBound] == original.header.payloadType)
    var result: (header: RTPHeader, payload: Range<Int>)?
    let unwrapped = written { result = REDEncapsulation.unwrap(parsed, in: wrapped.span.bytes, into: &$0) }
    #expect(unwrapped == packet)
    #expect(result?.header == original.header && result?.payload == original.payloadRange)
  }

  @Test func `RED with several blocks, or none, is left alone`() throws {
    let header = RTPHeader(payloadType: 120, sequenceNumber: 1, timestamp: 0, ssrc: 1)
    for payload in [[], [0xE0, 0, 0, 0, 96]] as [[UInt8]] {
      let bytes = written {
        _ = header.write(into: &$0)
        $0.append(contentsOf: payload.span.bytes)
      }
      let packet = try #require(RTPPacket(bytes: bytes))
      let unwrapped = written { _ = REDEncapsulation.unwrap(packet, in: bytes.span.bytes, into: &$0) }
      #expect(unwrapped.isEmpty)
    }
  }

  @Test(arguments: [RepairFormat.flexFEC, .flexFECDraft])
  func `FlexFEC has its own numbers and names the protected stream`(format: RepairFormat) throws {
    var encoder = encoder(1, frames: 1, format: format)
    var sender = FlexFECSender(
      ssrc: 9, mediaSSRC: RepairSamples.ssrc, payloadType: 118, format: format, random: RandomStream(seed: 4))
    let samples = RepairSamples(4)
    var numbers: [UInt16] = []
    for packet in samples.packets { encoder.add(packet.span.bytes, isKeyFrame: false, endsFrame: true) }
    while let repair = encoder.next() {
      var sent: OutgoingPacket?
      let bytes = written { sent = sender.packetize(repair, into: &$0, at: .zero) }
      let packet = try #require(RTPPacket(bytes: bytes))
      #expect(packet.header.ssrc == 9 && packet.header.payloadType == 118 && packet.header == sent?.header)
      #expect(packet.payloadRange.lowerBound == sent?.headerSize)
      let source = packet.contributingSource(0, in: bytes.span.bytes)
      #expect(source == (format == .flexFEC ? RepairSamples.ssrc : nil))
      #expect(RepairPayload(bytes: Array(bytes[packet.payloadRange]), format) == repair)
      numbers.append(packet.header.sequenceNumber)
    }
    #expect(numbers.count == 4 && zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 &+ 1 })
  }
}
