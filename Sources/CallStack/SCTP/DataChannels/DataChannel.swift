/// A channel with its place in the association.
struct DataChannel: Sendable {
  let id: DataChannelID
  let parameters: DataChannelParameters
  /// Whether the peer opened it.
  let isRemote: Bool
  /// The stream; nil until the DTLS role is known.
  var stream: UInt16?
  var state = DataChannelState.connecting
  /// Whether the peer knows the channel. Before, messages are sent in order so that none passes the OPEN (RFC 8832
  /// section 6).
  var isAcknowledged: Bool
  var threshold = 0
  /// The buffered amount when it was last compared with the threshold.
  var bufferedAmount = 0
  /// Whether our stream will be reset when everything is sent.
  var awaitsReset = false
  var isOutgoingReset = false
  var isIncomingReset = false
  var messagesSent = 0
  var bytesSent = 0
  var messagesReceived = 0
  var bytesReceived = 0

  init(id: DataChannelID, parameters: DataChannelParameters, isRemote: Bool, stream: UInt16?) {
    self.id = id
    self.parameters = parameters
    self.isRemote = isRemote
    self.stream = stream
    isAcknowledged = isRemote || parameters.negotiatedStream != nil
  }
}
