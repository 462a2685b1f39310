/// Why a program outside the simulation could not be run, or went wrong.
public struct ExternalError: Error, Hashable, Sendable, CustomStringConvertible {
  public enum Kind: Sendable {
    /// This machine cannot do it, or the program is not there: nothing was tested.
    case unavailable
    /// The program under test broke down.
    case program
    /// The harness did.
    case harness
  }

  public let kind: Kind
  public let description: String

  public init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }
}
