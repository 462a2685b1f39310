public import SCTP

/// The attributes of W3C's `RTCDataChannel` at one instant.
public struct DataChannelSnapshot: Hashable, Sendable {
  /// The name of the channel within its session, to which methods take it.
  public var channel: DataChannelID
  /// The label.
  public var label: String
  /// The subprotocol (W3C `protocol`).
  public var protocolName: String
  /// Whether messages are delivered in order.
  public var ordered: Bool
  /// The time in milliseconds in which a message is transmitted and retransmitted; nil for no limit.
  public var maxPacketLifeTime: UInt16?
  /// The number of retransmissions of a message; nil for no limit.
  public var maxRetransmits: UInt16?
  /// Whether both applications created the channel by agreement.
  public var negotiated: Bool
  /// The SCTP stream; nil until the DTLS role is known.
  public var id: UInt16?
  /// The state.
  public var readyState: DataChannelState
  /// The bytes that are not yet sent.
  public var bufferedAmount: Int
  /// The buffered amount at which ``SessionEvent/dataChannelBufferedAmountLow(_:)`` is reported.
  public var bufferedAmountLowThreshold: Int

  /// Makes the attributes of a channel, for other stacks.
  package init(
    _ channel: DataChannelID, label: String, settings: DataChannelInit, id: UInt16?, readyState: DataChannelState,
    bufferedAmount: Int = 0, bufferedAmountLowThreshold: Int = 0
  ) {
    self.channel = channel
    self.label = label
    protocolName = settings.protocolName
    ordered = settings.ordered
    maxPacketLifeTime = settings.maxPacketLifeTime
    maxRetransmits = settings.maxRetransmits
    negotiated = settings.negotiated
    self.id = id
    self.readyState = readyState
    self.bufferedAmount = bufferedAmount
    self.bufferedAmountLowThreshold = bufferedAmountLowThreshold
  }
}

extension SCTPTransport {
  /// Returns the attributes of a channel, or nil if it is closed.
  func snapshot(of id: DataChannelID) -> DataChannelSnapshot? {
    guard let parameters = parameters(of: id) else { return nil }
    return DataChannelSnapshot(
      id, label: parameters.label, settings: DataChannelInit(parameters), id: stream(of: id), readyState: state(of: id),
      bufferedAmount: bufferedAmount(of: id), bufferedAmountLowThreshold: bufferedAmountLowThreshold(of: id))
  }
}
