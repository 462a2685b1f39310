internal import COpenSSL

/// What a file holds that is to be in PEM form, and its name for errors.
package struct PEMFile: Sendable {
  package let path: String
  private let bytes: [UInt8]

  package init(path: String, bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
  }

  /// Has libcrypto read the bytes.
  func read<Result>(_ body: (OpaquePointer) -> Result) -> Result {
    bytes.withUnsafeBytes { bytes in
      guard let bio = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else {
        fatalError("OpenSSL has no memory for '\(path)'")
      }
      defer {
        BIO_free(bio)
        ERR_clear_error()
      }
      return body(bio)
    }
  }
}
