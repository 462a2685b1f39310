/// Events of the simulated network. Subjects are hosts, links, networks and streams' hosts.
package enum NetworkEvents {
  package static let packetSent = TraceEvent(
    "packet.sent", ("packet", UInt64.self), ("from", Endpoint.self), ("to", Endpoint.self), ("bytes", Int.self))
  package static let packetDelivered = TraceEvent(
    "packet.delivered", ("packet", UInt64.self), ("from", Endpoint.self), ("to", Endpoint.self), ("bytes", Int.self))
  package static let packetDropped = TraceEvent(
    "packet.dropped", ("reason", String.self), ("packet", UInt64.self), ("from", Endpoint.self), ("to", Endpoint.self),
    ("bytes", Int.self))
  /// A stream lost a message because it was closed or reset.
  package static let messageDropped = TraceEvent(
    "stream.message-dropped", ("content", String.self), ("bytes", Int.self))

  /// `up` or `down`.
  package static let linkState = TraceEvent("link.state", ("value", String.self))
  /// The settings of this direction of a link have changed.
  package static let linkSettings = TraceEvent("link.settings", ("direction", String.self))
  /// `moved`: the host's interface is now attached to another network.
  package static let interfaceState = TraceEvent("interface.state", ("value", String.self), ("link", String.self))
  /// `reset`: the host's connections are gone.
  package static let hostState = TraceEvent("host.state", ("value", String.self))

  package static let mappingCreated = TraceEvent(
    "nat.created", ("protocol", String.self), ("internal", Endpoint.self), ("external", Endpoint.self))
  package static let mappingRemoved = TraceEvent(
    "nat.removed", ("reason", String.self), ("protocol", String.self), ("internal", Endpoint.self),
    ("external", Endpoint.self))
  /// A mapping has another external endpoint.
  package static let mappingRemapped = TraceEvent(
    "nat.remapped", ("protocol", String.self), ("internal", Endpoint.self), ("external", Endpoint.self),
    ("previous", Endpoint.self))
  /// A host was given a block of external ports (RFC 7753), or released it.
  package static let portBlockTaken = TraceEvent(
    "nat.block-taken", ("host", Endpoint.self), ("first", Endpoint.self), ("size", Int.self))
  package static let portBlockFreed = TraceEvent(
    "nat.block-freed", ("host", Endpoint.self), ("first", Endpoint.self), ("size", Int.self))
}
