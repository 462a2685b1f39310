internal import Formats
internal import PeerSession

/// A request of the peer protocol (docs/peer-protocol.md).
struct PeerRequest {
  let id: JSON
  let method: String
  let params: PeerDictionary

  init(_ message: JSON) throws(PeerError) {
    guard let id = message["id"], let method = message["method"]?.string else {
      throw PeerError(.typeError, "a request has an id and a method")
    }
    self.id = id
    self.method = method
    params = try PeerDictionary(message, of: method).dictionary("params", of: method) ?? PeerDictionary([:], of: method)
  }
}

/// The error answer to a request: a `DOMException`.
struct PeerError: Error {
  enum Name: String {
    case typeError = "TypeError"
    case invalidState = "InvalidStateError"
    case invalidAccess = "InvalidAccessError"
    case invalidModification = "InvalidModificationError"
    case rangeError = "RangeError"
    case notSupported = "NotSupportedError"
    case operation = "OperationError"
    case syntax = "SyntaxError"
    case invalidCharacter = "InvalidCharacterError"
  }

  let name: Name
  let message: String

  init(_ name: Name, _ message: String) {
    self.name = name
    self.message = message
  }

  /// Creates an error with the name that webrtc-pc gives it.
  init(_ error: SessionError) {
    let name: Name =
      switch error {
      case .invalidState: .invalidState
      case .invalidDescription, .noCommonCodec, .invalidCandidate: .operation
      case .invalidAccess: .invalidAccess
      case .invalidModification: .invalidModification
      case .notSupported: .notSupported
      case .invalidCharacter: .invalidCharacter
      case .type: .typeError
      case .operation: .operation
      case .range: .rangeError
      }
    self.init(name, "\(error)")
  }

  var json: JSON { ["name": .string(name.rawValue), "message": .string(message)] }
}
