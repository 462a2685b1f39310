import Bitstreams
import CallCore
import RTP
import Testing

@Suite struct PayloadRoundTripTests {
  static let formats: [VideoFormat] = [.vp8, .vp9, .h264, .av1, .generic]

  /// A frame of a format, and how it is packetised.
  static func frame(_ format: VideoFormat, _ random: inout RandomStream) -> ([UInt8], VideoPacketizer.Frame) {
    let size = Int(random.uniform(in: 1...(random.chance(0.2) ? 20_000 : 300)))
    switch format {
    case .vp8: return (random.bytes(size), .vp8(VP8PayloadDescriptor(pictureID: .long(9), temporalLayer: 1)))
    case .vp9:
      let descriptor = VP9PayloadDescriptor(
        pictureID: .long(9), layer: .init(), temporalLayerZeroIndex: 3,
        structure: random.chance(0.3) ? VP9ScalabilityStructure(pictures: [.init(temporalLayer: 0)]) : nil)
      return (random.bytes(size), .vp9(descriptor))
    case .generic: return (random.bytes(size), .generic(isKeyFrame: true, pictureID: random.chance(0.5) ? 8 : nil))
    case .h264:
      var bytes: [UInt8] = []
      for _ in 0..<random.uniform(in: 1...6) {
        // A NAL unit neither contains a start code nor ends with zero.
        let count = Int(random.uniform(in: 1...Int64(size)))
        bytes += [0, 0, 0, 1, UInt8(random.uniform(in: 1...5)) | 0x60] + random.bytes(count).map { $0 | 1 }
      }
      return (bytes, .h264(.nonInterleaved))
    case .av1:
      var bytes: [UInt8] = []
      for _ in 0..<random.uniform(in: 1...6) {
        let kind: UInt8 = [1, 3, 4, 5, 6][Int(random.uniform(below: 5))]
        let layers: UInt8? = random.chance(0.3) ? 0x20 : nil
        bytes += av1Unit(kind, layers: layers, random.bytes(Int(random.uniform(in: 0...Int64(size)))))
      }
      return (bytes, .av1(isKeyFrame: random.chance(0.5)))
    }
  }

  static func joined(_ payloads: [[UInt8]], _ format: VideoFormat) -> [UInt8]? {
    var frame: [UInt8] = []
    var builder = AV1FrameBuilder()
    for bytes in payloads {
      guard let payload = VideoPayload(bytes: bytes, format) else { return nil }
      switch format {
      case .h264: H264Payload.append(bytes.span.bytes, toByteStream: &frame)
      case .av1: builder.append(bytes.span.bytes, to: &frame)
      default: frame += bytes[payload.dataOffset...]
      }
    }
    return builder.isWhole() ? frame : nil
  }

  @Test(arguments: formats) func `any frame comes back from payloads of any size`(format: VideoFormat) {
    var random = RandomSource(seed: 11).stream("frames/\(format)")
    var several = 0
    for _ in 0..<400 {
      let (frame, kind) = Self.frame(format, &random)
      let limits = PayloadLimits(
        maximum: Int(random.uniform(in: 30...1_400)), firstReduction: Int(random.uniform(below: 12)),
        lastReduction: Int(random.uniform(below: 12)))
      guard let payloads = packetized(of: frame, as: kind, limits: limits) else {
        Issue.record("\(frame.count) bytes of \(format) were refused within \(limits)")
        continue
      }
      several += payloads.count > 1 ? 1 : 0
      #expect(Self.joined(payloads.map(\.bytes), format) == frame)
      #expect(payloads.map(\.place.isFirst) == payloads.indices.map { $0 == 0 })
      #expect(payloads.map(\.place.isLast) == payloads.indices.map { $0 == payloads.count - 1 })
      #expect(payloads.allSatisfy { $0.bytes.count <= limits.maximum })
      if payloads.count > 1 {
        #expect(payloads[0].bytes.count <= limits.maximum - limits.firstReduction)
        #expect(payloads[payloads.count - 1].bytes.count <= limits.maximum - limits.lastReduction)
      } else {
        #expect(payloads[0].bytes.count <= limits.maximum - limits.singleReduction)
      }
    }
    #expect(several > 80)
  }

  @Test(arguments: formats) func `damaged payloads never trap, and give ranges inside them`(format: VideoFormat) {
    var random = RandomSource(seed: 13).stream("damage/\(format)")
    for _ in 0..<500 {
      let (frame, kind) = Self.frame(format, &random)
      for payload in packetized(of: frame, as: kind, limits: .init(maximum: 200))?.prefix(3) ?? [] {
        var bytes = payload.bytes
        for _ in 0..<random.uniform(in: 1...4) {
          let place = Int(random.uniform(below: UInt64(min(24, bytes.count))))
          bytes[place] = UInt8(random.next() >> 56)
        }
        if random.chance(0.3) { bytes.removeLast(Int(random.uniform(below: UInt64(bytes.count)))) }
        if let read = VideoPayload(bytes: bytes, format) { #expect(read.dataOffset <= bytes.count) }
        _ = Self.joined([bytes], format)
      }
    }
  }

  @Test func `random bytes never trap a parser of frames`() {
    var random = RandomSource(seed: 17).stream("noise")
    for _ in 0..<6_000 {
      var bytes = random.bytes(Int(random.uniform(below: 60)))
      if !bytes.isEmpty, random.chance(0.5) { bytes[0] = 0x67 }
      let span = bytes.span.bytes
      _ = (VP8FrameHeader(parsing: span), H264SequenceParameterSet(parsing: span))
      _ = (H264PictureParameterSet(parsing: span), H264SliceHeader(parsing: span))
      if var red = REDPayload(parsing: span) {
        var last = 0
        while let block = red.next(in: span) { last = block.range.upperBound }
        #expect(last == bytes.count)
      }
      for kind: VideoPacketizer.Frame in [.h264(.nonInterleaved), .av1(isKeyFrame: true)] {
        var packetizer = VideoPacketizer()
        _ = packetizer.begin(span, as: kind, limits: PayloadLimits(maximum: Int(random.uniform(below: 40))))
      }
      if case .descriptor(let read) = DependencyDescriptor.read(span, structure: DependencyDescriptorTests.structure),
        let structure = read.structure
      {
        #expect(structure.isValid)
      }
    }
  }
}
