internal import CallCore
internal import Digests

/// The hash that derives a long-term key from a password (RFC 8489 section 18.5).
package enum STUNPasswordAlgorithm: UInt16, STUNAttributeValue, CaseIterable {
  case md5 = 1, sha256 = 2

  /// Decodes an algorithm. Returns nil if it is unknown or has parameters: neither known algorithm takes any.
  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> STUNPasswordAlgorithm? {
    guard let number = bytes.bigEndian(UInt16.self, at: 0), bytes.bigEndian(UInt16.self, at: 2) == 0 else {
      return nil
    }
    return STUNPasswordAlgorithm(rawValue: number)
  }

  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) {
    bytes.append(bigEndian: UInt32(rawValue) << 16)
  }
}

/// PASSWORD-ALGORITHMS: the algorithms that a server offers, in its order of preference, without unknown ones.
package struct STUNPasswordAlgorithms: STUNAttributeValue, Hashable {
  package var algorithms: [STUNPasswordAlgorithm]

  package init(_ algorithms: [STUNPasswordAlgorithm]) { self.algorithms = algorithms }

  package static func decode(_ bytes: RawSpan, _ context: STUNAttributeContext) -> STUNPasswordAlgorithms? {
    var algorithms: [STUNPasswordAlgorithm] = []
    var offset = 0
    while offset < bytes.byteCount {
      guard let number = bytes.bigEndian(UInt16.self, at: offset),
        let length = bytes.bigEndian(UInt16.self, at: offset + 2)
      else { return nil }
      if let known = STUNPasswordAlgorithm(rawValue: number) { algorithms.append(known) }
      offset += 4 + (Int(length) + 3) & ~3
    }
    return STUNPasswordAlgorithms(algorithms)
  }

  package func encode(into bytes: inout [UInt8], _ context: STUNAttributeContext) {
    for algorithm in algorithms { algorithm.encode(into: &bytes, context) }
  }
}

/// The key of MESSAGE-INTEGRITY and MESSAGE-INTEGRITY-SHA256 (RFC 8489 sections 9.1.1 and 9.2.2).
///
/// Names and passwords are used unchanged: the caller prepares them (RFC 8265 OpaqueString).
package struct STUNKey: Hashable, Sendable {
  package let bytes: [UInt8]

  /// Returns the key of short-term credentials: the password itself.
  package static func shortTerm(password: String) -> STUNKey { STUNKey(bytes: [UInt8](password.utf8)) }

  /// Returns the key of long-term credentials: a hash of `username:realm:password`.
  package static func longTerm(
    username: String, realm: String, password: String, algorithm: STUNPasswordAlgorithm = .md5
  ) -> STUNKey {
    let function: HashFunction = algorithm == .md5 ? .md5 : .sha256
    return STUNKey(bytes: function.digest(of: [UInt8]("\(username):\(realm):\(password)".utf8)))
  }

  /// Returns the value of USERHASH, which hides a user name (RFC 8489 section 14.4).
  package static func userHash(username: String, realm: String) -> [UInt8] {
    HashFunction.sha256.digest(of: [UInt8]("\(username):\(realm)".utf8))
  }
}
