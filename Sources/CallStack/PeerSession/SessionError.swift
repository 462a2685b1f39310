/// An invalid call, or a description that cannot be used.
public enum SessionError: Error, Hashable, Sendable {
  /// The W3C `InvalidStateError`: not allowed in the current signalling state.
  case invalidState(String)
  /// The description does not parse or contradicts itself; the text names the place.
  case invalidDescription(String)
  /// No codec of the remote description can be used.
  case noCommonCodec
  /// The W3C `OperationError`: the operation failed for a reason of its own.
  case operation(String)
  /// The text is not an ICE candidate, or the candidate belongs to no section.
  case invalidCandidate(String)
  /// The W3C `InvalidAccessError`: there is no such transceiver.
  case invalidAccess(String)
  /// The W3C `InvalidModificationError`.
  case invalidModification(String)
  /// The W3C `NotSupportedError`.
  case notSupported(String)
  /// The W3C `InvalidCharacterError`: the text has a character that does not belong there.
  case invalidCharacter(String)
  /// A `TypeError` of W3C's methods: an argument of the wrong type.
  case type(String)
  /// A `RangeError` of W3C's methods: a number out of range.
  case range(String)
}

extension SessionError {
  /// The name of the W3C exception.
  public var name: String {
    switch self {
    case .invalidState: "InvalidStateError"
    case .invalidDescription, .noCommonCodec: "InvalidAccessError"
    case .invalidCandidate, .operation: "OperationError"
    case .invalidAccess: "InvalidAccessError"
    case .invalidModification: "InvalidModificationError"
    case .notSupported: "NotSupportedError"
    case .invalidCharacter: "InvalidCharacterError"
    case .type: "TypeError"
    case .range: "RangeError"
    }
  }
}

extension SessionError: CustomStringConvertible {
  /// The description for people.
  public var description: String {
    switch self {
    case .invalidState(let state): "not allowed in this state: \(state)"
    case .noCommonCodec: "the two sides have no codec in common"
    case .notSupported(let what): "not supported: \(what)"
    case .invalidDescription(let reason), .invalidCandidate(let reason), .invalidAccess(let reason),
      .invalidModification(let reason), .invalidCharacter(let reason), .operation(let reason), .type(let reason),
      .range(let reason):
      reason
    }
  }
}
