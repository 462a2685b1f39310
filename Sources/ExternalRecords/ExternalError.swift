/// A failure to run an external program, or a failure of the program itself.
public struct ExternalError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The party that failed.
  public enum Kind: Sendable {
    /// The machine lacks a prerequisite, or the program is missing: nothing was tested.
    case unavailable
    /// The program under test failed.
    case program
    /// The harness failed.
    case harness
  }

  package let kind: Kind
  public let description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
