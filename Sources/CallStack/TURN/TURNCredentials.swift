internal import Digests

/// A user name and password for the long-term mechanism (RFC 8489 section 9.2).
package struct TURNCredentials: Hashable, Sendable {
  package var username: String
  package var password: String

  package init(username: String, password: String) {
    self.username = username
    self.password = password
  }

  /// Returns time-limited credentials (draft-uberti-behave-turn-rest): the name is `expiry:user`, or the expiry alone,
  /// and the password is an HMAC of the name with a secret that the servers share.
  ///
  /// - Parameter expiry: Unix time in seconds.
  package static func timeLimited(
    secret: String, user: String? = nil, expiry: Int64, separator: Character = ":"
  ) -> TURNCredentials {
    let username = user.map { "\(expiry)\(separator)\($0)" } ?? "\(expiry)"
    return TURNCredentials(username: username, password: password(secret: secret, username: username))
  }

  static func password(secret: String, username: String) -> String {
    Base64.encode(HMAC.code(.sha1, key: [UInt8](secret.utf8), of: [UInt8](username.utf8)))
  }
}
