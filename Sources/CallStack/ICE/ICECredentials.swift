package import CallCore
internal import STUN

/// The user name fragment and password that authenticate the checks to one agent in one generation (RFC 8445
/// section 5.3).
package struct ICECredentials: Hashable, Sendable {
  package var ufrag: String
  package var password: String

  package init(ufrag: String, password: String) {
    self.ufrag = ufrag
    self.password = password
  }

  /// Makes new credentials of 4 and 24 characters, with 24 and 144 random bits.
  package init(from random: inout RandomStream) {
    ufrag = Self.characters(4, from: &random)
    password = Self.characters(24, from: &random)
  }

  /// Whether both parts have the lengths and characters of RFC 8839 section 5.4.
  package var isValid: Bool {
    (4...256).contains(ufrag.utf8.count) && (22...256).contains(password.utf8.count)
      && ufrag.utf8.allSatisfy(\.isICECharacter) && password.utf8.allSatisfy(\.isICECharacter)
  }

  private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private static func characters(_ count: Int, from random: inout RandomStream) -> String {
    String(decoding: (0..<count).map { _ in alphabet[Int(random.uniform(below: 64))] }, as: UTF8.self)
  }
}
