import CallCore
import RTP
import Testing

@Suite struct RTPPacketTests {
  let header = RTPHeader(payloadType: 111, marker: true, sequenceNumber: 0xABCD, timestamp: 0x0102_0304, ssrc: 7)

  @Test func `a header is laid out as RFC 3550 draws it`() {
    let bytes = written { _ = header.write(into: &$0) }
    #expect(bytes == [0x80, 0xEF, 0xAB, 0xCD, 1, 2, 3, 4, 0, 0, 0, 7])
  }

  @Test func `header, sources, payload and padding come back as written`() throws {
    let payload: [UInt8] = [9, 8, 7]
    let bytes = written {
      _ = header.write(into: &$0, contributingSources: [11, 12], hasPadding: true)
      $0.append(contentsOf: payload.span.bytes)
      _ = RTPHeader.appendPadding(5, to: &$0)
    }
    let packet = try #require(RTPPacket(bytes: bytes))
    #expect(packet.header == header)
    #expect(packet.paddingCount == 5)
    #expect(Array(bytes[packet.payloadRange]) == payload)
    #expect(packet.overhead == 12 + 8 + 5)
    let sources = (0..<3).map { packet.contributingSource($0, in: bytes.span.bytes) }
    #expect(sources == [11, 12, nil])
  }

  @Test func `small elements take the one-byte form of RFC 8285`() throws {
    var extensions = RTPHeaderExtensions()
    let place = extensions.reserve(id: 1, length: 1)
    let slot = try #require(place)
    extensions.setAudioLevel(30, voiceActivity: true, at: slot)
    extensions.append(id: 3, word: 0x1234)
    extensions.append(id: 4, bytes: [UInt8]("a0".utf8).span.bytes)
    let bytes = written { _ = header.write(into: &$0, extensions: extensions) }
    #expect(bytes[0] == 0x90)
    #expect(Array(bytes[12...]) == [0xBE, 0xDE, 0, 2, 0x10, 0x9E, 0x31, 0x12, 0x34, 0x41, 0x61, 0x30])
    let packet = try #require(RTPPacket(bytes: bytes))
    let level = try #require(packet.audioLevel(1, of: bytes))
    #expect(level == (30, true))
    let number = packet.transportSequenceNumber(id: 3, in: bytes.span.bytes)
    #expect(number == 0x1234)
    let mid = packet.mediaIdentification(id: 4, in: bytes.span.bytes)
    #expect(Array(bytes[try #require(mid)]) == [UInt8]("a0".utf8))
    let absent = packet.element(5, of: bytes)
    #expect(absent == nil)
  }

  @Test(arguments: [(UInt8(15), 1), (1, 17), (1, 0)])
  func `a large identifier or an unusual length takes the two-byte form`(id: UInt8, length: Int) throws {
    var extensions = RTPHeaderExtensions()
    extensions.append(id: id, bytes: [UInt8](repeating: 5, count: length).span.bytes)
    extensions.append(id: 2, byte: 6)
    let bytes = written { _ = header.write(into: &$0, extensions: extensions) }
    let packet = try #require(RTPPacket(bytes: bytes))
    #expect(packet.extensionProfile == 0x1000)
    let found = packet.element(id, of: bytes)
    #expect(found?.count == length)
    let second = try #require(packet.element(2, of: bytes))
    #expect(Array(bytes[second]) == [6])
  }

  @Test func `padding between one-byte elements is skipped and identifier 15 ends them`() throws {
    let bytes = written {
      _ = header.write(into: &$0)
    }
    let elements: [UInt8] = [0, 0x10, 0x55, 0, 0, 0x20, 0x66, 0xF0, 1, 0x30, 1, 0]
    let whole = [0x90] + bytes[1...] + [0xBE, 0xDE, 0, 3] + elements
    let packet = try #require(RTPPacket(bytes: whole))
    let found = (1...3).map { packet.element($0, of: whole)?.lowerBound }
    #expect(found == [18, 22, nil])
  }

  @Test func `truncation at every length is refused or stays inside`() {
    var extensions = RTPHeaderExtensions()
    extensions.append(id: 1, word: 1)
    let bytes = written {
      _ = header.write(into: &$0, contributingSources: [1], extensions: extensions, hasPadding: true)
      _ = RTPHeader.appendPadding(4, to: &$0)
    }
    for length in 0..<bytes.count {
      let part = Array(bytes[..<length])
      if let packet = RTPPacket(bytes: part) { #expect(packet.payloadRange.upperBound <= length) }
    }
  }

  @Test func `padding that is zero or reaches into the header is refused`() {
    for count in [UInt8(0), 2, 255] {
      let bytes = written { _ = header.write(into: &$0, hasPadding: true) } + [count]
      #expect(RTPPacket(bytes: bytes) == nil)
    }
  }

  @Test func `no mutation of a packet traps`() {
    var random = RandomSource(seed: 1).stream("rtp")
    var extensions = RTPHeaderExtensions()
    extensions.append(id: 1, bytes: [1, 2, 3].span.bytes)
    let original = written {
      _ = header.write(into: &$0, contributingSources: [1, 2], extensions: extensions, hasPadding: true)
      _ = RTPHeader.appendPadding(9, to: &$0)
    }
    for _ in 0..<20_000 {
      var bytes = original
      for _ in 0...random.uniform(below: 4) {
        bytes[Int(random.uniform(below: UInt64(bytes.count)))] = UInt8(truncatingIfNeeded: random.next())
      }
      bytes.removeLast(Int(random.uniform(below: UInt64(bytes.count))))
      guard let packet = RTPPacket(bytes: bytes) else { continue }
      #expect(packet.payloadRange.upperBound + packet.paddingCount == bytes.count)
      for id in UInt8.min...20 {
        if let range = packet.element(id, of: bytes) {
          #expect(range.upperBound <= packet.payloadRange.lowerBound)
        }
        _ = packet.audioLevel(id, of: bytes)
      }
    }
  }

  @Test func `nothing is written where it does not fit`() {
    let bytes = written(capacity: 11) { output in
      let size = header.write(into: &output)
      #expect(size == nil)
    }
    #expect(bytes.isEmpty)
  }
}

@Suite struct UnwrapperTests {
  @Test func `numbers stay monotonic across the wrap`() {
    var unwrapper = SequenceUnwrapper()
    let values = [65_534, 65_535, 0, 1, 65_535, 2].map { unwrapper.unwrap(UInt16($0)) }
    #expect(values == [65_534, 65_535, 65_536, 65_537, 65_535, 65_538])
  }

  @Test func `a stream may begin just after a wrap`() {
    var unwrapper = TimestampUnwrapper()
    let values = [5, UInt32.max, 6].map { unwrapper.unwrap($0) }
    #expect(values == [5, -1, 6])
  }

  @Test func `peeking moves nothing`() {
    var unwrapper = SequenceUnwrapper()
    _ = unwrapper.unwrap(10)
    _ = unwrapper.peek(30_000)
    #expect(unwrapper.last == 10)
  }
}
