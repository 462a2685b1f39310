import CallCore
import Codecs
import RTP
import StackWorlds
import Testing

@testable import JitterBuffer

/// Several decoders in one buffer, and packets that are not sound or come inside others.
@Suite struct FormatTests {
  // MARK: Time line

  @Test func `with the clock of 48 kHz a position is the unwrapped timestamp`() {
    var (line, unwrapper) = (PlayoutTimeline(), TimestampUnwrapper())
    for (sequence, timestamp) in [UInt32.max - 1_000, UInt32.max - 40, 920, 1_880, 500].enumerated() {
      let wanted = unwrapper.unwrap(timestamp)
      #expect(line.place(timestamp, sequence: Int64(sequence), scale: 1) == wanted)
      #expect(line.timestamp(at: wanted) == timestamp)
    }
  }

  @Test func `a change of the clock leaves no gap, and positions know their timestamps`() {
    var line = PlayoutTimeline()
    // 20 ms each: two packets of 48 kHz, three of 8 kHz, two of 48 kHz.
    let packets: [(timestamp: UInt32, scale: Int64)] = [
      (4_294_966_000, 1), (4_294_966_960, 1), (624, 6), (784, 6), (944, 6), (1_104, 1), (2_064, 1),
    ]
    var positions: [Int64] = []
    for (sequence, packet) in packets.enumerated() {
      let peeked = line.peek(packet.timestamp, sequence: Int64(sequence), scale: packet.scale)
      positions.append(line.place(packet.timestamp, sequence: Int64(sequence), scale: packet.scale))
      #expect(peeked == positions.last)
    }
    #expect(positions == (0..<7).map { (number: Int64) -> Int64 in 4_294_966_000 + 960 * number })
    #expect(line.timestamp(at: positions[4]) == 944)
    #expect(line.timestamp(at: positions[6]) == 2_064)
  }

  @Test func `a packet from before a change that comes after it keeps its place`() {
    var line = PlayoutTimeline()
    #expect(line.place(0, sequence: 0, scale: 1) == 0)
    #expect(line.place(1_920, sequence: 2, scale: 6) == 1_920)
    #expect(line.place(960, sequence: 1, scale: 1) == 960)
    #expect(line.place(2_080, sequence: 3, scale: 6) == 2_880)
  }

  // MARK: Redundancy

  struct World: ~Copyable {
    var buffer = AudioJitterBuffer(decoder: .synthetic(SyntheticAudioDecoder()))
    var talker = Talker()
    var now = Instant.zero

    init() {
      talker.sequence = 100
      talker.timestamp = 10_000
    }

    mutating func insert(_ arrival: Arrival) {
      let payload = arrival.payload
      buffer.insert(arrival.header, payload: payload.span.bytes, at: now)
    }

    mutating func insertCopy(_ arrival: Arrival) {
      let payload = arrival.payload
      buffer.insertRedundant(arrival.header, payload: payload.span.bytes, at: now)
    }

    /// Inserts packets with a copy of the one before in each; the lost ones come only as copies.
    mutating func run(_ count: Int, isLost: (Int) -> Bool, depth: Int = 1) {
      let arrivals = talker.stream(count)
      for index in arrivals.indices {
        if !isLost(index) {
          for back in stride(from: depth, to: 0, by: -1) where index >= back {
            insertCopy(arrivals[index - back])
          }
          insert(arrivals[index])
        }
        pull(2)
      }
    }

    mutating func pull(_ count: Int) {
      let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 480)
      defer { room.deallocate() }
      for _ in 0..<count {
        var output = OutputSpan<Int16>(buffer: room, initializedCount: 0)
        _ = buffer.pull(into: &output, at: now)
        _ = output.finalize(for: room)
        now += .milliseconds(10)
      }
    }
  }

  @Test func `copies of lost packets take their places`() {
    var world = World()
    world.run(200) { $0 % 10 == 9 && $0 < 195 }
    let statistics = world.buffer.statistics
    #expect(statistics.recoveredSamples == 19 * 960 && statistics.concealedSamples == 0)
    #expect(statistics.fecPacketsReceived - statistics.fecPacketsDiscarded == 19)
    #expect(statistics.duplicatePackets == 0 && statistics.packetsDiscarded == 0)
  }

  @Test func `a copy that a late packet follows does not count as a duplicate`() {
    var world = World()
    let arrivals = world.talker.stream(3)
    world.insert(arrivals[0])
    world.insertCopy(arrivals[1])
    world.insert(arrivals[2])
    world.insert(arrivals[1])
    #expect(world.buffer.packetCount == 3 && world.buffer.statistics.duplicatePackets == 0)
  }

  @Test func `a copy before the first packet, of another source or from far away is not taken`() {
    var world = World()
    let arrivals = world.talker.stream(2)
    world.insertCopy(arrivals[0])
    #expect(world.buffer.packetCount == 0)
    world.insert(arrivals[1])
    for change: (inout RTPHeader) -> Void in [
      { $0.ssrc = 99 }, { $0.sequenceNumber &+= 20_000 }, { $0.timestamp &+= 1 << 30 },
    ] {
      var header = arrivals[0].header
      change(&header)
      world.insertCopy(Arrival(at: world.now, header: header, payload: arrivals[0].payload))
    }
    #expect(world.buffer.packetCount == 1 && world.buffer.statistics.resynchronizations == 0)
  }

  // MARK: Hostile input

  @Test(arguments: 0..<8 as Range<UInt64>) func `any packets of any formats neither trap nor hang`(seed: UInt64) throws
  {
    var buffer = AudioJitterBuffer(decoder: .opus(try OpusDecoder()))
    let others: [(AudioDecoder, UInt32)] = [
      (.telephony(TelephonyDecoder(.pcmu)), 8_000), (.telephony(TelephonyDecoder(.g722)), 8_000),
      (.comfortNoise(ComfortNoiseDecoder()), 8_000),
      (.tones(ToneDecoder(clockRate: 8_000, producesSamples: true)), 8_000),
      (.tones(ToneDecoder(clockRate: 48_000, producesSamples: true)), 48_000),
    ]
    for (index, other) in others.enumerated() {
      buffer.setFormat(buffer.add(other.0, clockRate: other.1), of: UInt8(index + 1))
    }
    var random = RandomSource(seed: seed).stream("hostile")
    let room = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 480)
    defer { room.deallocate() }
    var now = Instant.zero
    for step in 0..<3_000 {
      let isWild = random.uniform(below: 20) == 0
      let header = RTPHeader(
        payloadType: UInt8(random.uniform(below: 6)),
        sequenceNumber: isWild ? UInt16(random.uniform(below: 65_536)) : UInt16(truncatingIfNeeded: step),
        timestamp: isWild ? UInt32(truncatingIfNeeded: random.next()) : UInt32(160 * step), ssrc: 1)
      let payload = (0..<Int(random.uniform(below: 200))).map { _ in UInt8(random.uniform(below: 256)) }
      if random.uniform(below: 3) == 0 {
        buffer.insertRedundant(header, payload: payload.span.bytes, at: now)
      } else {
        buffer.insert(header, payload: payload.span.bytes, at: now)
      }
      var output = OutputSpan<Int16>(buffer: room, initializedCount: 0)
      let frame = buffer.pull(into: &output, at: now)
      let count = output.finalize(for: room)
      #expect(frame.sampleCount == 480 && count == 480)
      now += .milliseconds(10)
    }
  }
}
