internal import CallCore

/// An error cause of an ERROR or ABORT chunk (RFC 9260 section 3.3.10).
package struct SCTPErrorCause: Hashable, Sendable {
  /// The code of a cause.
  package struct Code: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let invalidStreamIdentifier = Code(rawValue: 1)
    package static let missingMandatoryParameter = Code(rawValue: 2)
    package static let staleCookie = Code(rawValue: 3)
    package static let outOfResource = Code(rawValue: 4)
    package static let unresolvableAddress = Code(rawValue: 5)
    package static let unrecognizedChunkType = Code(rawValue: 6)
    package static let invalidMandatoryParameter = Code(rawValue: 7)
    package static let unrecognizedParameters = Code(rawValue: 8)
    package static let noUserData = Code(rawValue: 9)
    package static let cookieReceivedWhileShuttingDown = Code(rawValue: 10)
    package static let restartWithNewAddresses = Code(rawValue: 11)
    package static let userInitiatedAbort = Code(rawValue: 12)
    package static let protocolViolation = Code(rawValue: 13)
  }

  package var code: Code
  package var information: [UInt8]

  package init(_ code: Code, information: [UInt8] = []) {
    self.code = code
    self.information = information
  }

  /// Makes a cause with a text, for an abort by the user or a protocol violation.
  package init(_ code: Code, text: String) { self.init(code, information: [UInt8](text.utf8)) }

  /// Makes a cause that names a TSN or a time in 32 bits.
  package init(_ code: Code, value: UInt32) {
    var information: [UInt8] = []
    information.append(bigEndian: value)
    self.init(code, information: information)
  }
}
