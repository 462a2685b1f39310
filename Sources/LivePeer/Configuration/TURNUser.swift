internal import CallSession
internal import LibC
internal import TURN

/// Who the TURN servers are to believe we are.
package struct TURNUser: Hashable, Sendable {
  private let username: String
  private let credential: String
  private let secret: String?

  /// Time-limited credentials are good for a day.
  private static let lifetime: Int64 = 86_400

  /// - Parameter secret: what the servers make time-limited passwords with; the credential is then made here.
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
