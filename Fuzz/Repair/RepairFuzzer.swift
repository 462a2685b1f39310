import CallCore
import FuzzHarness
import RTP

/// The bytes are packets for a decoder of repair packets, each with its length in two bytes before it: packets of a
/// sender, damaged or not, and anything else.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRepair(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { bytes in
    var input = FuzzInput(bytes)
    let format = RepairFormat.allCases[Int(input.byte()) % RepairFormat.allCases.count]
    readHeader(bytes, format)
    return receive(&input, format)
  }
}

/// What is read must survive being written.
private func readHeader(_ bytes: RawSpan, _ format: RepairFormat) {
  guard let payload = RepairPayload(parsing: bytes, format: format) else { return }
  let written = encoded(payload, format)
  require(RepairPayload(parsing: written.span.bytes, format: format) == payload, "a payload changed by being written")
}

private func encoded(_ payload: RepairPayload, _ format: RepairFormat) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: payload.encodedSize(format: format)) { buffer, count in
    var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
    _ = payload.write(format: format, into: &output)
    count = output.finalize(for: buffer)
  }
}

private func receive(_ input: inout FuzzInput, _ format: RepairFormat) -> Int {
  var encoder = RepairEncoder(format: format)
  encoder.protection = Protection(
    keyFactor: input.byte(), deltaFactor: input.byte(), maximumFrames: Int(input.byte() % 8))
  encoder.kind = input.byte() & 1 == 0 ? .random : .bursty
  var decoder = RepairDecoder(format: format, ssrc: 1)
  var (number, seen) = (UInt16(65_500), 0)
  for _ in 0..<200 where !input.isEmpty {
    let flags = input.byte()
    switch flags & 3 {
    case 0: decoder.receive(media: input.chunk().span.bytes)
    case 1: decoder.receive(repair: input.chunk().span.bytes)
    default:
      number &+= UInt16(flags >> 2 & 7)
      let packet = media(number, payload: input.take(Int(input.byte() % 40)))
      encoder.add(packet.span.bytes, isKeyFrame: flags & 32 != 0, endsFrame: flags & 64 != 0)
      if flags & 128 == 0 { decoder.receive(media: packet.span.bytes) }
    }
    while let repair = encoder.next() {
      var bytes = encoded(repair, format)
      let place = Int(input.byte())
      if place < bytes.count { bytes[place] ^= input.byte() }
      decoder.receive(repair: bytes.span.bytes)
    }
    while let packet = decoder.next() {
      guard let parsed = RTPPacket(parsing: packet.span.bytes) else { fatalError("a recovered packet is malformed") }
      require(parsed.header.ssrc == 1, "a recovered packet of another stream")
      seen += packet.count
    }
    require(decoder.pendingCount <= RepairDecoder.pendingLimit, "too many repair packets wait")
    require(encoder.pendingCount <= RepairEncoder.groupLimit, "a group is too large")
  }
  return seen
}

private func media(_ number: UInt16, payload: [UInt8]) -> [UInt8] {
  let header = RTPHeader(payloadType: 96, sequenceNumber: number, timestamp: UInt32(number) &* 3_000, ssrc: 1)
  return [UInt8](unsafeUninitializedCapacity: 100) { buffer, count in
    var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
    _ = header.write(into: &output)
    output.append(contentsOf: payload.span.bytes)
    count = output.finalize(for: buffer)
  }
}
