internal import COpenSSL

extension DTLSTransport {
  /// The version of the linked OpenSSL, such as `3.0.13`.
  package static var libraryVersion: String {
    OpenSSL_version(OPENSSL_VERSION_STRING).map { String(cString: $0) } ?? ""
  }
}
