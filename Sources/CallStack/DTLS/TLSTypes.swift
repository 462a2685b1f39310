/// A supported version of TLS; older ones are forbidden (RFC 8996).
package enum TLSVersion: String, Sendable, CaseIterable, Comparable {
  case tls12 = "1.2"
  case tls13 = "1.3"

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  /// The version number on the wire, of which W3C `RTCTransportStats.tlsVersion` has the four hexadecimal digits:
  /// `0303` is TLS 1.2.
  package var number: UInt16 { self == .tls12 ? 0x0303 : 0x0304 }
}

/// The reason why a connection failed.
public enum TLSFailure: Hashable, Sendable {
  /// The server's certificate is not trusted.
  case certificate(TLSCertificateProblem)
  /// The peer sent a fatal alert.
  case alertReceived(TLSAlert)
  /// The peer violated the protocol, and was sent this alert.
  case protocolViolation(TLSAlert)
  /// The first bytes received were not TLS.
  case notTLS
  /// The transport ended during the handshake.
  case handshakeCut
}

/// The defect of a server's certificate (RFC 5280 section 6, RFC 9525 section 6).
public enum TLSCertificateProblem: Hashable, Sendable {
  /// The validity period has ended.
  case expired
  /// The validity period has not begun.
  case notYetValid
  /// The certificate is self-signed, or its issuer is not trusted.
  case unknownIssuer
  /// The certificate does not contain the requested name.
  case wrongName
  /// Another problem, with OpenSSL's message.
  case other(String)
}

extension TLSFailure: CustomStringConvertible {
  /// The failure as readable text.
  public var description: String {
    switch self {
    case .certificate(let problem): "TLS: \(problem)"
    case .alertReceived(let alert): "TLS: alert received: \(alert)"
    case .protocolViolation(let alert): "TLS: protocol violation: \(alert)"
    case .notTLS: "TLS: the received bytes are not TLS"
    case .handshakeCut: "TLS: the connection ended in the handshake"
    }
  }
}

extension TLSCertificateProblem: CustomStringConvertible {
  /// The problem as readable text.
  public var description: String {
    switch self {
    case .expired: "the certificate has expired"
    case .notYetValid: "the certificate is not valid yet"
    case .unknownIssuer: "the certificate's issuer is unknown"
    case .wrongName: "the certificate is for another name"
    case .other(let text): "the certificate is refused: \(text)"
    }
  }
}

/// A message about a certificate or key that cannot be used, with the file.
package struct TLSFileProblem: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}

/// The certificate authorities that a client trusts.
package enum TLSTrust: Sendable {
  /// The authorities that the operating system trusts.
  case system
  case authorities(TLSCertificates)
  /// No verification: libwebrtc's `TLS_CERT_POLICY_INSECURE_NO_CHECK`.
  case anybody
}

/// The settings of a client's connections.
package struct TLSClientConfiguration: Sendable {
  package var trust = TLSTrust.system
  package var versions = TLSVersion.tls12...TLSVersion.tls13
  /// The protocols offered by ALPN (RFC 7301), such as `stun.turn` (RFC 7443). Browsers and libwebrtc offer none.
  package var applicationProtocols: [String] = []
  /// The only cipher suites to offer, by OpenSSL's names; nil offers all.
  package var ciphers: String?

  package init() {}
}

/// The ALPN protocol ID of TURN over TLS (RFC 7443).
package let turnApplicationProtocol = "stun.turn"
