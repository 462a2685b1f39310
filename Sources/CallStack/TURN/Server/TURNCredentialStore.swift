package import CallCore

/// The accepted credentials: a table, a secret for time-limited names, or both; the table has precedence.
package struct TURNCredentialStore: Sendable {
  private var passwords: [String: String]
  private let sharedSecret: String?
  private let separator: Character
  private let wallClock: WallClock

  /// Creates a store.
  ///
  /// - Parameters:
  ///   - sharedSecret: accepts names `expiry:user` with the password derived from this secret.
  ///   - separator: the character between expiry and user.
  ///   - wallClock: the server's wall clock.
  package init(
    users: [TURNCredentials] = [], sharedSecret: String? = nil, separator: Character = ":",
    wallClock: WallClock = WallClock()
  ) {
    passwords = Dictionary(users.map { ($0.username, $0.password) }) { first, _ in first }
    self.sharedSecret = sharedSecret
    self.separator = separator
    self.wallClock = wallClock
  }

  /// Adds a user, or changes a password.
  package mutating func set(_ credentials: TURNCredentials) { passwords[credentials.username] = credentials.password }

  package mutating func remove(username: String) { passwords[username] = nil }

  /// Returns the password of `username`, or nil if the name is unknown or expired.
  func password(for username: String, at now: Instant) -> String? {
    if let password = passwords[username] { return password }
    guard let sharedSecret, let expiry = Int64(username.prefix { $0 != separator }),
      expiry >= wallClock.unixSeconds(at: now)
    else { return nil }
    return TURNCredentials.password(secret: sharedSecret, username: username)
  }

  /// Returns the name that quotas count: without the expiry, which changes with every set of credentials.
  func account(of username: String) -> String {
    guard passwords[username] == nil, sharedSecret != nil, let end = username.firstIndex(of: separator) else {
      return username
    }
    return String(username[username.index(after: end)...])
  }
}
