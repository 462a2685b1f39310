internal import CallCore
internal import Digests

/// How a long-term key is derived from a password (RFC 8489 section 18.5).
package enum STUNPasswordAlgorithm: UInt16, STUNAttributeValue, CaseIterable {
  case md5 = 1, sha256 = 2

  /// - Returns: nil for an unknown algorithm, or for parameters that neither algorithm has.
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

/// PASSWORD-ALGORITHMS: what a server offers, in its order of preference; algorithms unknown here are left out.
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
/// Names and passwords are taken as they are: preparing them (RFC 8265 OpaqueString) is the caller's business.
package struct STUNKey: Hashable, Sendable {
  package let bytes: [UInt8]

  /// The key of short-term credentials: the password itself.
  package static func shortTerm(password: String) -> STUNKey { STUNKey(bytes: [UInt8](password.utf8)) }

  /// The key of long-term credentials: a hash of `username:realm:password`.
  package static func longTerm(
    username: String, realm: String, password: String, algorithm: STUNPasswordAlgorithm = .md5
  ) -> STUNKey {
    let function: HashFunction = algorithm == .md5 ? .md5 : .sha256
    return STUNKey(bytes: function.digest(of: [UInt8]("\(username):\(realm):\(password)".utf8)))
  }

  /// USERHASH: what hides a user's name (RFC 8489 section 14.4).
  package static func userHash(username: String, realm: String) -> [UInt8] {
    HashFunction.sha256.digest(of: [UInt8]("\(username):\(realm)".utf8))
  }
}
