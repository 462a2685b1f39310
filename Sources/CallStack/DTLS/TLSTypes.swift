/// A version of TLS that is spoken here; older ones are forbidden (RFC 8996).
package enum TLSVersion: String, Sendable, CaseIterable, Comparable {
  case tls12 = "1.2"
  case tls13 = "1.3"

  package static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  /// The four hexadecimal digits of W3C `RTCTransportStats.tlsVersion`'s kind: `0303` is TLS 1.2.
  package var number: UInt16 { self == .tls12 ? 0x0303 : 0x0304 }
}

/// Why a connection failed.
public enum TLSFailure: Hashable, Sendable {
  /// The server's certificate is not to be trusted.
  case certificate(TLSCertificateProblem)
  /// The other end gave up.
  case alertReceived(TLSAlert)
  /// The other end broke the protocol, and was told so.
  case protocolViolation(TLSAlert)
  /// What came first is no TLS.
  case notTLS
  /// The transport ended before the handshake did.
  case handshakeCut
}

/// What is wrong with a server's certificate (RFC 5280 section 6, RFC 9525 section 6).
public enum TLSCertificateProblem: Hashable, Sendable {
  /// Its time of validity is over.
  case expired
  /// Its time of validity has not begun.
  case notYetValid
  /// Nobody who is trusted has signed it, or it is signed by itself.
  case unknownIssuer
  /// It is for other names than the one that was asked for.
  case wrongName
  /// Another problem, in OpenSSL's words.
  case other(String)
}

extension TLSFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .certificate(let problem): "TLS: \(problem)"
    case .alertReceived(let alert): "TLS: alert received: \(alert)"
    case .protocolViolation(let alert): "TLS: protocol violation: \(alert)"
    case .notTLS: "TLS: what came is no TLS"
    case .handshakeCut: "TLS: the connection ended in the handshake"
    }
  }
}

extension TLSCertificateProblem: CustomStringConvertible {
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

/// A certificate or key that cannot be used: place, and what is wrong.
package struct TLSFileProblem: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}

/// Whose certificates a client believes.
package enum TLSTrust: Sendable {
  /// Those whom the operating system trusts.
  case system
  case authorities(TLSCertificates)
  /// Anybody: libwebrtc's `TLS_CERT_POLICY_INSECURE_NO_CHECK`.
  case anybody
}

/// How a client makes connections.
package struct TLSClientConfiguration: Sendable {
  package var trust = TLSTrust.system
  package var versions = TLSVersion.tls12...TLSVersion.tls13
  /// What is offered by ALPN (RFC 7301), such as `stun.turn` (RFC 7443). Browsers and libwebrtc offer nothing.
  package var applicationProtocols: [String] = []
  /// By OpenSSL's names, to settle on one; nil offers all.
  package var ciphers: String?

  package init() {}
}

/// RFC 7443: TURN inside of TLS.
package let turnApplicationProtocol = "stun.turn"
