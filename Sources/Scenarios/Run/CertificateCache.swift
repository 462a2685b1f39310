internal import CallCore
internal import DTLS
internal import Synchronization

/// Certificates by peer and seed. Generating one costs as much as a handshake, and the same name and seed give the same
/// one.
///
/// The newest are kept: a suite plays the seeds of one cell after the other, and rarely comes back to one.
struct CertificateCache {
  /// The cache of this process.
  private static let shared = Mutex(CertificateCache(limit: 128))

  private let limit: Int
  private var certificates: [String: Certificate] = [:]
  /// The keys, oldest first.
  private var keys: [String] = []

  init(limit: Int) { self.limit = limit }

  var count: Int { certificates.count }

  static func certificate(of peer: String, seed: UInt64) -> Certificate {
    shared.withLock { $0.certificate(of: peer, seed: seed) }
  }

  mutating func certificate(of peer: String, seed: UInt64) -> Certificate {
    let key = "\(seed)/\(peer)"
    if let certificate = certificates[key] { return certificate }
    let certificate = Certificate.generate(
      name: peer, entropy: .stream(RandomSource(seed: seed).stream("certificate/\(peer)")), wallClock: WallClock())
    if keys.count == limit { certificates[keys.removeFirst()] = nil }
    certificates[key] = certificate
    keys.append(key)
    return certificate
  }
}
