/// Events of the data channels of a peer connection. `channel` is the number of a channel within its connection.
package enum DataChannelEvents {
  /// The state of the SCTP transport (W3C `RTCSctpTransportState`).
  package static let transportState = TraceEvent("sctp.state", ("value", String.self))
  /// The peer has opened a channel.
  package static let announced = TraceEvent(
    "data-channel.announced", ("channel", Int.self), ("label", String.self))
  /// A channel is open, closing or closed.
  package static let state = TraceEvent("data-channel.state", ("channel", Int.self), ("state", String.self))
  /// The application sent a message; `bytes` is its size.
  package static let messageSent = TraceEvent("data-channel.sent", ("channel", Int.self), ("bytes", Int.self))
  /// A message was received; `bytes` is its size.
  package static let messageReceived = TraceEvent("data-channel.received", ("channel", Int.self), ("bytes", Int.self))
  /// The bytes that are not sent have fallen to the threshold.
  package static let bufferedAmountLow = TraceEvent("data-channel.buffered-amount-low", ("channel", Int.self))
  /// A channel is closed because of an error.
  package static let failed = TraceEvent("data-channel.failed", ("channel", Int.self), ("reason", String.self))
}
