internal import CallCore
internal import VirtualPeer

/// An access token as the harness models it: its claims in clear, and a check value in place of the signature.
struct TwilioToken {
  /// A fault of the token that the app was given.
  enum Kind: String, CaseIterable {
    case valid, malformed, header, issuer, expired, early, grants, signature
  }

  /// The longest time that a token is valid.
  static let longestTime = Interval.minutes(24 * 60)
  private static let issuer = "SK-callsim"

  /// Returns the text of a token, minted now by the device's date.
  static func text(_ kind: Kind, identity: String, room: String, validFor: Interval, at now: Int64) -> String {
    if kind == .malformed { return "garbage" }
    var claims: [(String, JSON)] = [
      ("typ", kind == .header ? "XYZ" : "JWT"), ("iss", .string(kind == .issuer ? "SK-unknown" : issuer)),
      ("identity", .string(identity)),
      ("nbf", .integer(kind == .early ? now + 3_600 : now)),
      ("exp", .integer(kind == .expired ? now - 1 : now + Int64(validFor.seconds.rounded(.up)))),
      ("video", kind == .grants ? .null : .string(room)),
    ]
    let signature = ModelledSignature.value(of: claims) &+ (kind == .signature ? 1 : 0)
    claims.append(("sig", .string("\(signature)")))
    return JSON.object(claims.map { JSON.Member($0.0, $0.1) }).description
  }

  /// Checks a token as the server does.
  ///
  /// - Parameter now: the server's date in seconds since 1970.
  /// - Returns: the identity, or the code of the error.
  static func check(_ text: String, room: String?, at now: Int64) -> (identity: String?, code: String?) {
    guard case .object(let members)? = try? JSON(parsing: text.utf8) else { return (nil, "20101") }
    let token = JSON.object(members)
    guard token["typ"]?.string == "JWT" else { return (nil, "20102") }
    guard token["iss"]?.string == issuer else { return (nil, "20103") }
    let claims = members.filter { $0.key != "sig" }.map { ($0.key, $0.value) }
    guard token["sig"]?.string == "\(ModelledSignature.value(of: claims))" else { return (nil, "20107") }
    guard let expiry = token["exp"]?.integer, now < expiry else { return (nil, "20104") }
    guard let start = token["nbf"]?.integer, now >= start else { return (nil, "20105") }
    guard expiry - start <= Int64(longestTime.seconds) else { return (nil, "20104") }
    guard let granted = token["video"]?.string, room == nil || granted == room else {
      return (nil, "20106")
    }
    return (token["identity"]?.string ?? "", nil)
  }
}
