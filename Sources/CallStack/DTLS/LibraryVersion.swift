internal import COpenSSL

extension DTLSTransport {
  /// The version of OpenSSL that is linked in: `3.0.13`.
  package static var libraryVersion: String {
    OpenSSL_version(OPENSSL_VERSION_STRING).map { String(cString: $0) } ?? ""
  }
}
