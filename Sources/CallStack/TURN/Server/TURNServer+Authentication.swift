internal import CallCore
internal import STUN

/// The long-term credential mechanism (RFC 8489 section 9.2.4).
extension TURNServer {
  enum Verdict {
    case accepted(Requester)
    /// 401 or 438, with realm and nonce.
    case challenged(STUNError)
    case malformed
  }

  mutating func authenticate(_ message: STUNMessage, on path: Path, at now: Instant) -> Verdict {
    guard message.hasIntegrity else { return .challenged(.unauthenticated) }
    guard let username = message[.username], let realm = message[.realm], let nonce = message[.nonce] else {
      return .malformed
    }
    guard nonces.isFresh(nonce, from: path.remote, at: now) else {
      if nonces.isWithdrawn(nonce, from: path.remote, at: now) { counters.withdrawnNonces += 1 }
      return .challenged(.staleNonce)
    }
    let requester = requester(username, nonce: nonce, on: path, at: now)
    // Unknown names take the same work: the response time must not reveal which names exist.
    let key =
      requester?.key ?? .longTerm(username: username, realm: configuration.realm, password: Self.nobodysPassword)
    let isProven = message.integrity(key: key) == .valid
    guard let requester, isProven, !deniesCredentials, realm == configuration.realm else {
      return .challenged(.unauthenticated)
    }
    return .accepted(requester)
  }

  private static let nobodysPassword = "nobody's password"

  /// Looks up the user of `username`. An allocation's owner is not looked up again until the nonce changes: a
  /// time-limited name stays valid on a live allocation past its expiry, until the next stale nonce.
  private func requester(_ username: String, nonce: String, on path: Path, at now: Instant) -> Requester? {
    if let index = byClient[FiveTuple(path)], let known = slots[index]?.requester, known.username == username,
      known.nonce == nonce
    {
      return known
    }
    guard let password = configuration.credentials.password(for: username, at: now) else { return nil }
    return Requester(
      username: username, account: configuration.credentials.account(of: username),
      key: .longTerm(username: username, realm: configuration.realm, password: password), nonce: nonce)
  }
}
