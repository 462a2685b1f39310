internal import CallCore
internal import VirtualPeer

/// What stands in place of a token's signature: a hash over its claims and a secret of the harness.
enum ModelledSignature {
  private static let secret = "callsim-secret"

  static func value(of claims: [(String, JSON)]) -> UInt64 {
    FNV1a.hash(of: secret + claims.map { "\($0.0)=\($0.1)" }.joined(separator: "&"))
  }
}
