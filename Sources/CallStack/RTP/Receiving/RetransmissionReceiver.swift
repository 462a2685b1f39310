import CallCore

/// The receiving end of a stream that retransmits another one (RFC 4588 section 4): it turns its packets into the
/// originals.
package struct RetransmissionReceiver: Sendable {
  /// A payload type of the retransmission stream and the original one, its `apt`.
  package struct Association: Hashable, Sendable, BitwiseCopyable {
    package var payloadType: UInt8
    package var original: UInt8

    package init(payloadType: UInt8, original: UInt8) {
      self.payloadType = payloadType & 0x7F
      self.original = original & 0x7F
    }
  }

  /// The SSRC of the stream whose packets are retransmitted.
  package let originalSSRC: UInt32
  /// The payload types, which a later negotiation may add to.
  package var associations: [Association]
  /// The number of originals.
  package private(set) var recoveredCount = 0
  /// The payload bytes of the originals.
  package private(set) var recoveredBytes: Int64 = 0
  /// The number of packets without an original: padding, as probes are.
  package private(set) var paddingCount = 0
  /// The number of packets of a payload type that retransmits none.
  package private(set) var unknownPayloadTypeCount = 0

  package init(originalSSRC: UInt32, associations: [Association]) {
    self.originalSSRC = originalSSRC
    self.associations = associations
  }

  /// Takes an authenticated packet of the retransmission stream.
  ///
  /// - Returns: the original, whose ranges lie in the same datagram; nil when it has none.
  package mutating func receive(_ packet: RTPPacket, in datagram: RawSpan) -> RTPPacket? {
    guard let association = associations.first(where: { $0.payloadType == packet.header.payloadType }) else {
      unknownPayloadTypeCount += 1
      return nil
    }
    let original = packet.retransmitted(ssrc: originalSSRC, payloadType: association.original, in: datagram)
    // An original number without a payload is padding of some senders.
    guard let original, !original.payloadRange.isEmpty else {
      paddingCount += 1
      return nil
    }
    recoveredCount += 1
    recoveredBytes += Int64(original.payloadRange.count)
    return original
  }
}
