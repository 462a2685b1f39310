import CallCore
import RTP
import Testing

@testable import VideoReceive

@Suite struct LayerTests {
  /// Writes the packets of one frame.
  func packets(
    of bytes: [UInt8], as kind: VideoPacketizer.Frame, timestamp: UInt32, endsPicture: Bool, number: inout UInt16
  ) -> [Packet] {
    var packetizer = VideoPacketizer()
    guard let count = packetizer.begin(bytes.span.bytes, as: kind, limits: PayloadLimits(maximum: 300)) else {
      return []
    }
    return (0..<count).map { place in
      let header = RTPHeader(
        payloadType: 96, marker: endsPicture && place == count - 1, sequenceNumber: number, timestamp: timestamp,
        ssrc: 1)
      defer { number &+= 1 }
      return Packet(
        bytes: written { output in
          _ = header.write(into: &output)
          _ = packetizer.next(of: bytes.span.bytes, into: &output)
        }, frame: 0, number: number)
    }
  }

  @Test func `the spatial layers of a VP9 picture are decoded together, and only when both are here`() {
    var random = RandomSource(seed: 4).stream("svc")
    var sequence = VP9DescriptorSequence(random: &random)
    var receiver = VideoReceiver(settings: .init(codecs: [.init(payloadType: 96, format: .vp9)]), at: .zero)
    var (number, pictures, sent) = (UInt16(65_533), [[[UInt8]]](), [[[UInt8]]]())
    var held: [Packet] = []
    for index in 0..<40 {
      let isKey = index == 0
      let now = Instant.milliseconds(Int64(index) * 33)
      sequence.beginPicture()
      let frames = [random.bytes(200), random.bytes(900)]
      sent.append(frames)
      let structure = VP9ScalabilityStructure(
        spatialLayerCount: 2, pictures: [.init(temporalLayer: 0, references: [1])])
      let low = sequence.frame(isInterPicturePredicted: !isKey, structure: isKey ? structure : nil)
      let high = sequence.frame(
        isInterPicturePredicted: !isKey, layer: .init(spatial: 1, isInterLayerPredicted: true))
      let timestamp = UInt32(index) * 3_000
      var all = packets(of: frames[0], as: .vp9(low), timestamp: timestamp, endsPicture: false, number: &number)
      all += packets(of: frames[1], as: .vp9(high), timestamp: timestamp, endsPicture: true, number: &number)
      for packet in held { receiver.receive(packet, isRetransmission: true, at: now) }
      // The upper layer's last packet of every seventh picture comes a picture late.
      held = index % 7 == 5 ? [all.removeLast()] : []
      for packet in all { receiver.receive(packet, at: now) }
      while let picture = receiver.takePicture(at: now + .milliseconds(32)) {
        pictures.append(picture.frames.map(\.data))
      }
    }
    while let picture = receiver.takePicture(at: .milliseconds(5_000)) { pictures.append(picture.frames.map(\.data)) }
    #expect(pictures == sent)
  }

  @Test func `a lost frame of the highest temporal layer holds up nothing`() {
    var random = RandomSource(seed: 5).stream("temporal")
    var sequence = VP8DescriptorSequence(random: &random)
    var settings = VideoReceiver.Settings(codecs: [.init(payloadType: 96, format: .vp8)])
    settings.nack = nil
    var receiver = VideoReceiver(settings: settings, at: .zero)
    var (number, decoded, sent) = (UInt16(0), [[UInt8]](), [[UInt8]]())
    for index in 0..<80 {
      // Layers 0 1, the upper one refers to the base frame alone.
      let layer = UInt8(index % 2)
      let head: [UInt8] = index == 0 ? [0x10, 0, 0, 0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01] : [0x11, 0, 0]
      let bytes = head + random.bytes(100)
      let descriptor = sequence.next(temporalLayer: layer, isLayerSync: layer == 1)
      let all = packets(
        of: bytes, as: .vp8(descriptor), timestamp: UInt32(index) * 3_000, endsPicture: true, number: &number)
      let now = Instant.milliseconds(Int64(index) * 33)
      if index % 10 != 3 {
        sent.append(bytes)
        for packet in all { receiver.receive(packet, at: now) }
      }
      while let picture = receiver.takePicture(at: now + .milliseconds(32)) { decoded += picture.frames.map(\.data) }
    }
    while let picture = receiver.takePicture(at: .milliseconds(9_000)) { decoded += picture.frames.map(\.data) }
    #expect(decoded == sent)
    #expect(receiver.keyFrames.neededCount == 0)
  }
}
