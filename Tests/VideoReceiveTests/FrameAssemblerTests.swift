import CallCore
import RTP
import Testing

@testable import VideoReceive

@Suite struct FrameAssemblerTests {
  static let formats: [VideoFormat] = [.vp8, .vp9, .h264, .av1, .generic]

  @Test(arguments: formats) func `every frame comes out once when no packet is lost`(format: VideoFormat) {
    var source = MediaSource(format)
    var assembler = FrameAssembler(format: format)
    var out: [EncodedFrame] = []
    for index in 0..<300 {
      for packet in source.next(isKeyFrame: index == 0) { assembler.insert(packet, into: &out) }
    }
    #expect(out.map(\.data) == source.frames)
    #expect(out.map(\.isKeyFrame) == (0..<300).map { $0 == 0 })
    #expect(assembler.capacity == FrameAssembler.initialCapacity)
  }

  @Test(arguments: formats) func `with loss, order and copies changed only whole frames come out`(format: VideoFormat) {
    var partly = 0
    for seed: UInt64 in 1...25 {
      var source = MediaSource(format, seed: seed)
      var random = RandomSource(seed: seed).stream("channel")
      var packets: [Packet] = []
      for index in 0..<60 {
        packets += source.next(isKeyFrame: index % 10 == 0)
        if random.chance(0.2) { packets.append(source.padding()) }
      }
      var arrived: [Packet] = []
      for packet in packets where !random.chance(0.1) {
        let back = random.chance(0.2) ? Int(random.uniform(below: 12)) : 0
        arrived.insert(packet, at: max(0, arrived.count - back))
        if random.chance(0.05) { arrived.append(packet) }
      }
      var assembler = FrameAssembler(format: format)
      var out: [EncodedFrame] = []
      for packet in arrived { assembler.insert(packet, into: &out) }
      let here = Set(arrived.map(\.number))
      let whole = Set(source.frames.indices).subtracting(packets.filter { !here.contains($0.number) }.map(\.frame))
      let came = out.compactMap { frame in source.frames.firstIndex(of: frame.data) }
      #expect(came.count == out.count, "a frame that nobody sent, seed \(seed)")
      #expect(Set(came).count == came.count && Set(came).isSubset(of: whole))
      // The start of some frames shows only by the packet before, which may be lost.
      if format == .vp8 || format == .vp9 || format == .generic { #expect(Set(came) == whole) }
      partly += came.count
    }
    #expect(partly > 300)
  }

  @Test func `a frame whose first packet comes last comes out with its arrival times`() throws {
    var source = MediaSource(.vp8)
    source.payloadSize = 100...100
    var assembler = FrameAssembler(format: .vp8)
    var out: [EncodedFrame] = []
    let packets = source.next(isKeyFrame: true, size: 500)
    for (index, packet) in packets.reversed().enumerated() {
      #expect(out.isEmpty)
      assembler.insert(packet, at: .milliseconds(Int64(index)), into: &out)
    }
    let frame = try #require(out.first)
    #expect(frame.firstArrival == .zero)
    #expect(frame.lastArrival == .milliseconds(Int64(packets.count - 1)))
    #expect(frame.width == 640 && frame.height == 480)
    #expect(frame.sequences.count == packets.count)
    #expect(frame.sequences.lowerBound == 65_500)
  }

  @Test func `sequence numbers go on over their wrap`() {
    var source = MediaSource(.vp8, number: 65_534)
    source.payloadSize = 100...100
    var assembler = FrameAssembler(format: .vp8)
    var out: [EncodedFrame] = []
    for packet in source.next(isKeyFrame: true, size: 400) { assembler.insert(packet, into: &out) }
    #expect(out.first?.sequences == 65_534...65_538)
  }

  @Test func `a copy and a packet of a decoded frame are told`() {
    var source = MediaSource(.vp8)
    var assembler = FrameAssembler(format: .vp8)
    var out: [EncodedFrame] = []
    let first = source.next(isKeyFrame: true, size: 20)[0]
    let second = source.next(isKeyFrame: false, size: 20)[0]
    let third = source.next(isKeyFrame: false, size: 20)[0]
    let results = [first, first, third].map { assembler.insert($0, into: &out) }
    #expect(results == [.inserted, .duplicate, .inserted])
    assembler.discard(through: 65_502)
    let late = assembler.insert(second, into: &out)
    #expect(late == .old)
    #expect(out.count == 2)
  }

  @Test func `the ring grows from 512 to 2048 packets, and then starts over`() {
    var source = MediaSource(.vp8)
    source.payloadSize = 60...60
    var assembler = FrameAssembler(format: .vp8)
    var out: [EncodedFrame] = []
    // A frame without its first packet, which never becomes whole.
    var results: [FrameAssembler.Insertion?] = []
    for packet in source.next(isKeyFrame: true, size: 120_000).dropFirst().prefix(2_060) {
      results.append(assembler.insert(packet, into: &out))
      if results.count == 512 { #expect(assembler.capacity == 512) }
      if results.count == 513 { #expect(assembler.capacity == 1_024) }
    }
    #expect(assembler.capacity == 2_048)
    #expect(results.firstIndex(of: .overflow) == 2_048)
    #expect(results.filter { $0 == .overflow }.count == 1)
    #expect(out.isEmpty)
    // Afterwards a whole frame comes out.
    for packet in source.next(isKeyFrame: true, size: 100) { assembler.insert(packet, into: &out) }
    #expect(out.count == 1)
  }

  @Test func `two frames of one timestamp are told apart by their first packets`() {
    var source = MediaSource(.vp9)
    source.payloadSize = 100...100
    source.ticks = 0
    var assembler = FrameAssembler(format: .vp9)
    var out: [EncodedFrame] = []
    for index in 0..<2 {
      for packet in source.next(isKeyFrame: index == 0, size: 300) { assembler.insert(packet, into: &out) }
    }
    #expect(out.map(\.data) == source.frames)
  }

  @Test func `an H_264 frame waits for the packet before it, which shows its start`() {
    var source = MediaSource(.h264)
    var assembler = FrameAssembler(format: .h264)
    var out: [EncodedFrame] = []
    let key = source.next(isKeyFrame: true, size: 50)
    let lost = source.next(isKeyFrame: false, size: 50)
    let next = source.next(isKeyFrame: false, size: 50)
    for packet in key + next { assembler.insert(packet, into: &out) }
    #expect(out.count == 1)
    for packet in lost { assembler.insert(packet, into: &out) }
    #expect(out.map(\.data) == source.frames)
  }

  @Test func `a packet of another timestamp continues no frame, and may begin one`() {
    func packet(_ number: UInt16, _ timestamp: UInt32, marker: Bool, _ payload: [UInt8]) -> Packet {
      let header = RTPHeader(
        payloadType: 96, marker: marker, sequenceNumber: number, timestamp: timestamp, ssrc: 1)
      return Packet(bytes: written { _ = header.write(into: &$0) } + payload, frame: 0, number: number)
    }
    var out: [EncodedFrame] = []
    var vp8 = FrameAssembler(format: .vp8)
    vp8.insert(packet(1, 0, marker: false, [0x10, 0x11, 1, 2]), into: &out)
    vp8.insert(packet(2, 3_000, marker: true, [0x00, 3]), into: &out)
    #expect(out.isEmpty)
    // Some senders of H.264 set no marker.
    var h264 = FrameAssembler(format: .h264)
    h264.insert(packet(1, 0, marker: false, [0x61, 0x88, 1]), into: &out)
    h264.insert(packet(2, 3_000, marker: true, [0x61, 0x88, 2]), into: &out)
    #expect(out.map(\.data) == [[0, 0, 0, 1, 0x61, 0x88, 2]])
  }

  @Test func `damaged packets never trap, and no mix of frames comes out`() {
    for format in Self.formats {
      var source = MediaSource(format, seed: 5)
      var random = RandomSource(seed: 5).stream("damage")
      var assembler = FrameAssembler(format: format)
      var out: [EncodedFrame] = []
      for index in 0..<150 {
        for var packet in source.next(isKeyFrame: index % 8 == 0) {
          for _ in 0..<(random.chance(0.3) ? 3 : 0) {
            let place = Int(random.uniform(below: UInt64(min(20, packet.bytes.count))))
            packet.bytes[place] = UInt8(random.next() >> 56)
          }
          assembler.insert(packet, into: &out)
        }
      }
      #expect(out.allSatisfy { frame in frame.sequences.count <= FrameAssembler.maximumCapacity })
    }
  }
}
