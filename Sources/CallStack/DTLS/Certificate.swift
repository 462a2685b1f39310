internal import COpenSSL
public import CallCore
internal import SRTP

/// A self-signed ECDSA P-256 certificate and its private key (RFC 8827 section 6.5).
///
/// Immutable. Reuse it: making one costs more than a handshake. The same entropy stream, name and clock always make the
/// same certificate.
public final class Certificate: @unchecked Sendable {
  // Sendable because OpenSSL counts references to both objects atomically and nothing here changes them.
  let x509: OpaquePointer
  let privateKey: OpaquePointer
  /// The certificate in DER, as returned by `getStats` and `getRemoteCertificates`.
  package let der: [UInt8]
  private let sha256: Fingerprint

  /// Makes a certificate that is valid from one day before the start of `wallClock` to thirty days after it.
  ///
  /// - Parameter name: the common name of subject and issuer, cut to 64 bytes.
  public static func generate(name: String, entropy: consuming Entropy, wallClock: WallClock) -> Certificate {
    let environment = VirtualEnvironment(entropy)
    return environment.run(at: .zero) {
      Certificate(name: name, start: wallClock.unixNanosecondsAtStart / 1_000_000_000)
    }
  }

  private init(name: String, start: Int64) {
    guard let key = COpenSSL_generate_P256(), let x509 = X509_new() else { fatalError("OpenSSL cannot make a key") }
    self.x509 = x509
    privateKey = key
    var serial: UInt64 = 0
    withUnsafeMutableBytes(of: &serial) { bytes in
      _ = RAND_bytes(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count))
    }
    // RFC 5280 section 4.1.2.2 requires a positive serial number.
    let day: Int64 = 86_400
    let issued =
      X509_set_version(x509, 2) == 1
      && ASN1_INTEGER_set_uint64(X509_get_serialNumber(x509), serial >> 1 | 1) == 1
      && ASN1_TIME_set(X509_getm_notBefore(x509), Int(start - day)) != nil
      && ASN1_TIME_set(X509_getm_notAfter(x509), Int(start + 30 * day)) != nil
      && X509_set_pubkey(x509, key) == 1
      && Self.setName(name, on: x509)
      && X509_sign(x509, key, EVP_sha256()) > 0
    precondition(issued, "OpenSSL cannot sign a certificate for '\(name)'")
    der = Self.der(of: x509)
    sha256 = Fingerprint(of: x509, .sha256)
  }

  deinit {
    X509_free(x509)
    EVP_PKEY_free(privateKey)
  }

  private static func setName(_ name: String, on x509: OpaquePointer) -> Bool {
    // RFC 5280 appendix A limits a common name to 64 (ub-common-name).
    var text = name.isEmpty ? "WebRTC" : name
    while text.utf8.count > 64 { text.removeLast() }
    let subject = X509_get_subject_name(x509)
    let bytes = Array(text.utf8)
    return X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, bytes, Int32(bytes.count), -1, 0) == 1
      && X509_set_issuer_name(x509, subject) == 1
  }

  /// Returns the fingerprint to announce in SDP.
  package func fingerprint(_ function: Fingerprint.HashFunction = .sha256) -> Fingerprint {
    function == .sha256 ? sha256 : Fingerprint(of: x509, function)
  }

  static func der(of x509: OpaquePointer) -> [UInt8] {
    let length = Int(i2d_X509(x509, nil))
    guard length > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      var cursor = buffer.baseAddress
      count = Int(i2d_X509(x509, &cursor))
    }
  }
}
