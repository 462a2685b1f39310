import CallCore

/// RED around the packets of a stream with ULPFEC, as libwebrtc sends it: one block, with a header of one byte
/// (RFC 2198 section 3), in media and repair packets alike. Both use the numbers of the one stream.
package enum REDEncapsulation {
  /// The bytes that it adds to a packet.
  package static let overhead = 1

  /// Writes the payload of a repair packet with its header of RED.
  ///
  /// - Returns: false, with nothing written, when it does not fit.
  package static func write(
    _ repair: RepairPayload, payloadType: UInt8, into output: inout OutputSpan<UInt8>
  ) -> Bool {
    guard output.freeCapacity >= overhead + repair.encodedSize(format: .ulpfec) else { return false }
    output.append(payloadType & 0x7F)
    guard repair.write(format: .ulpfec, into: &output) != nil else {
      output.removeLast(overhead)
      return false
    }
    return true
  }

  /// Writes a media packet as a packet of RED.
  ///
  /// - Returns: false, with nothing written, when it does not fit or is malformed.
  package static func wrap(_ packet: RawSpan, redPayloadType: UInt8, into output: inout OutputSpan<UInt8>) -> Bool {
    guard let parsed = RTPPacket(parsing: packet), output.freeCapacity >= packet.byteCount + overhead else {
      return false
    }
    let start = parsed.payloadRange.lowerBound
    write(packet, headerSize: start, payloadType: redPayloadType, into: &output)
    output.append(parsed.header.payloadType)
    output.append(contentsOf: packet.extracting(start..<packet.byteCount))
    return true
  }

  /// Writes the packet in a packet of RED with a single block as if it had come without RED.
  ///
  /// - Returns: its header and the range of its payload in what was written, or nil, with nothing written, when it does
  ///   not fit, or has other blocks. A repair packet is one whose payload type is that of ULPFEC.
  package static func unwrap(
    _ packet: RTPPacket, in datagram: RawSpan, into output: inout OutputSpan<UInt8>
  ) -> (header: RTPHeader, payload: Range<Int>)? {
    let start = packet.payloadRange.lowerBound
    guard !packet.payloadRange.isEmpty, let type = datagram.byte(at: start), type & 0x80 == 0,
      output.freeCapacity >= datagram.byteCount - overhead
    else { return nil }
    write(datagram, headerSize: start, payloadType: type, into: &output)
    output.append(contentsOf: datagram.extracting(start + overhead..<datagram.byteCount))
    var header = packet.header
    header.payloadType = type
    return (header, start..<packet.payloadRange.upperBound - overhead)
  }

  private static func write(
    _ packet: RawSpan, headerSize: Int, payloadType: UInt8, into output: inout OutputSpan<UInt8>
  ) {
    for offset in 0..<headerSize {
      guard let byte = packet.byte(at: offset) else { return }
      output.append(offset == 1 ? byte & 0x80 | payloadType & 0x7F : byte)
    }
  }
}
