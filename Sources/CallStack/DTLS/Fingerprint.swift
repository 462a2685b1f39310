internal import COpenSSL

/// A certificate fingerprint, as in an `a=fingerprint` line (RFC 8122 section 5).
package struct Fingerprint: Hashable, Sendable {
  /// The hash functions of RFC 8122, without the forbidden ones (MD2, MD5).
  package enum HashFunction: String, CaseIterable, Sendable {
    case sha1 = "sha-1"
    case sha224 = "sha-224"
    case sha256 = "sha-256"
    case sha384 = "sha-384"
    case sha512 = "sha-512"

    /// The length of a digest in bytes.
    package var length: Int {
      switch self {
      case .sha1: 20
      case .sha224: 28
      case .sha256: 32
      case .sha384: 48
      case .sha512: 64
      }
    }
  }

  package let function: HashFunction
  package let digest: [UInt8]

  /// Creates a fingerprint; returns nil if the digest does not have the function's length.
  package init?(function: HashFunction, digest: [UInt8]) {
    guard digest.count == function.length else { return nil }
    self.function = function
    self.digest = digest
  }

  /// Computes the fingerprint of a certificate.
  init(of certificate: OpaquePointer, _ function: HashFunction) {
    self.function = function
    digest = [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
      var length: UInt32 = 0
      let status = X509_digest(certificate, function.implementation, buffer.baseAddress, &length)
      precondition(status == 1, "OpenSSL cannot hash a certificate with \(function.rawValue)")
      count = Int(length)
    }
  }
}

extension Fingerprint: LosslessStringConvertible {
  /// Parses the value of an `a=fingerprint` line, such as `sha-256 4A:AD:…`. Letters may have either case.
  package init?(_ text: String) {
    let parts = text.split(separator: " ")
    guard parts.count == 2, let function = HashFunction(rawValue: parts[0].lowercased()) else { return nil }
    var digest: [UInt8] = []
    for pair in parts[1].utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
      guard pair.count == 2, let high = Self.nibble(pair[pair.startIndex]),
        let low = Self.nibble(pair[pair.index(after: pair.startIndex)])
      else { return nil }
      digest.append(high << 4 | low)
    }
    self.init(function: function, digest: digest)
  }

  package var description: String { "\(function.rawValue) \(value)" }

  /// The digest as upper-case hexadecimal octets joined by colons.
  package var value: String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(digest.count * 3)
    for (index, byte) in digest.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ":")) }
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func nibble(_ character: UInt8) -> UInt8? {
    switch character {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

extension Fingerprint.HashFunction {
  fileprivate var implementation: OpaquePointer? {
    switch self {
    case .sha1: EVP_sha1()
    case .sha224: EVP_sha224()
    case .sha256: EVP_sha256()
    case .sha384: EVP_sha384()
    case .sha512: EVP_sha512()
    }
  }
}
