/// A server of a product. Each world with a peer of the profile has one, on its own host.
public struct ServerDeclaration: Sendable {
  /// The server's `kind` in scenarios: `signalling`, `room`. It is also the name of the host that is added by default.
  public let name: String
  /// A description for the documentation.
  public let summary: String
  /// Whether the server opens peer connections, one to each peer of the profile.
  public let opensConnections: Bool
  /// Whether the server forwards the media that it receives on them, and of a simulcast the encoding that fits.
  public let forwardsMedia: Bool
  /// Whether it also has sessions whose media it leaves to the users.
  public let leavesMedia: Bool

  /// Declares a server.
  public init(
    _ name: String, _ summary: String, opensConnections: Bool = false, forwardsMedia: Bool = false,
    leavesMedia: Bool = false
  ) {
    self.name = name
    self.summary = summary
    self.opensConnections = opensConnections
    self.forwardsMedia = forwardsMedia
    self.leavesMedia = leavesMedia
  }

  /// The declaration for a product with a single server, which passes messages between users.
  public static let signalling = ServerDeclaration("signalling", "passes messages between users")
}
