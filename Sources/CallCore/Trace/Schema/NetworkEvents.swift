/// What happens on the simulated network. Subjects are hosts, links, networks and streams' hosts.
public enum NetworkEvents {
  public static let packetSent = TraceEvent(
    "packet.sent", ("packet", UInt64.self), ("from", Endpoint.self), ("to", Endpoint.self), ("bytes", Int.self))
  public static let packetDelivered = TraceEvent(
    "packet.delivered", ("packet", UInt64.self), ("from", Endpoint.self), ("to", Endpoint.self), ("bytes", Int.self))
  public static let packetDropped = TraceEvent(
    "packet.dropped", ("reason", String.self), ("packet", UInt64.self), ("from", Endpoint.self), ("to", Endpoint.self),
    ("bytes", Int.self))
  /// A stream lost a message because it was closed or reset.
  public static let messageDropped = TraceEvent(
    "stream.message-dropped", ("content", String.self), ("bytes", Int.self))

  /// `up` or `down`.
  public static let linkState = TraceEvent("link.state", ("value", String.self))
  /// What a link does to packets of this direction has changed.
  public static let linkSettings = TraceEvent("link.settings", ("direction", String.self))
  /// `moved`: the host's interface leads to another network now.
  public static let interfaceState = TraceEvent("interface.state", ("value", String.self), ("link", String.self))
  /// `reset`: the host's connections are gone.
  public static let hostState = TraceEvent("host.state", ("value", String.self))

  public static let mappingCreated = TraceEvent(
    "nat.created", ("protocol", String.self), ("internal", Endpoint.self), ("external", Endpoint.self))
  public static let mappingRemoved = TraceEvent(
    "nat.removed", ("reason", String.self), ("protocol", String.self), ("internal", Endpoint.self),
    ("external", Endpoint.self))
  /// A mapping has another external endpoint.
  public static let mappingRemapped = TraceEvent(
    "nat.remapped", ("protocol", String.self), ("internal", Endpoint.self), ("external", Endpoint.self),
    ("previous", Endpoint.self))
  /// A host was given a block of external ports (RFC 7753), or gave it back.
  public static let portBlockTaken = TraceEvent(
    "nat.block-taken", ("host", Endpoint.self), ("first", Endpoint.self), ("size", Int.self))
  public static let portBlockFreed = TraceEvent(
    "nat.block-freed", ("host", Endpoint.self), ("first", Endpoint.self), ("size", Int.self))
}
