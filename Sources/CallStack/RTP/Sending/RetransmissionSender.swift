package import CallCore

/// The numbering of a stream that retransmits another one (RFC 4588 section 4).
package struct RetransmissionSender: ~Copyable {
  package let ssrc: UInt32
  package let payloadType: UInt8
  /// The payload types of what is sent, and those that retransmit them. What is not listed has ``payloadType``.
  package private(set) var associations: [RetransmissionReceiver.Association] = []
  private var nextSequenceNumber: UInt16

  /// Makes a sender.
  ///
  /// - Parameter random: the source of the initial sequence number, which is below 2¹⁵ as for any stream.
  package init(ssrc: UInt32, payloadType: UInt8, random: consuming RandomStream) {
    self.ssrc = ssrc
    self.payloadType = payloadType & 0x7F
    nextSequenceNumber = UInt16(random.uniform(below: 1 << 15))
  }

  /// Retransmits a payload type as another from now on. Packets of earlier ones may still be asked for, and keep theirs.
  package mutating func associate(_ payloadType: UInt8, with original: UInt8) {
    associations.removeAll { $0.original == original }
    associations.append(.init(payloadType: payloadType, original: original))
  }

  /// Writes a packet with nothing but padding, which carries a probe or fills a gap.
  ///
  /// - Parameters:
  ///   - count: the wanted number of bytes of padding, of which one packet holds up to ``maximumPadding``.
  ///   - timestamp: the RTP timestamp of the original stream.
  /// - Returns: nil, with nothing written or used, when it does not fit.
  package mutating func pad(
    _ count: Int, timestamp: UInt32, captured: Instant, extensions: RTPHeaderExtensions,
    into output: inout OutputSpan<UInt8>
  ) -> OutgoingPacket? {
    let count = min(max(count, 1), Self.maximumPadding)
    let size = RTPHeader.fixedSize + extensions.encodedSize
    guard output.freeCapacity >= size + count else { return nil }
    let header = RTPHeader(
      payloadType: payloadType, sequenceNumber: nextSequenceNumber, timestamp: timestamp, ssrc: ssrc)
    guard header.write(into: &output, extensions: extensions, hasPadding: true) != nil,
      RTPHeader.appendPadding(UInt8(count), to: &output)
    else { return nil }
    nextSequenceNumber &+= 1
    return OutgoingPacket(header: header, headerSize: size, isPadding: true, captured: captured)
  }

  /// The bytes of padding in one packet, as in libwebrtc: a multiple of every cipher's block.
  package static let maximumPadding = 224

  /// Writes a retransmission without its payload: the header with this stream's number, followed by the original
  /// number.
  ///
  /// - Returns: the header, or nil, with nothing written or used, when it does not fit.
  mutating func begin(
    _ original: RTPHeader, extensions: RTPHeaderExtensions, into output: inout OutputSpan<UInt8>
  ) -> RTPHeader? {
    let size = RTPHeader.fixedSize + extensions.encodedSize + RTPPacket.originalNumberSize
    guard output.freeCapacity >= size else { return nil }
    var header = original
    header.ssrc = ssrc
    header.payloadType = payloadType
    if let own = associations.first(where: { $0.original == original.payloadType }) {
      header.payloadType = own.payloadType
    }
    header.sequenceNumber = nextSequenceNumber
    guard header.write(into: &output, extensions: extensions) != nil else { return nil }
    output.append(bigEndian: original.sequenceNumber)
    nextSequenceNumber &+= 1
    return header
  }
}
