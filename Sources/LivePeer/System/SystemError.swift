internal import Glibc

/// An error of the operating system.
package struct SystemError: Error, Hashable, CustomStringConvertible {
  /// The operation that failed, such as `bind 10.0.0.1:5000`.
  package let operation: String
  package let code: Int32

  init(_ operation: String, code: Int32 = errno) {
    self.operation = operation
    self.code = code
  }

  package var reason: String { String(cString: strerror(code)) }
  package var description: String { "\(operation): \(reason)" }
}
