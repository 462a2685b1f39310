import CallCore

/// The layout of a received RTP packet: the header's fields, and ranges into the datagram.
///
/// It holds no bytes; read them from the datagram that was parsed.
package struct RTPPacket: Hashable, Sendable {
  package let header: RTPHeader
  package let contributingSourceCount: Int
  /// The "defined by profile" word of the header extension, or nil when there is none.
  package let extensionProfile: UInt16?
  /// The header extension's data, without its four-byte preamble; empty when there is none.
  package let extensionRange: Range<Int>
  package let payloadRange: Range<Int>
  package let paddingCount: Int

  /// Parses a datagram, or returns nil when it is not a well-formed RTP version 2 packet.
  package init?(parsing datagram: RawSpan) {
    guard let first = datagram.byte(at: 0), first >> 6 == 2,
      let second = datagram.byte(at: 1),
      let sequenceNumber = datagram.bigEndian(UInt16.self, at: 2),
      let timestamp = datagram.bigEndian(UInt32.self, at: 4),
      let ssrc = datagram.bigEndian(UInt32.self, at: 8)
    else { return nil }
    contributingSourceCount = Int(first & 0x0F)
    var offset = RTPHeader.fixedSize + 4 * contributingSourceCount
    guard offset <= datagram.byteCount else { return nil }
    if first & 0x10 != 0 {
      guard let profile = datagram.bigEndian(UInt16.self, at: offset),
        let words = datagram.bigEndian(UInt16.self, at: offset + 2)
      else { return nil }
      let end = offset + 4 + 4 * Int(words)
      guard end <= datagram.byteCount else { return nil }
      extensionProfile = profile
      extensionRange = offset + 4..<end
      offset = end
    } else {
      extensionProfile = nil
      extensionRange = offset..<offset
    }
    var padding = 0
    if first & 0x20 != 0 {
      // A padding count of zero, or one that reaches into the header, means a malformed packet.
      guard let count = datagram.byte(at: datagram.byteCount - 1), count > 0,
        Int(count) <= datagram.byteCount - offset
      else { return nil }
      padding = Int(count)
    }
    paddingCount = padding
    payloadRange = offset..<datagram.byteCount - padding
    header = RTPHeader(
      payloadType: second & 0x7F, marker: second & 0x80 != 0, sequenceNumber: sequenceNumber, timestamp: timestamp,
      ssrc: ssrc)
  }

  private init(_ packet: RTPPacket, header: RTPHeader, payloadRange: Range<Int>) {
    self.header = header
    contributingSourceCount = packet.contributingSourceCount
    extensionProfile = packet.extensionProfile
    extensionRange = packet.extensionRange
    self.payloadRange = payloadRange
    paddingCount = packet.paddingCount
  }

  /// Returns the original packet in a packet of a retransmission stream (RFC 4588 section 4), or nil when that contains
  /// only padding, as a probe does.
  ///
  /// - Parameters:
  ///   - ssrc: the SSRC that the stream retransmits.
  ///   - payloadType: the original payload type (`apt`).
  package func retransmitted(ssrc: UInt32, payloadType: UInt8, in datagram: RawSpan) -> RTPPacket? {
    guard payloadRange.count >= Self.originalNumberSize,
      let number = datagram.bigEndian(UInt16.self, at: payloadRange.lowerBound)
    else { return nil }
    var original = header
    original.ssrc = ssrc
    original.payloadType = payloadType & 0x7F
    original.sequenceNumber = number
    return RTPPacket(
      self, header: original, payloadRange: payloadRange.lowerBound + Self.originalNumberSize..<payloadRange.upperBound)
  }

  /// Returns the packet inside one of RED (RFC 2198) with a single block, as ``REDEncapsulation`` writes it, or nil when
  /// it has none or others.
  package func insideRED(in datagram: RawSpan) -> RTPPacket? {
    guard !payloadRange.isEmpty, let type = datagram.byte(at: payloadRange.lowerBound), type & 0x80 == 0 else {
      return nil
    }
    var inner = header
    inner.payloadType = type
    return RTPPacket(self, header: inner, payloadRange: payloadRange.lowerBound + 1..<payloadRange.upperBound)
  }

  /// The size of the original sequence number, which precedes a retransmitted payload.
  package static let originalNumberSize = 2

  /// The number of bytes before the payload and of padding after it: the header bytes of W3C statistics.
  package var overhead: Int { payloadRange.lowerBound + paddingCount }

  /// Returns the contributing source at `index`, or nil when there are fewer.
  package func contributingSource(_ index: Int, in datagram: RawSpan) -> UInt32? {
    guard index >= 0, index < contributingSourceCount else { return nil }
    return datagram.bigEndian(UInt32.self, at: RTPHeader.fixedSize + 4 * index)
  }

  /// Returns the range of the extension element with the local identifier `id`, or nil when the packet has none (RFC
  /// 8285).
  ///
  /// A malformed element ends the search; the elements before it stay readable.
  package func extensionElement(id: UInt8, in datagram: RawSpan) -> Range<Int>? {
    guard let extensionProfile, id > 0 else { return nil }
    if extensionProfile == RTPHeaderExtensions.oneByteProfile {
      return oneByteElement(id: id, in: datagram)
    }
    if extensionProfile & 0xFFF0 == RTPHeaderExtensions.twoByteProfile {
      return twoByteElement(id: id, in: datagram)
    }
    return nil
  }

  private func oneByteElement(id: UInt8, in datagram: RawSpan) -> Range<Int>? {
    var offset = extensionRange.lowerBound
    while offset < extensionRange.upperBound, let byte = datagram.byte(at: offset) {
      offset += 1
      if byte == 0 { continue }
      // Identifier 15 is reserved and ends the list (RFC 8285 section 4.2).
      let elementID = byte >> 4
      guard elementID != 15 else { return nil }
      let end = offset + Int(byte & 0x0F) + 1
      guard end <= extensionRange.upperBound else { return nil }
      if elementID == id { return offset..<end }
      offset = end
    }
    return nil
  }

  private func twoByteElement(id: UInt8, in datagram: RawSpan) -> Range<Int>? {
    var offset = extensionRange.lowerBound
    while offset < extensionRange.upperBound, let elementID = datagram.byte(at: offset) {
      offset += 1
      if elementID == 0 { continue }
      guard offset < extensionRange.upperBound, let length = datagram.byte(at: offset) else { return nil }
      offset += 1
      let end = offset + Int(length)
      guard end <= extensionRange.upperBound else { return nil }
      if elementID == id { return offset..<end }
      offset = end
    }
    return nil
  }
}

