internal import CallCore
internal import VirtualPeer
internal import Vocabulary

/// The right that a token gives: what a client may do in its session.
enum VonageRole: String, CaseIterable {
  /// Only subscribes.
  case subscriber
  /// Publishes as well.
  case publisher
  /// Disconnects and mutes others as well.
  case moderator
}

/// A token as the harness models it: its claims in clear, and a check value in place of the signature.
struct VonageToken {
  /// A fault of the token that the app was given.
  enum Kind: String, CaseIterable {
    case valid, empty, malformed, forged, expired
    case apiKey = "api-key"
    case otherSession = "other-session"
  }

  let user: String
  let role: VonageRole

  private static let apiKey = "47000000"
  /// The default time of the product: a day.
  private static let time = Interval.minutes(24 * 60)

  /// Returns the text of a token, minted now by the device's date.
  static func text(_ kind: Kind, user: String, session: String, role: VonageRole, at now: Int64) -> String {
    switch kind {
    case .empty: return ""
    case .malformed: return "garbage"
    case .valid, .forged, .expired, .apiKey, .otherSession: break
    }
    var claims: [(String, JSON)] = [
      ("key", .string(kind == .apiKey ? "1" : apiKey)),
      ("session", .string(kind == .otherSession ? session + "-other" : session)), ("user", .string(user)),
      ("role", .string(role.rawValue)),
      ("expires", .integer(kind == .expired ? now - 1 : now + Int64(time.seconds))),
    ]
    let check = ModelledSignature.value(of: claims) &+ (kind == .forged ? 1 : 0)
    claims.append(("check", .string("\(check)")))
    return JSON.object(claims.map { JSON.Member($0.0, $0.1) }).description
  }

  /// Reads and checks a token as the server does.
  ///
  /// - Parameter now: the server's date in seconds since 1970.
  init?(_ text: String, session: String, at now: Int64) {
    guard case .object(let members)? = try? JSON(parsing: text.utf8) else { return nil }
    let token = JSON.object(members)
    let claims = members.filter { $0.key != "check" }.map { ($0.key, $0.value) }
    guard token["check"]?.string == "\(ModelledSignature.value(of: claims))", token["key"]?.string == Self.apiKey,
      token["session"]?.string == session, let expires = token["expires"]?.integer, now < expires,
      let user = token["user"]?.string, let role = token["role"]?.string.flatMap(VonageRole.init)
    else { return nil }
    (self.user, self.role) = (user, role)
  }
}
