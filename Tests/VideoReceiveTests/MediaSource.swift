import CallCore
import RTP
import Testing

@testable import VideoReceive

extension Instant {
  static func milliseconds(_ count: Int64) -> Instant { .zero + .milliseconds(count) }
}

/// The bytes `body` writes.
func written(capacity: Int = 4_000, _ body: (inout OutputSpan<UInt8>) -> Void) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
    var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
    body(&output)
    count = output.finalize(for: buffer)
  }
}

/// A datagram, and the frame it belongs to.
struct Packet {
  var bytes: [UInt8]
  var frame: Int
  var number: UInt16
}

/// A sender of generated frames.
struct MediaSource: ~Copyable {
  let format: VideoFormat
  var random: RandomStream
  var number: UInt16
  var payloadType: UInt8 = 96
  var timestamp: UInt32 = 0xFFFF_F000
  /// The bytes of each frame, as they are to come out.
  var frames: [[UInt8]] = []
  var packetizer = VideoPacketizer()
  var payloadSize: ClosedRange<Int64> = 40...1_200
  var ticks: UInt32 = 3_000

  init(_ format: VideoFormat, seed: UInt64 = 1, number: UInt16 = 65_500) {
    self.format = format
    self.number = number
    random = RandomSource(seed: seed).stream("source/\(format)")
  }

  static let sequenceSet: [UInt8] = [
    0x67, 0x42, 0xC0, 0x1F, 0x8C, 0x8D, 0x40, 0x50, 0x1E, 0xD0, 0x0F, 0x08, 0x84, 0x6A,
  ]
  static let pictureSet: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]

  /// The next frame's packets.
  mutating func next(isKeyFrame: Bool, size: Int? = nil) -> [Packet] {
    let size = size ?? Int(random.uniform(in: 20...(random.chance(0.1) ? 20_000 : 3_000)))
    let (bytes, kind) = content(isKeyFrame: isKeyFrame, size: size)
    let index = frames.count
    frames.append(bytes)
    let limits = PayloadLimits(maximum: Int(random.uniform(in: payloadSize)))
    guard let count = packetizer.begin(bytes.span.bytes, as: kind, limits: limits) else {
      Issue.record("a frame of \(size) bytes does not fit")
      return []
    }
    timestamp &+= ticks
    var packets: [Packet] = []
    for place in 0..<count {
      let header = RTPHeader(
        payloadType: payloadType, marker: place == count - 1, sequenceNumber: number, timestamp: timestamp, ssrc: 1)
      let datagram = written { output in
        _ = header.write(into: &output)
        _ = packetizer.next(of: bytes.span.bytes, into: &output)
      }
      packets.append(Packet(bytes: datagram, frame: index, number: number))
      number &+= 1
    }
    return packets
  }

  /// A packet without a payload.
  mutating func padding() -> Packet {
    let header = RTPHeader(payloadType: 96, sequenceNumber: number, timestamp: timestamp, ssrc: 1)
    defer { number &+= 1 }
    return Packet(bytes: written { _ = header.write(into: &$0) }, frame: -1, number: number)
  }

  private mutating func content(isKeyFrame: Bool, size: Int) -> ([UInt8], VideoPacketizer.Frame) {
    let id = UInt16(truncatingIfNeeded: frames.count + 0x7FF0) & 0x7FFF
    var bytes = random.bytes(size)
    switch format {
    case .vp8:
      let head: [UInt8] = isKeyFrame ? [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01] : [0x11, 0, 0]
      bytes.replaceSubrange(0..<head.count, with: head)
      let descriptor = VP8PayloadDescriptor(
        pictureID: .long(id), temporalLayerZeroIndex: UInt8(truncatingIfNeeded: frames.count), temporalLayer: 0)
      return (bytes, .vp8(descriptor))
    case .vp9:
      let descriptor = VP9PayloadDescriptor(
        pictureID: .long(id), isInterPicturePredicted: !isKeyFrame, layer: .init(),
        temporalLayerZeroIndex: UInt8(truncatingIfNeeded: frames.count),
        structure: isKeyFrame ? VP9ScalabilityStructure(pictures: [.init(temporalLayer: 0, references: [1])]) : nil)
      return (bytes, .vp9(descriptor))
    case .generic: return (bytes, .generic(isKeyFrame: isKeyFrame, pictureID: id))
    case .h264:
      let head = isKeyFrame ? [Self.sequenceSet, Self.pictureSet] : []
      // The slice header names the first macroblock and the picture parameter set 0.
      let slice: [UInt8] = [isKeyFrame ? 0x65 : 0x61, 0x88, 0x84] + bytes.map { $0 | 1 }
      return ((head + [slice]).flatMap { [0, 0, 0, 1] + $0 }, .h264(.nonInterleaved))
    case .av1:
      let sequence: [UInt8] = isKeyFrame ? [0x0A, 3, 1, 2, 3] : []
      let picture: [UInt8] = [0x32, UInt8(size & 127) | 0x80, UInt8(size >> 7 & 127) | 0x80, UInt8(size >> 14)]
      return (sequence + minimalSize(picture, size) + bytes, .av1(isKeyFrame: isKeyFrame))
    }
  }

  /// A unit's header with its size in the fewest bytes.
  private func minimalSize(_ header: [UInt8], _ size: Int) -> [UInt8] {
    if size < 128 { return [header[0], UInt8(size)] }
    if size < 1 << 14 { return [header[0], UInt8(size & 127) | 0x80, UInt8(size >> 7)] }
    return header
  }
}

extension FrameAssembler {
  @discardableResult
  mutating func insert(_ packet: Packet, at now: Instant = .zero, into frames: inout [EncodedFrame]) -> Insertion? {
    let span = packet.bytes.span.bytes
    guard let read = RTPPacket(parsing: span) else { return nil }
    guard !read.payloadRange.isEmpty else { return insertPadding(read.header, at: now, into: &frames) }
    let bytes = span.extracting(read.payloadRange)
    guard let payload = VideoPayload(parsing: bytes, format: format) else { return nil }
    return insert(payload, bytes: bytes, header: read.header, at: now, into: &frames)
  }
}

extension VideoReceiver {
  @discardableResult
  mutating func receive(_ packet: Packet, isRetransmission: Bool = false, at now: Instant) -> Verdict? {
    let span = packet.bytes.span.bytes
    guard let read = RTPPacket(parsing: span) else { return nil }
    return receive(read, in: span, isRetransmission: isRetransmission, at: now)
  }
}
