/// The description of a TLS alert (RFC 5246 section 7.2).
public struct DTLSAlert: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let closeNotify = DTLSAlert(rawValue: 0)
  public static let unexpectedMessage = DTLSAlert(rawValue: 10)
  public static let handshakeFailure = DTLSAlert(rawValue: 40)
  public static let badCertificate = DTLSAlert(rawValue: 42)
  public static let protocolVersion = DTLSAlert(rawValue: 70)
  public static let internalError = DTLSAlert(rawValue: 80)
}

extension DTLSAlert: CustomStringConvertible {
  public var description: String {
    switch rawValue {
    case 0: "close_notify"
    case 10: "unexpected_message"
    case 20: "bad_record_mac"
    case 22: "record_overflow"
    case 40: "handshake_failure"
    case 42: "bad_certificate"
    case 43: "unsupported_certificate"
    case 44: "certificate_revoked"
    case 45: "certificate_expired"
    case 46: "certificate_unknown"
    case 47: "illegal_parameter"
    case 48: "unknown_ca"
    case 49: "access_denied"
    case 50: "decode_error"
    case 51: "decrypt_error"
    case 70: "protocol_version"
    case 71: "insufficient_security"
    case 80: "internal_error"
    case 86: "inappropriate_fallback"
    case 90: "user_canceled"
    case 100: "no_renegotiation"
    case 109: "missing_extension"
    case 110: "unsupported_extension"
    case 116: "certificate_required"
    default: "alert_\(rawValue)"
    }
  }
}
