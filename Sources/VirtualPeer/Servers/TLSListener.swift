package import CallCore
package import DTLS

/// How a server takes connections over TLS: as whom, and in which versions.
package final class TLSListener {
  private let versions: ClosedRange<TLSVersion>
  private let random: RandomSource
  private var context: TLSContext
  private var count = 0
  /// Connections on which the certificate was sent.
  package private(set) var shownCount = 0

  package init(
    identity: TLSIdentity, versions: ClosedRange<TLSVersion> = .tls12 ... .tls13, random: RandomSource
  ) throws(TLSFileProblem) {
    self.versions = versions
    self.random = random
    context = try TLSContext(server: identity, versions: versions)
  }

  /// What clients are shown from now on; connections that stand go on.
  package func show(_ identity: TLSIdentity) throws(TLSFileProblem) {
    context = try TLSContext(server: identity, versions: versions)
  }

  func accept() -> TLSConnection {
    count += 1
    return TLSConnection(server: context, entropy: Entropy(random, stream: "tls/\(count)"))
  }

  func certificateShown() { shownCount += 1 }
}
