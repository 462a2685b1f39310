internal import CallCore
internal import DTLS
internal import TURN

/// A connection between a TURN client and its server: whole messages on a TCP stream, in TLS or in clear.
final class TURNStream {
  /// Why a connection ended that this side did not close.
  enum End: Equatable {
    case closed
    /// The other side sent what is neither STUN nor ChannelData.
    case malformed
    /// TLS gave it up.
    case failed(TLSFailure)
  }

  /// Gets every message; the bytes are lent for the duration of the call.
  var onMessage: ((RawSpan) -> Void)?
  var onEnd: ((End) -> Void)?
  /// Gets what decrypts the connection.
  var onKeyLog: ((String) -> Void)?
  private let stream: any LiveStream
  private let tls: TLSConnection?
  private let now: () -> Instant
  private var hasReceived = false
  private var framer = TURNStreamFramer()

  /// - Parameter now: what libssl is to take for the time.
  init(_ stream: any LiveStream, tls: TLSConnection? = nil, now: @escaping () -> Instant = { .zero }) {
    self.stream = stream
    self.tls = tls
    self.now = now
    stream.onBytes = { [unowned self] bytes in
      hasReceived = true
      if let tls { receive(bytes, in: tls) } else { receive(bytes) }
    }
    stream.onEnd = { [unowned self] in transportEnded() }
  }

  /// Says the first of TLS, once whoever listens does so.
  func begin() { if let tls { flush(tls) } }

  /// Sends a message whole, or not at all when there is no room for it (``TURNStreamRoom``). What is left out is left out
  /// before it is encrypted, because TLS counts its records (RFC 8446 section 5.3).
  func send(_ message: RawSpan) {
    let waiting = stream.unsentByteCount + (tls?.waitingByteCount ?? 0)
    guard TURNStreamRoom.holds(message, behind: waiting) else { return }
    guard let tls else { return stream.send(message) }
    tls.send(message, at: now())
    flush(tls)
  }

  /// With what TLS adds of itself. Somebody who makes it answer and reads nothing would have more and more wait.
  private static let limit = TURNStreamRoom.limit + 32_768

  /// Ends the connection once everything is sent. Nothing is reported any more, not even what has arrived already.
  func close() {
    fallSilent()
    if let tls {
      tls.close(at: now())
      flush(tls)
    }
    stream.close()
  }

  private func transportEnded() {
    tls?.transportEnded()
    // A server that was not reached has said nothing of TLS.
    if hasReceived, case .failed(let failure) = tls?.state { end(.failed(failure)) } else { end(.closed) }
  }

  // MARK: TLS

  private func receive(_ bytes: RawSpan, in tls: TLSConnection) {
    let plain = tls.receive(bytes, at: now())
    flush(tls)
    if !plain.isEmpty { receive(plain.span.bytes) }
    switch tls.state {
    case .handshaking, .established: break
    case .closed: finish(.closed)
    case .failed(let failure): finish(.failed(failure))
    }
  }

  /// TLS is over, and has said so to the other side.
  private func finish(_ reason: End) {
    guard onEnd != nil else { return }
    stream.close()
    end(reason)
  }

  private func flush(_ tls: TLSConnection) {
    for line in tls.takeKeyLog() { onKeyLog?(line) }
    for record in tls.takeOutput() { stream.send(record.span.bytes) }
    guard stream.unsentByteCount > Self.limit else { return }
    stream.abort()
    end(.closed)
  }

  private func fallSilent() {
    onMessage = nil
    onEnd = nil
    onKeyLog = nil
  }

  private func receive(_ bytes: RawSpan) {
    guard !framer.receive(bytes, message: { onMessage?($0) }) else { return }
    stream.abort()
    end(.malformed)
  }

  private func end(_ end: End) {
    let report = onEnd
    fallSilent()
    report?(end)
  }
}
