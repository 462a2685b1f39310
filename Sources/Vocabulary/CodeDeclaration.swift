/// An end code, or an error code that is raised.
public struct CodeDeclaration: Sendable {
  /// Who ended the call, as the side that says so sees it.
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
    /// The two sides did not fit.
    case nobody
  }

  public let name: String
  public let summary: String
  public let provenance: Provenance
  /// Nil for an error code.
  public let blame: Blame?
  /// Whether it says that the call was refused, so that both sides may say it of each other: the two sides of a call must
  /// not contradict each other.
  public let isRefusal: Bool

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
