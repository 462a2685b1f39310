/// Events of signalling messages, and of the servers of a world.
package enum ServerEvents {
  /// A peer sent a message; `lost` if there was no connection to carry it.
  package static let messageSent = TraceEvent(
    "signal.sent", ("type", String.self), ("peer", String.self), ("lost", Bool.self))
  package static let messageReceived = TraceEvent("signal.received", ("type", String.self), ("peer", String.self))
  /// A fault affected a message.
  package static let messageFaulted = TraceEvent(
    "signal.faulted", ("effect", String.self), ("type", String.self), ("from", String.self), ("to", String.self))
  /// A message of a profile's own app or server differs from its declaration in the vocabulary.
  package static let messageMisfit = TraceEvent(
    "signal.misfit", ("type", String.self), ("from", String.self), ("to", String.self), ("problem", String.self))
  package static let messageMalformed = TraceEvent("signal.malformed", ("what", String.self))
  package static let messageUndeliverable = TraceEvent(
    "signal.undeliverable", ("type", String.self), ("to", String.self))

  package static let relayOpened = TraceEvent(
    "turn.relay-opened", ("relayed", Endpoint.self), ("client", Endpoint.self), ("username", String.self))
  package static let relayClosed = TraceEvent("turn.relay-closed", ("relayed", Endpoint.self), ("reason", String.self))
  package static let relayDropped = TraceEvent(
    "turn.dropped", ("reason", String.self), ("from", Endpoint.self), ("to", Endpoint.self), ("bytes", Int.self))
}
