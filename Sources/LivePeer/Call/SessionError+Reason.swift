internal import CallSession

extension SessionError {
  /// What is wrong, for people.
  var reason: String {
    switch self {
    case .invalidState(let state): "not allowed in this state: \(state)"
    case .noCommonCodec: "the two sides have no codec in common"
    case .invalidCandidate(let text): "not a candidate: \(text)"
    case .invalidDescription(let reason), .invalidAccess(let reason), .notSupported(let reason): reason
    }
  }
}

extension EndCode {
  /// How a call ends whose description cannot be used.
  init(_ error: SessionError) { self = error == .noCommonCodec ? .codecMismatch : .protocolViolation }
}
