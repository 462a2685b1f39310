/// A server of a product. Each world with a peer of the profile has one, on a host of its own.
public struct ServerDeclaration: Sendable {
  /// What scenarios write as its `kind`: `signalling`, `room`. It is also the name of the host that is added by default.
  public let name: String
  public let summary: String
  /// Whether it opens peer connections, one to each peer of the profile.
  public let opensConnections: Bool

  public init(_ name: String, _ summary: String, opensConnections: Bool = false) {
    self.name = name
    self.summary = summary
    self.opensConnections = opensConnections
  }

  /// The server of a product whose only server passes messages between users.
  public static let signalling = ServerDeclaration("signalling", "passes messages between users")
}
