package import CallCore
package import DTLS

/// The identity and the versions with which a server accepts TLS connections.
package final class TLSListener {
  private let versions: ClosedRange<TLSVersion>
  private let random: RandomSource
  private var context: TLSContext
  private var count = 0
  /// The number of connections on which the certificate was sent.
  package private(set) var shownCount = 0

  package init(
    identity: TLSIdentity, versions: ClosedRange<TLSVersion> = .tls12 ... .tls13, random: RandomSource
  ) throws(TLSFileProblem) {
    self.versions = versions
    self.random = random
    context = try TLSContext(server: identity, versions: versions)
  }

  /// Sets the identity for new connections; existing connections continue.
  package func show(_ identity: TLSIdentity) throws(TLSFileProblem) {
    context = try TLSContext(server: identity, versions: versions)
  }

  func accept() -> TLSConnection {
    count += 1
    return TLSConnection(server: context, entropy: Entropy(random, stream: "tls/\(count)"))
  }

  func certificateShown() { shownCount += 1 }
}
