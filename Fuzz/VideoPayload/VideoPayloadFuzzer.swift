import CallCore
import FuzzHarness
import RTP
import VideoReceive

/// The bytes are payloads of a format, each with its length in two bytes before it: each is read as a payload, and all
/// of them go through a receiver. The rest is a frame to packetise.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzVideoPayload(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { bytes in
    var input = FuzzInput(bytes)
    let formats: [VideoFormat] = [.vp8, .vp9, .h264, .av1, .generic]
    let format = formats[Int(input.byte()) % formats.count]
    var seen = receive(&input, format)
    readExtension(bytes)
    seen += packetise(input.rest(), format)
    return seen
  }
}

/// Gives datagrams made of the input to a receiver.
private func receive(_ input: inout FuzzInput, _ format: VideoFormat) -> Int {
  var settings = VideoReceiver.Settings(codecs: [.init(payloadType: 96, format: format)])
  settings.dependencyDescriptorID = 1
  var receiver = VideoReceiver(settings: settings, at: .zero)
  var (now, number, seen) = (Instant.zero, UInt16(65_530), 0)
  for _ in 0..<64 where !input.isEmpty {
    let flags = input.byte()
    number &+= UInt16(flags & 3)
    var header = RTPHeader(
      payloadType: 96, marker: flags & 4 != 0, sequenceNumber: number, timestamp: UInt32(flags >> 6) * 3_000, ssrc: 1)
    if flags & 8 != 0 { header.timestamp &+= UInt32(input.word()) << 8 }
    var extensions = RTPHeaderExtensions()
    if flags & 16 != 0 { extensions.append(id: 1, bytes: input.take(Int(input.byte() % 60)).span.bytes) }
    let payload = input.take(Int(input.word() % 1_200))
    let datagram = [UInt8](unsafeUninitializedCapacity: 2_000) { buffer, count in
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      _ = header.write(into: &output, extensions: extensions)
      for byte in payload { output.append(byte) }
      count = output.finalize(for: buffer)
    }
    let span = datagram.span.bytes
    guard let packet = RTPPacket(parsing: span) else { continue }
    receiver.receive(packet, in: span, isRetransmission: flags & 32 != 0, at: now)
    now += .milliseconds(Int64(flags))
    receiver.advance(to: now)
    while let picture = receiver.takePicture(at: now) {
      require(!picture.frames.isEmpty, "a picture without a frame")
      require(picture.renderTime >= now, "a picture is shown before it is decoded")
      seen += picture.frames.count
    }
    while receiver.takeNACK(at: now) != nil { seen += 1 }
    if receiver.takeKeyFrameRequest(at: now) != nil { seen += 1 }
  }
  return seen
}

/// Cuts a frame, and checks that what is put together again is the same.
private func packetise(_ frame: [UInt8], _ format: VideoFormat) -> Int {
  let kind: VideoPacketizer.Frame =
    switch format {
    case .vp8: .vp8(VP8PayloadDescriptor(pictureID: .long(1)))
    case .vp9: .vp9(VP9PayloadDescriptor(pictureID: .long(1)))
    case .h264: .h264(.nonInterleaved)
    case .av1: .av1(isKeyFrame: true)
    case .generic: .generic(isKeyFrame: true, pictureID: nil)
    }
  var packetizer = VideoPacketizer()
  let limits = PayloadLimits(maximum: 30, firstReduction: 3, lastReduction: 5)
  guard let count = packetizer.begin(frame.span.bytes, as: kind, limits: limits) else { return 0 }
  var (again, builder, packets) = ([UInt8](), AV1FrameBuilder(), 0)
  while packets < count {
    let payload = [UInt8](unsafeUninitializedCapacity: 64) { buffer, count in
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      require(packetizer.next(of: frame.span.bytes, into: &output) != nil, "fewer packets than were announced")
      count = output.finalize(for: buffer)
    }
    packets += 1
    require(payload.count <= limits.maximum, "a payload of \(payload.count) bytes")
    guard let read = VideoPayload(parsing: payload.span.bytes, format: format) else { return packets }
    switch format {
    case .av1: builder.append(payload.span.bytes, to: &again)
    case .h264: H264Payload.append(payload.span.bytes, toByteStream: &again)
    default: again += payload[read.dataOffset...]
    }
  }
  if format == .vp8 || format == .vp9 || format == .generic { require(again == frame, "the frame does not survive") }
  return packets
}

/// What is read of a Dependency Descriptor is written and read again.
private func readExtension(_ bytes: RawSpan) {
  guard case .descriptor(let read) = DependencyDescriptor.read(bytes, structure: nil),
    let encoded = read.encoded(structure: nil)
  else { return }
  guard case .descriptor(let again) = DependencyDescriptor.read(encoded.span.bytes, structure: nil) else {
    return require(false, "a descriptor does not survive")
  }
  require(again.structure == read.structure, "the structure differs")
  require(again.dependencies == read.dependencies, "the dependencies differ")
}
