package import CallCore

/// The metadata of an RTP packet that is written but not yet sent.
package struct OutgoingPacket: Hashable, Sendable, BitwiseCopyable {
  package var header: RTPHeader
  /// The number of bytes before the payload, including the original sequence number on a retransmission stream.
  package var headerSize: Int
  package var isRetransmission: Bool
  /// Whether the packet has no media and no original, only padding.
  package var isPadding: Bool
  /// Whether the packet is forward error correction, which is not sent again.
  package var isRepair: Bool
  /// The time at which its media was recorded.
  package var captured: Instant
  /// The offset of the transport-wide number, which is written when the packet is sent; nil without one.
  package var transportNumberOffset: Int?

  package init(
    header: RTPHeader, headerSize: Int, isRetransmission: Bool = false, isPadding: Bool = false, isRepair: Bool = false,
    captured: Instant, transportNumberOffset: Int? = nil
  ) {
    self.header = header
    self.headerSize = headerSize
    self.isRetransmission = isRetransmission
    self.isPadding = isPadding
    self.isRepair = isRepair
    self.captured = captured
    self.transportNumberOffset = transportNumberOffset
  }
}
