/// What happens to signalling messages, and at the servers of a world.
public enum ServerEvents {
  /// A peer's message left it; `lost` when there was no connection to carry it.
  public static let messageSent = TraceEvent(
    "signal.sent", ("type", String.self), ("peer", String.self), ("lost", Bool.self))
  public static let messageReceived = TraceEvent("signal.received", ("type", String.self), ("peer", String.self))
  /// A fault has done something to a message.
  public static let messageFaulted = TraceEvent(
    "signal.faulted", ("effect", String.self), ("type", String.self), ("from", String.self), ("to", String.self))
  /// A message of a profile's own app or server is not as its vocabulary declares it.
  public static let messageMisfit = TraceEvent(
    "signal.misfit", ("type", String.self), ("from", String.self), ("to", String.self), ("problem", String.self))
  public static let messageMalformed = TraceEvent("signal.malformed", ("what", String.self))
  public static let messageUndeliverable = TraceEvent(
    "signal.undeliverable", ("type", String.self), ("to", String.self))

  public static let relayOpened = TraceEvent(
    "turn.relay-opened", ("relayed", Endpoint.self), ("client", Endpoint.self), ("username", String.self))
  public static let relayClosed = TraceEvent("turn.relay-closed", ("relayed", Endpoint.self), ("reason", String.self))
  public static let relayDropped = TraceEvent(
    "turn.dropped", ("reason", String.self), ("from", Endpoint.self), ("to", Endpoint.self), ("bytes", Int.self))
}
