internal import COpenSSL

/// The hash functions that STUN, TURN and DTLS need.
package enum HashFunction: Sendable {
  case md5, sha1, sha256

  /// The size of a digest, in bytes.
  package var digestSize: Int {
    switch self {
    case .md5: 16
    case .sha1: 20
    case .sha256: 32
    }
  }

  /// Returns the digest of `bytes`.
  package func digest(of bytes: RawSpan) -> [UInt8] {
    var state = HashState(self)
    state.update(bytes)
    return state.finish()
  }

  package func digest(of bytes: [UInt8]) -> [UInt8] { digest(of: bytes.span.bytes) }

  /// OpenSSL's implementation, fetched once: OpenSSL 3 takes a lock and walks its providers on every fetch.
  var implementation: OpaquePointer {
    switch self {
    case .md5: Self.md5Implementation
    case .sha1: Self.sha1Implementation
    case .sha256: Self.sha256Implementation
    }
  }

  // Immutable and reference counted inside OpenSSL; never freed.
  nonisolated(unsafe) private static let md5Implementation = fetch("MD5")
  nonisolated(unsafe) private static let sha1Implementation = fetch("SHA1")
  nonisolated(unsafe) private static let sha256Implementation = fetch("SHA256")

  private static func fetch(_ name: String) -> OpaquePointer {
    guard let implementation = EVP_MD_fetch(nil, name, nil) else {
      preconditionFailure("this OpenSSL does not provide \(name)")
    }
    return implementation
  }
}

/// A digest of input in pieces.
struct HashState: ~Copyable {
  private let context: OpaquePointer
  private let function: HashFunction

  init(_ function: HashFunction) {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex2(context, function.implementation, nil) == 1 else {
      preconditionFailure("OpenSSL cannot start a digest: out of memory")
    }
    self.context = context
    self.function = function
  }

  deinit { EVP_MD_CTX_free(context) }

  mutating func update(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { _ = EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
  }

  consuming func finish() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: function.digestSize) { buffer, count in
      _ = EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
      count = function.digestSize
    }
  }
}
