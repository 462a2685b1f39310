package import CallCore

/// What is known of an RTP packet that was written and has yet to leave.
package struct OutgoingPacket: Hashable, Sendable, BitwiseCopyable {
  package var header: RTPHeader
  /// Bytes before the payload; of a retransmission stream the original number is one of them.
  package var headerSize: Int
  package var isRetransmission: Bool
  /// When the media in it was recorded.
  package var captured: Instant
  /// Where the transport-wide number is to be written when the packet leaves; nil without one.
  package var transportNumberOffset: Int?

  package init(
    header: RTPHeader, headerSize: Int, isRetransmission: Bool = false, captured: Instant,
    transportNumberOffset: Int? = nil
  ) {
    self.header = header
    self.headerSize = headerSize
    self.isRetransmission = isRetransmission
    self.captured = captured
    self.transportNumberOffset = transportNumberOffset
  }
}
