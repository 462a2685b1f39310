/// The description of an alert of TLS or DTLS (RFC 8446 section 6, RFC 5246 section 7.2).
public struct TLSAlert: RawRepresentable, Hashable, Sendable {
  /// The AlertDescription number.
  public let rawValue: UInt8

  /// Creates an alert from its AlertDescription number.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The two sides have no parameters in common.
  public static let handshakeFailure = TLSAlert(rawValue: 40)
  /// The certificate is malformed or was rejected.
  public static let badCertificate = TLSAlert(rawValue: 42)
  /// The two sides have no version of the protocol in common.
  public static let protocolVersion = TLSAlert(rawValue: 70)
  /// The sender had an internal failure.
  public static let internalError = TLSAlert(rawValue: 80)
}

extension TLSAlert: CustomStringConvertible {
  /// The name of the alert in the RFC, or its number.
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
    case 112: "unrecognized_name"
    case 116: "certificate_required"
    case 120: "no_application_protocol"
    default: "alert_\(rawValue)"
    }
  }
}
