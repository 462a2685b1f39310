/// A caller's mistake, or a description that cannot be used.
public enum SessionError: Error, Hashable, Sendable {
  /// The W3C `InvalidStateError`: not allowed in the current signalling state.
  case invalidState(String)
  /// The description does not parse or contradicts itself; the text says where.
  case invalidDescription(String)
  case noCommonCodec
  case invalidCandidate(String)
  /// The W3C `InvalidAccessError`: there is no such transceiver.
  case invalidAccess(String)
  /// The W3C `NotSupportedError`.
  case notSupported(String)
}

extension SessionError: CustomStringConvertible {
  /// What is wrong, for people.
  public var description: String {
    switch self {
    case .invalidState(let state): "not allowed in this state: \(state)"
    case .noCommonCodec: "the two sides have no codec in common"
    case .notSupported(let what): "not supported: \(what)"
    case .invalidDescription(let reason), .invalidCandidate(let reason), .invalidAccess(let reason): reason
    }
  }
}
