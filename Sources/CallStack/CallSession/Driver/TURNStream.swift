package import CallCore
package import DTLS
internal import TURN

/// A connection between a TURN client and its server: whole messages on a TCP stream, in TLS or in clear.
package final class TURNStream {
  /// Why a connection ended that this side did not close.
  package enum End: Equatable {
    case closed
    /// The other side sent what is neither STUN nor ChannelData.
    case malformed
    /// TLS gave it up.
    case failed(TLSFailure)
  }

  /// Gets every message; the bytes are lent for the duration of the call.
  package var onMessage: ((RawSpan) -> Void)?
  package var onEnd: ((End) -> Void)?
  /// Told when this side has first said something in TLS that is no refusal: as a server, with its certificate.
  package var onAnswered: (() -> Void)?
  /// Told when TLS's handshake is done.
  package var onSecured: ((TLSConnection) -> Void)?
  /// Gets what decrypts the connection.
  package var onKeyLog: ((String) -> Void)?
  private let stream: any ByteStream
  private let tls: TLSConnection?
  private let now: () -> Instant
  private var framer = TURNStreamFramer()
  private var isSecured = false
  /// Whether a record was dropped: no network takes one out of a connection and lets the next through.
  private var isSwallowed = false

  /// - Parameter now: what libssl is to take for the time.
  package init(_ stream: any ByteStream, tls: TLSConnection? = nil, now: @escaping () -> Instant = { .zero }) {
    self.stream = stream
    self.tls = tls
    self.now = now
    stream.onConnect = { [weak self] in
      if let self, let tls = self.tls { flush(tls) }
    }
    stream.onBytes = { [weak self] bytes in
      guard let self else { return }
      if let tls = self.tls { receive(bytes, in: tls) } else { receive(bytes) }
    }
    stream.onEnd = { [weak self] in self?.transportEnded() }
  }

  /// Sends a message whole, or not at all when there is no room for it (``TURNStreamRoom``). What is left out is left out
  /// before it is encrypted, because TLS counts its records (RFC 8446 section 5.3). Whoever drops packets by a rule sees
  /// a message as they see a datagram; in TLS they see records.
  ///
  /// - Returns: whether there was room.
  @discardableResult
  package func send(_ message: RawSpan) -> Bool {
    let waiting = stream.unsentByteCount + (tls?.waitingByteCount ?? 0)
    guard TURNStreamRoom.holds(message, behind: waiting) else { return false }
    guard let tls else {
      stream.send(message)
      return true
    }
    tls.send(message, at: now())
    flush(tls)
    return true
  }

  /// With what TLS adds of itself. Somebody who makes it answer and reads nothing would have more and more wait.
  private static let limit = TURNStreamRoom.limit + 32_768

  /// Ends the connection once everything is sent. Nothing is reported any more, not even what has arrived already.
  package func close() {
    onMessage = nil
    onEnd = nil
    if let tls {
      tls.close(at: now())
      flush(tls)
    }
    fallSilent()
    stream.close()
  }

  /// Ends the connection with an RST. Nothing is reported any more.
  package func abort() {
    fallSilent()
    stream.abort()
  }

  private func transportEnded() {
    tls?.transportEnded()
    // A server that was not reached has said nothing of TLS.
    if stream.isConnected, case .failed(let failure) = tls?.state { end(.failed(failure)) } else { end(.closed) }
  }

  private func receive(_ bytes: RawSpan) {
    guard !framer.receive(bytes, message: { onMessage?($0) }) else { return }
    stream.abort()
    end(.malformed)
  }

  // MARK: TLS

  private func receive(_ bytes: RawSpan, in tls: TLSConnection) {
    let plain = tls.receive(bytes, at: now())
    flush(tls)
    if !isSecured, tls.state == .established || !plain.isEmpty {
      isSecured = true
      onSecured?(tls)
    }
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
    guard stream.isConnected else { return }
    let output = tls.takeOutput()
    if !output.isEmpty, tls.state == .handshaking {
      onAnswered?()
      onAnswered = nil
    }
    for record in output where !isSwallowed { isSwallowed = !stream.send(record.span.bytes) }
    guard stream.unsentByteCount > Self.limit else { return }
    stream.abort()
    end(.closed)
  }

  private func fallSilent() {
    onMessage = nil
    onEnd = nil
    onAnswered = nil
    onSecured = nil
    onKeyLog = nil
  }

  private func end(_ end: End) {
    let report = onEnd
    fallSilent()
    report?(end)
  }
}
