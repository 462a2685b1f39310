internal import CallCore
internal import Digests

/// Issues nonces without storing them: each contains its time of issue and an HMAC of the time, the client and a
/// secret.
struct NonceIssuer {
  private let secret: [UInt8]
  private let lifetime: Interval
  private var generation: UInt64 = 0

  init(secret: [UInt8], lifetime: Interval) {
    self.secret = secret
    self.lifetime = lifetime
  }

  /// Makes all issued nonces stale.
  mutating func invalidateAll() { generation &+= 1 }

  func issue(to client: Endpoint, at now: Instant) -> String {
    var time: [UInt8] = []
    time.append(bigEndian: now.nanoseconds)
    return Hexadecimal.encode(time) + code(time, client, generation)
  }

  func isFresh(_ nonce: String, from client: Endpoint, at now: Instant) -> Bool {
    isValid(nonce, of: generation, from: client, at: now)
  }

  /// Returns whether the nonce would be fresh without ``invalidateAll()``.
  func isWithdrawn(_ nonce: String, from client: Endpoint, at now: Instant) -> Bool {
    (0..<generation).contains { isValid(nonce, of: $0, from: client, at: now) }
  }

  private func isValid(_ nonce: String, of generation: UInt64, from client: Endpoint, at now: Instant) -> Bool {
    guard nonce.utf8.count == 32, let time = Hexadecimal.decode(String(nonce.prefix(16))), time.count == 8,
      let issued = time.span.bytes.bigEndian(Int64.self, at: 0)
    else { return false }
    let (shown, right) = (Array(nonce.utf8.suffix(16)), Array(code(time, client, generation).utf8))
    return constantTimeEqual(shown.span.bytes, right.span.bytes) && now - Instant(nanoseconds: issued) < lifetime
  }

  private func code(_ time: [UInt8], _ client: Endpoint, _ generation: UInt64) -> String {
    var input = time
    input.append(bigEndian: generation)
    input.append(contentsOf: client.address.bytes)
    input.append(bigEndian: client.port)
    return Hexadecimal.encode(Array(HMAC.code(.sha1, key: secret, of: input).prefix(8)))
  }
}
