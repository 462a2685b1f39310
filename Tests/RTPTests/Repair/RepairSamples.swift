import CallCore
import RTP

/// Media packets of one stream with random sizes and contents.
struct RepairSamples {
  static let ssrc: UInt32 = 0x1122_3344

  var packets: [[UInt8]] = []

  /// - Parameter gaps: whether some numbers are left out, as those of repair packets on the stream of the media are.
  init(_ count: Int, first: UInt16 = 65_530, seed: UInt64 = 1, gaps: Bool = false, largest: UInt64 = 60) {
    var random = RandomSource(seed: seed).stream("media")
    var number = first
    for index in 0..<count {
      let header = RTPHeader(
        payloadType: UInt8(96 + random.uniform(below: 4)), marker: random.chance(0.3), sequenceNumber: number,
        timestamp: UInt32(truncatingIfNeeded: random.next()), ssrc: Self.ssrc)
      let sources = (0..<Int(random.uniform(below: 3))).map(UInt32.init)
      let payload = random.bytes(Int(random.uniform(below: largest)))
      packets.append(
        written {
          _ = header.write(into: &$0, contributingSources: sources)
          $0.append(contentsOf: payload.span.bytes)
        })
      number &+= 1
      if gaps, index % 3 == 2 { number &+= 1 }
    }
  }

  /// The repair packets of all packets as one group.
  func repairs(_ format: RepairFormat, factor: UInt8, kind: RepairMasks.Kind = .random) -> [[UInt8]] {
    var encoder = RepairEncoder(format: format)
    encoder.protection = Protection(keyFactor: factor, deltaFactor: factor, maximumFrames: 1)
    encoder.kind = kind
    for (index, packet) in packets.enumerated() {
      encoder.add(packet.span.bytes, isKeyFrame: false, endsFrame: index == packets.count - 1)
    }
    var repairs: [[UInt8]] = []
    while let repair = encoder.next() { repairs.append(repair.encoded(format)) }
    return repairs
  }

  /// The factor that gives so many repair packets.
  func factor(for count: Int) -> UInt8 {
    UInt8((1...255).first { RepairMasks.count(mediaCount: packets.count, factor: UInt8($0)) == count } ?? 0)
  }
}

extension RepairPayload {
  func encoded(_ format: RepairFormat) -> [UInt8] { written(capacity: 4_000) { _ = write(format: format, into: &$0) } }

  // Expectations cannot hold spans: these take the bytes themselves.
  init?(bytes: [UInt8], _ format: RepairFormat) { self.init(parsing: bytes.span.bytes, format: format) }
}

extension RepairDecoder {
  mutating func receive(media bytes: [UInt8]) { receive(media: bytes.span.bytes) }
  mutating func receive(repair bytes: [UInt8]) { receive(repair: bytes.span.bytes) }

  mutating func takeAll() -> [[UInt8]] {
    var result: [[UInt8]] = []
    while let packet = next() { result.append(packet) }
    return result
  }
}
