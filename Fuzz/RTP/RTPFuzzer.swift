import CallCore
import Codecs
import FuzzHarness
import RTP

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRTP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { datagram in
    guard let packet = RTPPacket(parsing: datagram) else { return 0 }
    require(packet.payloadRange.upperBound + packet.paddingCount == datagram.byteCount, "bytes unaccounted for")
    var seen = 0
    for id in UInt8.min ... .max {
      guard let element = packet.extensionElement(id: id, in: datagram) else { continue }
      require(
        packet.extensionRange.lowerBound < element.lowerBound && element.upperBound <= packet.extensionRange.upperBound,
        "element \(id) lies outside its header extension")
      seen += 1 + Int(packet.audioLevel(id: id, in: datagram)?.level ?? 0)
      seen += packet.mediaIdentification(id: id, in: datagram)?.count ?? 0
      seen += Int(packet.transportSequenceNumber(id: id, in: datagram) ?? 0)
    }
    rewrite(packet, datagram)
    if let opus = OpusPacket(parsing: datagram.extracting(packet.payloadRange)) { seen += opus.samplesPerChannel }
    return seen
  }
}

/// The header written again from what was read: the same fields and sources.
private func rewrite(_ packet: RTPPacket, _ datagram: RawSpan) {
  let sources = (0..<packet.contributingSourceCount).compactMap { packet.contributingSource($0, in: datagram) }
  require(sources.count == packet.contributingSourceCount, "sources are missing")
  let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 128)
  defer { memory.deallocate() }
  var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
  require(packet.header.write(into: &output, contributingSources: sources) != nil, "the header does not fit")
  let again = RTPPacket(parsing: output.span.bytes)
  require(again?.header == packet.header, "the header does not survive")
  require(output.span.bytes.copied.dropFirst() == datagram.bytes(in: 1..<output.count)?[...], "the header differs")
}
