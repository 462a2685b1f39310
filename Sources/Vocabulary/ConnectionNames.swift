/// The number of peer connections that an app has at a time, and their names in scenarios.
///
/// The name of a connection is the second part of `alice.to.bob.ice.state`, and of the trace subject `alice/to/bob`.
public enum ConnectionNames: Hashable, Sendable {
  /// One at a time, without a name: `alice.ice.state`.
  case single
  /// One to each other peer of the profile, or to each client of a server, with the name of that peer: a mesh.
  case peers
  /// One for each of these names, such as `publisher` and `subscriber`.
  case named([String])
}
