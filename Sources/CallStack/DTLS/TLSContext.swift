internal import COpenSSL

/// The shared state of one client's or one server's connections. Reuse it: it costs more than a connection.
package final class TLSContext: @unchecked Sendable {
  // Sendable because an SSL_CTX is never changed after init and libssl counts references to it atomically.
  let pointer: OpaquePointer
  let isServer: Bool

  /// The suites that browsers offer, without the non-AEAD ones of TLS 1.2 (RFC 9325 section 4.2).
  private static let ciphers = [
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
  ].joined(separator: ":")
  private static let suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"

  package convenience init(client configuration: TLSClientConfiguration) {
    self.init(versions: configuration.versions, isServer: false)
    switch configuration.trust {
    case .system: SSL_CTX_set_default_verify_paths(pointer)
    case .authorities(let authorities):
      guard let store = SSL_CTX_get_cert_store(pointer) else { break }
      for certificate in authorities.certificates { X509_STORE_add_cert(store, certificate) }
    case .anybody: break
    }
    let verifies = if case .anybody = configuration.trust { false } else { true }
    SSL_CTX_set_verify(pointer, verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nil)
    var names: [UInt8] = []
    for name in configuration.applicationProtocols where (1...255).contains(name.utf8.count) {
      names.append(UInt8(name.utf8.count))
      names += Array(name.utf8)
    }
    if let ciphers = configuration.ciphers {
      SSL_CTX_set_cipher_list(pointer, ciphers)
      SSL_CTX_set_ciphersuites(pointer, ciphers)
    }
    if !names.isEmpty { SSL_CTX_set_alpn_protos(pointer, names, UInt32(names.count)) }
  }

  package convenience init(
    server identity: TLSIdentity, versions: ClosedRange<TLSVersion> = .tls12 ... .tls13
  ) throws(TLSFileProblem) {
    self.init(versions: versions, isServer: true)
    let chain = identity.chain.certificates
    defer { ERR_clear_error() }
    guard SSL_CTX_use_certificate(pointer, chain[0]) == 1, SSL_CTX_use_PrivateKey(pointer, identity.privateKey) == 1,
      chain.dropFirst().allSatisfy({ COpenSSL_CTX_add_chain_certificate(pointer, $0) == 1 })
    else {
      throw TLSFileProblem("OpenSSL refuses the certificate or its key: it needs at least 2048 bits (RSA) or P-256")
    }
    // ALPN selects `stun.turn` (RFC 7443) if the client offers it; other clients continue without ALPN.
    COpenSSL_CTX_set_alpn_select(pointer) { _, chosen, length, offered, count, _ in
      TLSContext.select(UnsafeBufferPointer(start: offered, count: Int(count)), chosen, length)
    }
  }

  private init(versions: ClosedRange<TLSVersion>, isServer: Bool) {
    guard let context = SSL_CTX_new(isServer ? TLS_server_method() : TLS_client_method()) else {
      fatalError("OpenSSL cannot make a TLS context")
    }
    pointer = context
    self.isServer = isServer
    COpenSSL_CTX_set_stream_options(context)
    let (lowest, highest) = (Int32(versions.lowerBound.number), Int32(versions.upperBound.number))
    let configured =
      COpenSSL_CTX_set_proto_versions(context, lowest, highest) == 1
      && SSL_CTX_set_cipher_list(context, Self.ciphers) == 1 && SSL_CTX_set_ciphersuites(context, Self.suites) == 1
      && COpenSSL_CTX_set_groups_list(context, "X25519:P-256:P-384") == 1
    precondition(configured, "OpenSSL refuses a TLS setting")
    SSL_CTX_set_info_callback(context, TLSConnection.infoCallback)
    SSL_CTX_set_keylog_callback(context, TLSConnection.keyLogCallback)
  }

  deinit { SSL_CTX_free(pointer) }

  private static func select(
    _ offered: UnsafeBufferPointer<UInt8>, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ length: UnsafeMutablePointer<UInt8>?
  ) -> Int32 {
    var start = 0
    while start < offered.count, start + 1 + Int(offered[start]) <= offered.count {
      let end = start + 1 + Int(offered[start])
      if offered[(start + 1)..<end].elementsEqual(turnApplicationProtocol.utf8) {
        chosen?.pointee = offered.baseAddress.map { $0 + start + 1 }
        length?.pointee = offered[start]
        return SSL_TLSEXT_ERR_OK
      }
      start = end
    }
    return SSL_TLSEXT_ERR_NOACK
  }
}
