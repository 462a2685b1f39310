internal import COpenSSL
internal import SRTP
internal import Synchronization

/// An `SSL_CTX`: the settings that all connections with the same profiles share. Each has a certificate of its own.
final class Context: @unchecked Sendable {
  // Sendable because an SSL_CTX is never changed after init and libssl counts references to it atomically.
  let pointer: OpaquePointer
  let profiles: [SRTPProfile]

  /// The cipher suites that browsers offer for DTLS 1.2, in their order. SRTP does not use them; interoperability needs
  /// them.
  private static let ciphers = [
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
    "ECDHE-ECDSA-AES128-SHA", "ECDHE-RSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA", "ECDHE-RSA-AES256-SHA",
  ].joined(separator: ":")

  private static let made = Mutex<[Context]>([])

  /// Returns the context for these profiles, made once: making one costs as much as half a handshake.
  static func shared(profiles: [SRTPProfile]) -> Context {
    made.withLock { contexts in
      if let known = contexts.first(where: { $0.profiles == profiles }) { return known }
      let new = Context(profiles: profiles)
      contexts.append(new)
      return new
    }
  }

  private init(profiles: [SRTPProfile]) {
    self.profiles = profiles
    guard let context = SSL_CTX_new(DTLS_method()) else { fatalError("OpenSSL cannot make a DTLS context") }
    pointer = context
    COpenSSL_CTX_set_datagram_options(context)
    // Level 1 accepts RSA-1024 certificates, which browsers accept.
    SSL_CTX_set_security_level(context, 1)
    let names = profiles.map(\.openSSLName).joined(separator: ":")
    // Unlike the rest of the API, SSL_CTX_set_tlsext_use_srtp returns 0 for success.
    let configured =
      COpenSSL_CTX_set_proto_versions(context, DTLS1_2_VERSION, DTLS1_2_VERSION) == 1
      && SSL_CTX_set_cipher_list(context, Self.ciphers) == 1
      && COpenSSL_CTX_set_groups_list(context, "X25519:P-256:P-384") == 1
      && (names.isEmpty || SSL_CTX_set_tlsext_use_srtp(context, names) == 0)
    precondition(configured, "OpenSSL refuses a DTLS setting")
    // Both ends must send a certificate (RFC 5763 section 5); its fingerprint is verified, not its chain.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    SSL_CTX_set_cert_verify_callback(context, Connection.verifyCallback, nil)
    SSL_CTX_set_info_callback(context, Connection.infoCallback)
    SSL_CTX_set_keylog_callback(context, Connection.keyLogCallback)
  }
}

extension SRTPProfile {
  var openSSLName: String {
    switch self {
    case .aes128CMHMACSHA1_80: "SRTP_AES128_CM_SHA1_80"
    case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
    case .aeadAES256GCM: "SRTP_AEAD_AES_256_GCM"
    }
  }
}
