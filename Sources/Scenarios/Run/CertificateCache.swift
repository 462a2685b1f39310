internal import CallCore
internal import DTLS
internal import Synchronization

/// Certificates by peer and seed: making one costs as much as a handshake, and the same name and seed make the same one.
enum CertificateCache {
  private static let certificates = Mutex<[String: Certificate]>([:])

  static func certificate(of peer: String, seed: UInt64) -> Certificate {
    certificates.withLock { known in
      let key = "\(seed)/\(peer)"
      if let certificate = known[key] { return certificate }
      let certificate = Certificate.generate(
        name: peer, entropy: .stream(RandomSource(seed: seed).stream("certificate/\(peer)")), wallClock: WallClock())
      known[key] = certificate
      return certificate
    }
  }
}
