internal import CallCore
internal import DTLS
internal import ScenarioFormat

/// The certificates of a world's TURN servers for TLS, and the authority that its peers trust.
///
/// Each depends only on the seed, the server's name and its configured defect.
final class ServerCertificates {
  private let random: RandomSource
  private(set) lazy var authority = makeAuthority("callsim")
  private lazy var stranger = makeAuthority("stranger")

  init(random: RandomSource) { self.random = random.scoped("tls") }

  /// Returns the name by which clients know a server. It is never resolved: RFC 6761 reserves `.test`.
  static func name(of server: String) -> String { "\(server).test" }

  private func makeAuthority(_ name: String) -> TLSAuthority {
    TLSAuthority(name: name, entropy: Entropy(random, stream: "authority/\(name)"), wallClock: WallClock())
  }

  private static let day: Int64 = 86_400

  func identity(
    _ certificate: Topology.Server.Certificate, of server: String, at addresses: [IPAddress]
  ) -> TLSIdentity {
    // Ninety days, like the certificates of public web authorities.
    let start = WallClock().unixSeconds(at: .zero)
    var validity = start - 30 * Self.day...start + 60 * Self.day
    if certificate == .expired { validity = start - 91 * Self.day...start - Self.day }
    if certificate == .notYetValid { validity = start + Self.day...start + 91 * Self.day }
    let isWrong = certificate == .wrongName
    return (certificate == .unknownIssuer ? stranger : authority).issue(
      names: [isWrong ? "wrong.test" : Self.name(of: server)], addresses: isWrong ? [] : addresses, validity: validity,
      entropy: Entropy(random, stream: "\(server)/\(certificate.rawValue)"))
  }
}
