internal import Glibc

/// A failure to run an external program, or a failure of the program itself.
package struct ExternalError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Kind: Sendable {
    /// The machine lacks a prerequisite, or the program is missing: nothing was tested.
    case unavailable
    /// The program under test failed.
    case program
    /// The harness failed.
    case harness
  }

  package let kind: Kind
  package let description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  /// Returns the text for an error number of a system call, given as `errno` or `-errno`.
  static func text(ofCode code: Int32) -> String { String(cString: strerror(abs(code))) }
}
