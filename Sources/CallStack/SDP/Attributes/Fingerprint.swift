/// `a=fingerprint` (RFC 8122 §5): the hash of a DTLS certificate.
package struct Fingerprint: Hashable, Sendable {
  /// The hash function in lower case, such as `sha-256`.
  package var algorithm: String
  package var digest: [UInt8]

  package init(algorithm: String, digest: [UInt8]) {
    self.algorithm = algorithm.lowercased()
    self.digest = digest
  }

  init?(_ text: String) {
    let fields = text.fields()
    guard fields.count == 2 else { return nil }
    var digest: [UInt8] = []
    for pair in fields[1].fields(":") {
      guard pair.utf8.count == 2, let byte = UInt8(pair, radix: 16) else { return nil }
      digest.append(byte)
    }
    guard !digest.isEmpty else { return nil }
    self.init(algorithm: String(fields[0]), digest: digest)
  }

  /// Whether the hash function is one that RFC 8122 section 5 names and does not forbid, and the digest has its length.
  package var isUsable: Bool { Self.lengths[algorithm] == digest.count }

  private static let lengths = ["sha-1": 20, "sha-224": 28, "sha-256": 32, "sha-384": 48, "sha-512": 64]

  /// The text of the attribute: `sha-256 AB:CD:…`.
  package var text: String {
    let pairs = digest.map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
    }
    return "\(algorithm) \(pairs.joined(separator: ":"))"
  }
}

/// `a=setup` (RFC 4145 §4, RFC 8842 §5): the active side sends the DTLS ClientHello.
package enum SetupRole: String, Hashable, Sendable, CaseIterable {
  case actpass, active, passive, holdconn
}