extension RTPPacket {
  /// Returns the client-to-mixer audio level (RFC 6464): −dBov in 0...127, and the voice activity flag.
  package func audioLevel(id: UInt8, in datagram: RawSpan) -> (level: UInt8, voiceActivity: Bool)? {
    guard let range = extensionElement(id: id, in: datagram), let byte = datagram.byte(at: range.lowerBound),
      !range.isEmpty
    else { return nil }
    return (byte & 0x7F, byte & 0x80 != 0)
  }

  /// Returns the range of the media identification (RFC 9143 section 15), or nil when absent or empty.
  package func mediaIdentification(id: UInt8, in datagram: RawSpan) -> Range<Int>? {
    guard let range = extensionElement(id: id, in: datagram), !range.isEmpty else { return nil }
    return range
  }

  /// Returns the range of the encoding's name (RID or repaired RID, RFC 8852), or nil when absent or empty.
  package func encodingIdentification(id: UInt8, in datagram: RawSpan) -> Range<Int>? {
    mediaIdentification(id: id, in: datagram)
  }

  /// Returns the transport-wide sequence number of draft-holmer-rmcat-transport-wide-cc-extensions.
  package func transportSequenceNumber(id: UInt8, in datagram: RawSpan) -> UInt16? {
    guard let range = extensionElement(id: id, in: datagram), range.count >= 2 else { return nil }
    return datagram.bigEndian(UInt16.self, at: range.lowerBound)
  }
}
