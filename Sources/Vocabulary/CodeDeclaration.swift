/// An end code, or an error code that is raised.
public struct CodeDeclaration: Sendable {
  /// The cause of a call's end, as seen by the side with the code.
  public enum Blame: String, Sendable, CaseIterable {
    /// This user.
    case me
    /// The other user, of their own will.
    case other
    /// The path between the two.
    case network
    /// A signalling, STUN or TURN server.
    case server
    /// A timer ran out.
    case time
    /// Incompatibility of the two sides.
    case nobody
  }

  /// The name in scenarios.
  public let name: String
  /// A description for the documentation.
  public let summary: String
  /// The source of the fact.
  public let provenance: Provenance
  /// The cause of the call's end; nil for an error code.
  public let blame: Blame?
  /// Whether the code means that the call was refused. Both sides of a call may then report it of each other: their
  /// codes must not contradict each other.
  public let isRefusal: Bool

  /// Declares a code.
  public init(
    _ name: String, _ summary: String, provenance: Provenance, blames blame: Blame? = nil, isRefusal: Bool = false
  ) {
    self.name = name
    self.summary = summary
    self.provenance = provenance
    self.blame = blame
    self.isRefusal = isRefusal
  }
}
