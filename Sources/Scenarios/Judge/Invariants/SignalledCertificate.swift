internal import CallCore
internal import ScenarioFormat
internal import SimNet

/// Media flow only where the certificate of the other end is one that was signalled (RFC 8827 section 6.5).
///
/// The certificate is that of the DTLS handshake at the peer's interface; a description that has reached the peer must
/// have announced it. Whose description that was does not matter: a server may be the other end.
final class SignalledCertificate {
  private final class Side {
    /// The fingerprints in the descriptions that have reached the peer.
    var told: Set<String> = []
    /// The fingerprint of the newest certificate that was shown to an endpoint.
    var shown: [Endpoint: String] = [:]
    /// The endpoints whose certificate was told.
    var verified: Set<Endpoint> = []
    var isReported = false
  }

  private var sides: [String: Side] = [:]
  private let report: (Violation) -> Void

  init(_ context: MonitorContext, _ arrivals: Arrivals, _ report: @escaping (Violation) -> Void) {
    self.report = report
    for peer in context.scenario.peers.map(\.name) {
      let side = Side()
      sides[peer] = side
      arrivals.listen(of: peer) { message in side.told.formUnion(message.fingerprints.map { $0.lowercased() }) }
    }
    context.wire.listen(certificates: { [unowned self] certificate in
      guard let side = sides[certificate.peer] else { return }
      side.shown[certificate.local] = certificate.fingerprint.lowercased()
      side.verified.remove(certificate.local)
    })
    context.wire.listen(media: { [unowned self] media in
      guard media.direction == .tx, let side = sides[media.peer], let local = media.local else { return }
      judge(media, from: local, side)
    })
  }

  private func judge(_ media: WireMedia, from local: Endpoint, _ side: Side) {
    // A peer that was told nothing takes its descriptions from elsewhere.
    guard !side.isReported, !side.verified.contains(local), !side.told.isEmpty, let shown = side.shown[local] else {
      return
    }
    if side.told.contains(shown) {
      side.verified.insert(local)
      return
    }
    side.isReported = true
    let actual =
      "\(media.peer) sent media at \(Wording.time(media.time)), and no description that reached it has the fingerprint "
      + "of the certificate that the other end has shown"
    report(Violation(.signalledCertificate, at: media.time, actual: actual))
  }
}
