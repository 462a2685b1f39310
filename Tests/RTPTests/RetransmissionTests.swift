import CallCore
import Testing

@testable import RTP

/// What has left and is asked for again.
@Suite struct RetransmissionTests {
  private func sent(_ sender: inout RTPSender, payload: [UInt8], at now: Instant) -> [UInt8] {
    written { output in
      let header = sender.packetize(payload: payload.span.bytes, mediaTime: 960, marker: true, into: &output)
      guard let header else { return }
      sender.departed(
        OutgoingPacket(header: header, headerSize: RTPHeader.fixedSize, captured: now), output.span.bytes, at: now)
    }
  }

  /// RFC 4588 section 4: the original number in front of the payload, a source, type and numbers of its own.
  @Test func `a stream of its own brings a packet back`() throws {
    var settings = RTPSender.Settings(payloadType: 96, clockRate: 90_000)
    settings.keepsHistory = true
    var sender = RTPSender(ssrc: 5, settings: settings, random: RandomStream(seed: 1))
    var stream = RetransmissionSender(ssrc: 6, payloadType: 97, random: RandomStream(seed: 2))
    let originals = (0..<3).map { sent(&sender, payload: [UInt8($0), 9, 9], at: .zero) }
    let wanted = try originals.map { try #require(RTPPacket(bytes: $0)).header }
    sender.receive(GenericNACK(senderSSRC: 1, mediaSSRC: 5, sequenceNumbers: [2, 0].map { wanted[$0].sequenceNumber }))
    var extensions = RTPHeaderExtensions()
    extensions.append(id: 3, word: 0x1234)
    var numbers: [UInt16] = []
    for original in [2, 0] {
      let bytes = written { output in
        let packet = sender.takeRetransmission(
          on: &stream, extensions: extensions, into: &output, at: .milliseconds(50))
        #expect(packet?.isRetransmission == true && packet?.headerSize == output.count - 3)
      }
      let packet = try #require(RTPPacket(bytes: bytes))
      #expect(packet.header.ssrc == 6 && packet.header.payloadType == 97)
      #expect(packet.header.timestamp == wanted[original].timestamp && packet.header.marker)
      #expect(packet.element(3, of: bytes) != nil)
      #expect(Array(bytes[packet.payloadRange].prefix(2)) == bigEndian(wanted[original].sequenceNumber))
      let found = packet.retransmitted(ssrc: 5, payloadType: 96, in: bytes.span.bytes)
      let back = try #require(found)
      #expect(back.header == wanted[original])
      #expect(Array(bytes[back.payloadRange]) == [UInt8(original), 9, 9])
      numbers.append(packet.header.sequenceNumber)
    }
    #expect(numbers[1] == numbers[0] &+ 1)
  }

  private func bigEndian(_ number: UInt16) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }

  @Test func `a retransmission stream's padding brings nothing back`() throws {
    let header = RTPHeader(payloadType: 97, sequenceNumber: 1, timestamp: 1, ssrc: 6)
    let bytes = written { output in
      _ = header.write(into: &output, hasPadding: true)
      _ = RTPHeader.appendPadding(200, to: &output)
    }
    let packet = try #require(RTPPacket(bytes: bytes))
    let original = packet.retransmitted(ssrc: 5, payloadType: 96, in: bytes.span.bytes)
    #expect(original == nil)
  }

  @Test func `a reserved element is overwritten where it was written`() throws {
    for id in [2, 20] as [UInt8] {
      var extensions = RTPHeaderExtensions()
      extensions.append(id: 1, bytes: Array("mid".utf8).span.bytes)
      let reserved = extensions.reserve(id: id, length: 2)
      let slot = try #require(reserved)
      extensions.append(id: 3, byte: 7)
      let header = RTPHeader(payloadType: 111, sequenceNumber: 1, timestamp: 2, ssrc: 3)
      var bytes = written { _ = header.write(into: &$0, contributingSources: [9], extensions: extensions) }
      let offset = extensions.offset(of: slot, contributingSourceCount: 1)
      let packet = try #require(RTPPacket(bytes: bytes))
      #expect(packet.element(id, of: bytes) == offset..<offset + 2)
      bytes[offset...offset + 1] = [0xAB, 0xCD]
      let number = packet.transportSequenceNumber(id: id, in: bytes.span.bytes)
      #expect(number == 0xABCD)
    }
  }

  /// What a history has to say of a packet, remembered at length.
  private struct Reference {
    var bytes: [UInt8]
    var sent: Instant
    var repeated: Instant?
    var isWaiting = false
  }

  @Test(arguments: 0..<20) func `a history is a list of the last packets, bounded by time and bytes`(seed: UInt64) {
    var random = RandomSource(seed: seed).stream("history")
    let limit = [3_000, 20_000, 2_000_000][Int(seed % 3)]
    var history = PacketHistory(minimumAge: .seconds(1), byteLimit: limit)
    var reference: [UInt16: Reference] = [:]
    var (now, sequence) = (Instant.zero, UInt16(65_000))
    let roundTrip = [nil, .milliseconds(30), .milliseconds(500)][Int(seed / 3 % 3)] as Interval?
    let age = max(.seconds(1), (roundTrip ?? .zero) * 3)
    for _ in 0..<3_000 {
      now += .milliseconds(Int64(random.uniform(below: 20)))
      // Now and then a packet was never sent.
      sequence &+= random.chance(0.02) ? 2 : 1
      let size = 12 + Int(random.uniform(below: 1_200))
      let bytes = (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let header = RTPHeader(payloadType: 96, sequenceNumber: sequence, timestamp: 0, ssrc: 1)
      history.insert(bytes.span.bytes, header: header, headerSize: 12, captured: now, roundTrip: roundTrip, at: now)
      reference[sequence] = Reference(bytes: bytes, sent: now)
      let asked = sequence &- UInt16(random.uniform(below: 200))
      let known = reference[asked]
      let taken = history.take(asked, roundTrip: roundTrip, at: now)
      guard let known else {
        #expect(taken == nil)
        continue
      }
      let isFree = !known.isWaiting && known.repeated.map { now - $0 >= roundTrip ?? .zero } ?? true
      let isYoung = now - known.sent <= age
      // At least half of the bytes are held, whatever lies at the ring's seam.
      var since = 0
      for number in 0...(sequence &- asked) { since += reference[sequence &- number]?.bytes.count ?? 0 }
      if !isFree || !isYoung { #expect(taken == nil) }
      if isFree, isYoung, since <= limit / 2 { #expect(taken != nil) }
      guard let taken else { continue }
      let copy = written { history.copy(taken, into: &$0) }
      #expect(copy == known.bytes)
      reference[asked]?.repeated = now
      reference[asked]?.isWaiting = random.chance(0.5)
      if reference[asked]?.isWaiting == false { history.release(asked) }
    }
  }
}
