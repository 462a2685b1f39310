internal import CallCore
internal import Digests

/// The used relayed addresses. Ports are drawn at random, so that they cannot be guessed (RFC 8656 section 7.2).
struct RelayPorts {
  private let range: ClosedRange<UInt16>
  private var taken: Set<Endpoint> = []
  private var withheld: Set<Endpoint> = []
  private var reservations: [Reservation] = []

  /// A port that is reserved for the holder of a token.
  private struct Reservation {
    let token: [UInt8]
    let endpoint: Endpoint
    /// The account whose quota includes the port until it is redeemed or expires.
    let account: String
    let expiresAt: Instant
  }

  init(_ range: ClosedRange<UInt16>) { self.range = range }

  enum Parity { case any, even, evenWithNextFree }

  /// Takes a free port; returns nil when there is none.
  mutating func take(_ address: IPAddress, _ parity: Parity, random: inout RandomStream) -> Endpoint? {
    let count = UInt64(range.count)
    let start = random.uniform(below: count)
    for step in 0..<count {
      let port = range.lowerBound + UInt16((start + step) % count)
      let endpoint = Endpoint(address, port: port)
      guard isFree(endpoint) else { continue }
      if parity != .any, port % 2 == 1 { continue }
      if parity == .evenWithNextFree {
        guard range.contains(port | 1), isFree(Endpoint(address, port: port | 1)) else { continue }
      }
      taken.insert(endpoint)
      return endpoint
    }
    return nil
  }

  private func isFree(_ endpoint: Endpoint) -> Bool { !taken.contains(endpoint) && !withheld.contains(endpoint) }

  /// Excludes `endpoint` from all relays.
  mutating func withhold(_ endpoint: Endpoint) { withheld.insert(endpoint) }

  /// Reserves the port after an even one for the holder of the returned token.
  mutating func reserveNext(
    after even: Endpoint, for account: String, until expiry: Instant, random: inout RandomStream
  ) -> [UInt8] {
    let endpoint = Endpoint(even.address, port: even.port | 1)
    let token = random.bytes(8)
    taken.insert(endpoint)
    reservations.append(Reservation(token: token, endpoint: endpoint, account: account, expiresAt: expiry))
    return token
  }

  /// Returns the endpoint reserved for `token`, or nil if the token is unknown or expired.
  mutating func redeem(_ token: [UInt8], at now: Instant) -> Endpoint? {
    expire(at: now)
    let index = reservations.firstIndex { constantTimeEqual($0.token.span.bytes, token.span.bytes) }
    guard let index else { return nil }
    return reservations.remove(at: index).endpoint
  }

  /// Returns whether a port is reserved for this account's token.
  func isReserved(_ token: [UInt8], for account: String) -> Bool {
    reservations.contains { $0.account == account && constantTimeEqual($0.token.span.bytes, token.span.bytes) }
  }

  /// Frees the port that was reserved with an even one.
  mutating func cancelReservation(after even: Endpoint) {
    let kept = Endpoint(even.address, port: even.port | 1)
    guard let index = reservations.firstIndex(where: { $0.endpoint == kept }) else { return }
    taken.remove(reservations.remove(at: index).endpoint)
  }

  /// Returns the number of reserved ports, in total or of one account.
  func reservationCount(of account: String? = nil) -> Int {
    guard let account else { return reservations.count }
    return reservations.count { $0.account == account }
  }

  mutating func release(_ endpoint: Endpoint) { taken.remove(endpoint) }

  mutating func expire(at now: Instant) {
    for reservation in reservations where now >= reservation.expiresAt { taken.remove(reservation.endpoint) }
    reservations.removeAll { now >= $0.expiresAt }
  }

  /// Frees all ports that are not withheld.
  mutating func removeAll() {
    taken.removeAll()
    reservations.removeAll()
  }
}
