internal import CallCore

/// Decrypts a TLS connection from its bytes on the wire and the secrets of a key log, as Wireshark does.
///
/// It shares no state with either end, so its output is independent evidence of the traffic.
package final class TLSReader {
  package enum Sender: Sendable { case client, server }

  private let secrets: TLSSecrets
  private var client = Direction()
  private var server = Direction()
  private var clientRandom: [UInt8] = []
  private var serverRandom: [UInt8] = []
  private var suite: TLSSuite?
  private var version = TLSVersion.tls12
  /// The number of protected records that could not be decrypted, because their secret is missing or their suite is
  /// unknown.
  package var unreadableCount: Int { refusedCount + client.held.count + server.held.count }
  private var refusedCount = 0

  /// The first bytes of the random that marks a ServerHello as a HelloRetryRequest (RFC 8446 section 4.1.3).
  private static let retryRandom: [UInt8] = [0xCF, 0x21, 0xAD, 0x74, 0xE5, 0x9A, 0x61, 0x11]

  private struct Direction {
    var pending: [UInt8] = []
    var handshake: [UInt8] = []
    var cipher: TLSRecordCipher?
    /// The secret of TLS 1.3, from Finished on.
    var trafficSecret: [UInt8]?
    var isProtected = false
    /// Protected records that arrived before their secret: a TLS 1.2 server derives it from the flight that contains
    /// them, and a client outside this program does not log it.
    var held: [[UInt8]] = []
  }

  private static let heldLimit = 16

  package init(secrets: TLSSecrets) { self.secrets = secrets }

  /// Returns whether a stream with these first bytes is TLS: a handshake record of a version 3.x.
  package static func isTLS(_ bytes: RawSpan) -> Bool { bytes.byte(at: 0) == 22 && bytes.byte(at: 1) == 3 }

  /// Takes the next bytes of one direction, and passes on the application data of each record that they complete.
  package func receive(_ bytes: RawSpan, from sender: Sender, _ received: (RawSpan) -> Void) {
    var pending = direction(sender).pending + bytes.copied
    var start = 0
    while let length = pending.span.bytes.bigEndian(UInt16.self, at: start + 3),
      start + 5 + Int(length) <= pending.count
    {
      let end = start + 5 + Int(length)
      read(Array(pending[start..<end]), from: sender, received)
      start = end
    }
    pending.removeFirst(start)
    change(sender) { $0.pending = pending }
  }

  private func direction(_ sender: Sender) -> Direction { sender == .client ? client : server }

  private func change(_ sender: Sender, _ change: (inout Direction) -> Void) {
    if sender == .client { change(&client) } else { change(&server) }
  }

  private func read(_ record: [UInt8], from sender: Sender, _ received: (RawSpan) -> Void) {
    switch record[0] {
    case 20:
      // In TLS 1.3 the record exists only for middleboxes (RFC 8446 appendix D.4).
      if version == .tls12, suite != nil {
        change(sender) { $0.isProtected = true }
        deriveTLS12(sender)
      }
    case 22 where !direction(sender).isProtected: handshake(Array(record[5...]), from: sender)
    case 21 where !direction(sender).isProtected: break
    default: open(record, from: sender, received)
    }
  }

  private func open(_ record: [UInt8], from sender: Sender, _ received: (RawSpan) -> Void) {
    if version == .tls13, direction(sender).cipher == nil {
      let label = sender == .client ? "CLIENT_HANDSHAKE_TRAFFIC_SECRET" : "SERVER_HANDSHAKE_TRAFFIC_SECRET"
      protect(sender, with: secrets.secret(label, clientRandom: clientRandom))
    }
    if version == .tls12, direction(sender).cipher == nil {
      deriveTLS12(sender)
      guard direction(sender).cipher != nil else { return hold(record, from: sender) }
      let held = direction(sender).held
      change(sender) { $0.held = [] }
      for record in held { open(record, from: sender, received) }
    }
    var opened: (type: UInt8, plain: [UInt8])?
    change(sender) { opened = $0.cipher?.open(record) }
    guard let opened else {
      refusedCount += 1
      return
    }
    switch opened.type {
    case 22: handshake(opened.plain, from: sender)
    case 23: received(opened.plain.span.bytes)
    default: break
    }
  }

  private func hold(_ record: [UInt8], from sender: Sender) {
    guard suite != nil, direction(sender).held.count < Self.heldLimit else {
      refusedCount += 1
      return
    }
    change(sender) { $0.held.append(record) }
  }

  /// Sets the keys of one direction of TLS 1.3.
  private func protect(_ sender: Sender, with secret: [UInt8]?) {
    guard let suite, let secret else { return }
    change(sender) {
      $0.isProtected = true
      $0.trafficSecret = secret
      $0.cipher = TLSRecordCipher(suite: suite, trafficSecret: secret)
    }
  }

  private func deriveTLS12(_ sender: Sender) {
    guard let suite, let master = secrets.secret("CLIENT_RANDOM", clientRandom: clientRandom) else { return }
    let (key, nonce) = (suite.keyLength, suite.fixedNonceLength)
    let block = suite.prf(master, "key expansion", serverRandom + clientRandom, length: 2 * key + 2 * nonce)
    let place = sender == .client ? 0 : 1
    let keyBytes = Array(block[place * key..<(place + 1) * key])
    let nonceStart = 2 * key + place * nonce
    let nonceBytes = Array(block[nonceStart..<nonceStart + nonce])
    change(sender) { $0.cipher = TLSRecordCipher(suite: suite, key: keyBytes, nonce: nonceBytes) }
  }

  // MARK: Handshake

  private func handshake(_ bytes: [UInt8], from sender: Sender) {
    var pending = direction(sender).handshake + bytes
    while pending.count >= 4 {
      let length = Int(pending[1]) << 16 | Int(pending[2]) << 8 | Int(pending[3])
      guard pending.count >= 4 + length else { break }
      let message = Array(pending[..<(4 + length)])
      pending.removeFirst(4 + length)
      learn(message, from: sender)
    }
    change(sender) { $0.handshake = pending }
  }

  private func learn(_ message: [UInt8], from sender: Sender) {
    switch message[0] {
    case 1 where sender == .client: clientRandom = message.span.bytes.bytes(in: 6..<38) ?? []
    case 2 where sender == .server: learnServerHello(message.span.bytes)
    case 20 where version == .tls13:
      let label = sender == .client ? "CLIENT_TRAFFIC_SECRET_0" : "SERVER_TRAFFIC_SECRET_0"
      protect(sender, with: secrets.secret(label, clientRandom: clientRandom))
    case 24 where version == .tls13:
      guard let suite, let secret = direction(sender).trafficSecret else { return }
      protect(sender, with: suite.expand(secret, "traffic upd", length: suite.hashLength))
    default: break
    }
  }

  private func learnServerHello(_ message: RawSpan) {
    guard let random = message.bytes(in: 6..<38), !random.starts(with: Self.retryRandom),
      let sessionLength = message.byte(at: 38),
      let number = message.bigEndian(UInt16.self, at: 39 + Int(sessionLength))
    else { return }
    serverRandom = random
    suite = TLSSuite(number)
    // TLS 1.3 is negotiated by supported_versions (RFC 8446 section 4.2.1), but no other version has its suites.
    version = number >> 8 == 0x13 ? .tls13 : .tls12
  }
}
