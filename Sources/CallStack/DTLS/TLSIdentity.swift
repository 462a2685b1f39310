internal import COpenSSL
package import CallCore

/// Certificates in the order of a file or chain.
package final class TLSCertificates: @unchecked Sendable {
  // Sendable because OpenSSL counts references to certificates atomically and nothing here changes them.
  let certificates: [OpaquePointer]

  /// Takes ownership of the certificates.
  init(_ certificates: [OpaquePointer]) { self.certificates = certificates }

  deinit { for certificate in certificates { X509_free(certificate) } }

  /// Reads every certificate of a PEM file.
  package static func read(_ file: PEMFile) throws(TLSFileProblem) -> TLSCertificates {
    let found = file.read { bio in
      var found: [OpaquePointer] = []
      while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) { found.append(certificate) }
      return found
    }
    guard !found.isEmpty else { throw TLSFileProblem("'\(file.path)' has no certificate in PEM form") }
    return TLSCertificates(found)
  }

  /// The certificates in PEM.
  package var pem: String {
    guard let bio = BIO_new(BIO_s_mem()) else { return "" }
    defer { BIO_free(bio) }
    for certificate in certificates { PEM_write_bio_X509(bio, certificate) }
    return String(decoding: TLSBuffer.drain(bio), as: UTF8.self)
  }
}

/// The credentials of a TLS server: its certificate, the chain to an authority, and its private key.
package final class TLSIdentity: @unchecked Sendable {
  // As for `TLSCertificates`.
  let chain: TLSCertificates
  let privateKey: OpaquePointer

  init(chain: TLSCertificates, privateKey: OpaquePointer) {
    self.chain = chain
    self.privateKey = privateKey
  }

  deinit { EVP_PKEY_free(privateKey) }

  package var certificatePEM: String { chain.pem }

  package var keyPEM: String {
    guard let bio = BIO_new(BIO_s_mem()) else { return "" }
    defer { BIO_free(bio) }
    PEM_write_bio_PrivateKey(bio, privateKey, nil, nil, 0, nil, nil)
    return String(decoding: TLSBuffer.drain(bio), as: UTF8.self)
  }

  /// Reads a certificate with its chain, the server's own first, and its key from PEM files.
  package static func read(certificate: PEMFile, key file: PEMFile) throws(TLSFileProblem) -> TLSIdentity {
    let chain = try TLSCertificates.read(certificate)
    // Without this callback OpenSSL asks for a passphrase on the terminal.
    guard let key = file.read({ PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }) else {
      throw TLSFileProblem("'\(file.path)' has no private key in PEM form without a passphrase")
    }
    let identity = TLSIdentity(chain: chain, privateKey: key)
    defer { ERR_clear_error() }
    guard X509_check_private_key(chain.certificates[0], key) == 1 else {
      throw TLSFileProblem("the key in '\(file.path)' is not that of the first certificate in '\(certificate.path)'")
    }
    return identity
  }
}

/// Signs certificates of simulated servers; clients that trust ``certificates`` accept them.
package final class TLSAuthority: @unchecked Sendable {
  // As for `TLSCertificates`.
  package let certificates: TLSCertificates
  private let privateKey: OpaquePointer

  /// Creates an authority.
  ///
  /// - Parameter wallClock: the clock of its validity: from a year before its start to ten years after.
  package init(name: String, entropy: consuming Entropy, wallClock: WallClock) {
    let environment = VirtualEnvironment(entropy)
    let start = wallClock.unixSeconds(at: .zero)
    let year: Int64 = 365 * 86_400
    let (certificate, key) = environment.run(at: .zero) {
      let key = Self.makeKey()
      let extensions = [(NID_basic_constraints, "critical,CA:TRUE"), (NID_key_usage, "critical,keyCertSign,cRLSign")]
      let certificate = Self.sign(
        subject: name, key: key, validity: start - year...start + 10 * year, extensions: extensions, issuer: nil)
      return (certificate, key)
    }
    certificates = TLSCertificates([certificate])
    privateKey = key
  }

  deinit { EVP_PKEY_free(privateKey) }

  /// Makes a server's certificate and key.
  ///
  /// - Parameters:
  ///   - names: its DNS names. They and `addresses` become subject alternative names, which alone identify a server
  ///     (RFC 9525).
  ///   - validity: its first and last valid second, in Unix time.
  package func issue(
    names: [String], addresses: [IPAddress], validity: ClosedRange<Int64>, entropy: consuming Entropy
  ) -> TLSIdentity {
    let environment = VirtualEnvironment(entropy)
    return environment.run(at: .zero) {
      let key = Self.makeKey()
      let names = names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }
      let extensions = [
        (NID_basic_constraints, "critical,CA:FALSE"), (NID_ext_key_usage, "serverAuth"),
        (NID_subject_alt_name, names.joined(separator: ",")),
      ]
      let certificate = Self.sign(
        subject: "server", key: key, validity: validity, extensions: extensions,
        issuer: (certificates.certificates[0], privateKey))
      return TLSIdentity(chain: TLSCertificates([certificate]), privateKey: key)
    }
  }

  private static func makeKey() -> OpaquePointer {
    guard let key = COpenSSL_generate_P256() else { fatalError("OpenSSL cannot make a key") }
    return key
  }

  /// Signs a certificate.
  ///
  /// - Parameter issuer: the signer's certificate and key, or nil for a self-signed one.
  private static func sign(
    subject: String, key: OpaquePointer, validity: ClosedRange<Int64>, extensions: [(Int32, String)],
    issuer: (certificate: OpaquePointer, key: OpaquePointer)?
  ) -> OpaquePointer {
    guard let x509 = X509_new() else { fatalError("OpenSSL cannot make a certificate") }
    var serial: UInt64 = 0
    withUnsafeMutableBytes(of: &serial) { bytes in
      _ = RAND_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count))
    }
    let bytes = Array(subject.utf8)
    var made =
      X509_set_version(x509, 2) == 1
      && ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509), serial >> 1 | 1) == 1
      && ASN1_TIME_set(X509_getm_notBefore(x509), Int(validity.lowerBound)) != nil
      && ASN1_TIME_set(X509_getm_notAfter(x509), Int(validity.upperBound)) != nil
      && X509_set_pubkey(x509, key) == 1
      && X509_NAME_add_entry_by_txt(
        X509_get_subject_name(x509), "CN", MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0) == 1
      && X509_set_issuer_name(x509, X509_get_subject_name(issuer?.certificate ?? x509)) == 1
    for (kind, value) in extensions where made { made = COpenSSL_add_extension(x509, kind, value) == 1 }
    made = made && X509_sign(x509, issuer?.key ?? key, EVP_sha256()) > 0
    precondition(made, "OpenSSL cannot make a certificate for '\(subject)'")
    return x509
  }
}
