internal import LibC
internal import PeerSession
internal import TURN

/// The user of TURN servers and its credentials.
package struct TURNUser: Hashable, Sendable {
  private let username: String
  private let credential: String
  private let secret: String?

  /// The lifetime of time-limited credentials in seconds: one day.
  private static let lifetime: Int64 = 86_400

  /// - Parameter secret: the servers' shared secret for time-limited passwords; it replaces `credential`.
  package init(username: String, credential: String, secret: String? = nil) {
    self.username = username
    self.credential = credential
    self.secret = secret
  }

  var credentials: (username: String, credential: String) {
    guard let secret else { return (username, credential) }
    let made = TURNCredentials.timeLimited(
      secret: secret, user: username, expiry: Int64(time(nil)) + Self.lifetime)
    return (made.username, made.password)
  }
}
