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

  /// The state of a channel under its name in the scenario (W3C `RTCDataChannelState`).
  package static func state(of name: String) -> TraceEvent<String, String> {
    TraceEvent("data.\(name).state", ("value", String.self), ("from", String.self))
  }
  /// A count under the channel's name: `data.chat.received`.
  package static func count(_ value: String, of name: String) -> TraceEvent<Int> {
    TraceEvent("data.\(name).\(value)", ("value", Int.self))
  }
  package static func latency(of name: String) -> TraceEvent<Interval> {
    TraceEvent("data.\(name).latency", ("value", Interval.self))
  }
  package static func text(of name: String) -> TraceEvent<String> {
    TraceEvent("data.\(name).text", ("value", String.self))
  }
  /// A message has come that the scenario sent, or that nobody sent. `number` counts those of the other side from 1; it is 0
  /// where nobody sent it.
  package static let delivered = TraceEvent(
    "data-channel.delivered", ("name", String.self), ("number", Int.self), ("verdict", String.self))
  /// The other side has closed a channel; `missing` is the number of its messages that have not come.
  package static let closedByPeer = TraceEvent(
    "data-channel.closed-by-peer", ("name", String.self), ("missing", Int.self))
  /// The app could not send the rest of its messages.
  package static let unsent = TraceEvent(
    "data-channel.unsent", ("name", String.self), ("messages", Int.self), ("reason", String.self))

  /// How a message came: the verdicts of ``delivered``.
  package enum Verdict: String, Sendable, CaseIterable {
    /// The one after the last.
    case next
    /// A later one: some before it are missing.
    case early
    /// An earlier one, which had been missing.
    case late
    case repeated
    /// Nobody sent it.
    case unknown
  }
}
