import CallCore
import FuzzHarness
import RTP

/// What is read is written and read again, and must be the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRTCP(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { datagram in
    var reader = RTCPReader()
    var seen = 0
    while let packet = reader.next(in: datagram) {
      seen += 1
      require(seen <= datagram.byteCount / 4, "more packets than headers fit")
      rewrite(packet)
    }
    return seen + reader.malformedCount
  }
}

private func rewrite(_ packet: RTCPPacket) {
  let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1 << 16)
  defer { memory.deallocate() }
  var output = OutputSpan<UInt8>(buffer: memory, initializedCount: 0)
  // Types that nobody here reads cannot be written either.
  guard packet.write(into: &output) else { return }
  var reader = RTCPReader()
  let again = reader.next(in: output.span.bytes)
  if case .extendedReport(let report) = packet, report.otherBlockCount > 0 { return }
  if case (.genericNACK(let nack), .genericNACK(let copy)?) = (packet, again) {
    // Masks have an order of their own.
    require(Set(nack.sequenceNumbers) == Set(copy.sequenceNumbers), "\(nack) reads as \(copy)")
  } else {
    require(again == packet, "\(packet) reads as \(String(describing: again))")
  }
}
