internal import COpenSSL

/// The contents of a PEM file, and its path for error messages.
package struct PEMFile: Sendable {
  package let path: String
  private let bytes: [UInt8]

  package init(path: String, bytes: [UInt8]) {
    self.path = path
    self.bytes = bytes
  }

  /// Opens the contents as a libcrypto BIO for `body`.
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
