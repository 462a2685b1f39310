/// The trace subject of one of several peer connections of a peer or server: `alice/to/bob`.
public struct ConnectionSubject: Hashable, Sendable {
  /// The peer or server that owns the connection.
  public let owner: String
  /// The name of the remote peer, or the name that the profile declares for the connection.
  public let name: String

  private static let separator = "/to/"

  /// Parses a trace subject; nil if it does not belong to a connection.
  public init?(_ subject: String) {
    guard let range = subject.firstRange(of: Self.separator) else { return nil }
    owner = String(subject[..<range.lowerBound])
    name = String(subject[range.upperBound...])
  }

  /// Returns the trace subject of a connection of an owner.
  public static func name(of connection: String, at owner: String) -> String { owner + separator + connection }

  /// Returns the peer or server of a subject: the subject itself, or the owner of a connection.
  public static func owner(of subject: String) -> String { ConnectionSubject(subject)?.owner ?? subject }

  /// Returns a subject as scenarios write it: `alice.to.bob`.
  package static func text(of subject: String) -> String { subject.replacing(separator, with: ".to.") }
}
