internal import Glibc

/// Why a program outside the simulation could not be run, or went wrong.
package struct ExternalError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Sendable {
    /// This machine cannot do it, or the program is not there: nothing was tested.
    case unavailable
    /// The program under test broke down.
    case program
    /// The harness did.
    case harness
  }

  package let kind: Kind
  package let description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// What a system call said, as `-errno`.
  static func text(ofCode code: Int32) -> String { String(cString: strerror(abs(code))) }
}
