internal import PeerSession

/// The end codes of a call, which profiles use too.
package enum EndCode: String, Sendable, CaseIterable {
  case localHangup = "local-hangup"
  case remoteHangup = "remote-hangup"
  case cancelled
  case setupTimeout = "setup-timeout"
  case iceFailed = "ice-failed"
  case turnAuth = "turn-auth"
  case dtlsFailed = "dtls-failed"
  case fingerprintMismatch = "fingerprint-mismatch"
  case codecMismatch = "codec-mismatch"
  case protocolViolation = "protocol-violation"
  case signallingFailure = "signalling-failure"

  fileprivate var sentence: String {
    switch self {
    case .localHangup: "this side hung up"
    case .remoteHangup: "the other side hung up"
    case .cancelled: "given up before it was connected"
    case .setupTimeout: "no connection in time"
    case .iceFailed: "no candidate pair works"
    case .turnAuth: "the TURN server refused the credentials"
    case .dtlsFailed: "the DTLS handshake failed"
    case .fingerprintMismatch: "the other side's certificate is not the one its description announced"
    case .codecMismatch: "the two sides have no codec in common"
    case .protocolViolation: "the other side's description cannot be used"
    case .signallingFailure: "descriptions could not be exchanged"
    }
  }
}

extension EndCode {
  /// Creates the end code for a description that cannot be used.
  init(_ error: SessionError) { self = error == .noCommonCodec ? .codecMismatch : .protocolViolation }
}

/// The end of a call.
package struct CallEnd: Hashable, Sendable, CustomStringConvertible {
  package let code: EndCode
  /// Whether the call was ever connected.
  package let wasUp: Bool
  /// Further information on the cause.
  package let detail: String?

  package init(_ code: EndCode, wasUp: Bool, detail: String? = nil) {
    self.code = code
    self.wasUp = wasUp
    self.detail = detail
  }

  /// Whether the call was connected and one of the two sides then hung up.
  package var isOrderly: Bool { wasUp && (code == .localHangup || code == .remoteHangup) }

  /// Whether the call was never connected because the description could not be used.
  var isRefusal: Bool { !wasUp && (code == .protocolViolation || code == .codecMismatch) }

  package var description: String {
    // An offer can be unacceptable although the codecs match, so the detail replaces the code's sentence.
    if code == .codecMismatch, let detail { return "\(code.rawValue): \(detail)" }
    return "\(code.rawValue): \(code.sentence)" + (detail.map { " (\($0))" } ?? "")
  }
}
