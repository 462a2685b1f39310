internal import SCTP

/// The settings of a new channel (W3C `RTCDataChannelInit`).
public struct DataChannelInit: Hashable, Sendable {
  /// Whether messages are delivered in order.
  public var ordered = true
  /// The time in milliseconds in which a message is transmitted and retransmitted; nil for no limit.
  public var maxPacketLifeTime: UInt16?
  /// The number of retransmissions of a message; nil for no limit.
  public var maxRetransmits: UInt16?
  /// The subprotocol (W3C `protocol`).
  public var protocolName = ""
  /// Whether both applications create the channel with the same ``id``, so that it is not announced to the peer.
  public var negotiated = false
  /// The SCTP stream of a ``negotiated`` channel, 0 to 65534; ignored for others.
  public var id: UInt16?

  /// Makes the settings of a reliable and ordered channel.
  public init() {}

  init(_ parameters: DataChannelParameters) {
    ordered = parameters.isOrdered
    maxPacketLifeTime = parameters.maximumPacketLifeTime
    maxRetransmits = parameters.maximumRetransmits
    protocolName = parameters.protocolName
    negotiated = parameters.negotiatedStream != nil
    id = parameters.negotiatedStream
  }

  /// Returns the parameters of a channel, checked as by W3C's `createDataChannel`.
  func parameters(label: String) throws(SessionError) -> DataChannelParameters {
    guard label.utf8.count <= 65_535 else { throw .type("a label has at most 65535 bytes") }
    guard protocolName.utf8.count <= 65_535 else { throw .type("a protocol has at most 65535 bytes") }
    guard maxPacketLifeTime == nil || maxRetransmits == nil else {
      throw .type("maxPacketLifeTime and maxRetransmits exclude each other")
    }
    guard !negotiated || id != nil else { throw .type("a negotiated channel wants an id") }
    guard !negotiated || id != 65_535 else { throw .type("65535 is not the id of a channel") }
    return DataChannelParameters(
      label: label, protocolName: protocolName, isOrdered: ordered, maximumRetransmits: maxRetransmits,
      maximumPacketLifeTime: maxPacketLifeTime, negotiatedStream: negotiated ? id : nil)
  }
}
