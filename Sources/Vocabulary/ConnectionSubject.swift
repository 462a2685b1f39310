/// The trace subject of one of several peer connections of a peer or server: `alice/to/bob`.
public struct ConnectionSubject: Hashable, Sendable {
  public let owner: String
  /// Whom it leads to, or the name that the profile declares for it.
  public let name: String

  private static let separator = "/to/"

  /// Takes a trace subject apart; nil when it is not a connection's.
  public init?(_ subject: String) {
    guard let range = subject.firstRange(of: Self.separator) else { return nil }
    owner = String(subject[..<range.lowerBound])
    name = String(subject[range.upperBound...])
  }

  public static func name(of connection: String, at owner: String) -> String { owner + separator + connection }

  /// The peer or server that a subject is of: the subject itself, or the owner of a connection.
  public static func owner(of subject: String) -> String { ConnectionSubject(subject)?.owner ?? subject }
}
