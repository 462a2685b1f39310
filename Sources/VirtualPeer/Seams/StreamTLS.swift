internal import CallCore
internal import DTLS

/// TLS on one stream between an app and a server of its product.
final class StreamTLS {
  private let connection: TLSConnection
  private let remote: Endpoint
  private let clock: PeerClock
  private let trace: TLSTrace
  private let keyLog: ((String) -> Void)?
  private var isEstablished = false
  /// Why TLS failed; nil if it did not.
  private(set) var failure: TLSFailure?

  /// - Parameter keyLog: Receives the secrets that decrypt the connection, line by line.
  init(
    _ connection: TLSConnection, with remote: Endpoint, clock: PeerClock, trace: TLSTrace,
    keyLog: ((String) -> Void)?
  ) {
    self.connection = connection
    self.remote = remote
    self.clock = clock
    self.trace = trace
    self.keyLog = keyLog
  }

  /// Returns the records to send for these bytes; those of the handshake come first, and the bytes wait for its end.
  func encrypt(_ bytes: [UInt8]) -> [[UInt8]] {
    connection.send(bytes.span.bytes, at: clock.now)
    return takeOutput()
  }

  func takeOutput() -> [[UInt8]] {
    for line in connection.takeKeyLog() { keyLog?(line) }
    return connection.takeOutput()
  }

  /// Takes bytes of the stream.
  ///
  /// - Returns: What was in them, whether the handshake is done since, and whether TLS is over.
  func decrypt(_ bytes: [UInt8]) -> (plain: [UInt8], isFirst: Bool, isOver: Bool) {
    let plain = connection.receive(bytes.span.bytes, at: clock.now)
    let isFirst = !isEstablished && (connection.state == .established || !plain.isEmpty)
    if isFirst {
      isEstablished = true
      trace.established(connection, with: remote)
    }
    note()
    return (plain, isFirst, connection.state != .handshaking && connection.state != .established)
  }

  /// Returns the last records, after which nothing is sent.
  func close() -> [[UInt8]] {
    connection.close(at: clock.now)
    return takeOutput()
  }

  func transportEnded() {
    connection.transportEnded()
    note()
  }

  private func note() {
    guard failure == nil, case .failed(let reason) = connection.state else { return }
    failure = reason
    trace.failed(reason, with: remote)
  }
}
