/// How many peer connections an app has at a time, and how scenarios tell them apart.
///
/// The name of a connection is the second part of `alice.to.bob.ice.state`, and of the trace subject `alice/to/bob`.
public enum ConnectionNames: Hashable, Sendable {
  /// One at a time. It needs no name: `alice.ice.state`.
  case single
  /// One to each other peer of the profile, or to each client of a server, called as that peer is: a mesh.
  case peers
  /// One for each of these names, such as `publisher` and `subscriber`.
  case named([String])
}
