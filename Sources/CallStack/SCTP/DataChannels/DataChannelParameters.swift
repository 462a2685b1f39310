/// The parameters of a channel, as W3C's `RTCDataChannelInit` has them.
package struct DataChannelParameters: Hashable, Sendable {
  package var label: String
  /// The subprotocol.
  package var protocolName: String
  /// Whether messages are delivered in order.
  package var isOrdered: Bool
  /// The number of retransmissions of a message, or nil for no limit.
  package var maximumRetransmits: UInt16?
  /// The time in milliseconds in which a message is transmitted and retransmitted, or nil for no limit.
  package var maximumPacketLifeTime: UInt16?
  /// The priority: 128 is below normal, 256 normal, 512 high, 1024 extra high (RFC 8831 section 6.4).
  package var priority: UInt16
  /// The stream of a channel that both sides open by agreement, or nil for one that is announced to the peer.
  package var negotiatedStream: UInt16?

  package init(
    label: String = "", protocolName: String = "", isOrdered: Bool = true, maximumRetransmits: UInt16? = nil,
    maximumPacketLifeTime: UInt16? = nil, priority: UInt16 = 256, negotiatedStream: UInt16? = nil
  ) {
    self.label = label
    self.protocolName = protocolName
    self.isOrdered = isOrdered
    self.maximumRetransmits = maximumRetransmits
    self.maximumPacketLifeTime = maximumPacketLifeTime
    self.priority = priority
    self.negotiatedStream = negotiatedStream
  }
}
