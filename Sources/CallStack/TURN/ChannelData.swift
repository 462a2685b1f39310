internal import CallCore

/// A ChannelData message: a header of four bytes and the payload (RFC 8656 section 12.4).
///
/// Over a stream it is padded to four bytes, over UDP padding is optional; the length field excludes padding.
package enum ChannelData {
  package static let headerSize = 4
  /// The channel numbers of RFC 8656 section 12, whose first two bits differ from those of STUN.
  package static let numbers: ClosedRange<UInt16> = 0x4000...0x4FFF
  /// The channel numbers of RFC 5766 section 11, for older clients.
  package static let formerNumbers: ClosedRange<UInt16> = 0x4000...0x7FFF

  /// Returns the channel and the byte range of the payload, or nil when the datagram is not ChannelData.
  static func parse(_ datagram: RawSpan) -> (channel: UInt16, payload: Range<Int>)? {
    guard let channel = datagram.bigEndian(UInt16.self, at: 0), formerNumbers.contains(channel),
      let length = datagram.bigEndian(UInt16.self, at: 2), Int(length) <= datagram.byteCount - headerSize
    else { return nil }
    return (channel, headerSize..<headerSize + Int(length))
  }

  /// Returns the maximum number of bytes that the message adds to a payload.
  static func overhead(over transport: Path.Transport) -> Int { transport == .udp ? headerSize : headerSize + 3 }

  static func write(
    _ payload: RawSpan, channel: UInt16, over transport: Path.Transport, into bytes: inout [UInt8]
  ) {
    bytes.append(bigEndian: channel)
    bytes.append(bigEndian: UInt16(truncatingIfNeeded: payload.byteCount))
    payload.withUnsafeBytes { bytes.append(contentsOf: $0) }
    guard transport != .udp else { return }
    for _ in 0..<(4 - payload.byteCount % 4) % 4 { bytes.append(0) }
  }
}

/// Returns whether a demultiplexer must treat a datagram as ChannelData (RFC 7983 section 7).
package func isChannelData(_ datagram: RawSpan) -> Bool {
  datagram.byteCount >= ChannelData.headerSize && datagram.byte(at: 0).map { (0x40...0x4F).contains($0) } == true
}
