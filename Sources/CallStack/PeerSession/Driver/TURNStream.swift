package import CallCore
package import DTLS
internal import TURN

/// A connection between a TURN client and its server that carries whole messages on TCP, with or without TLS.
package final class TURNStream {
  /// The reason why a connection ended that this side did not close.
  package enum End: Equatable {
    case closed
    /// The other side sent data that is neither STUN nor ChannelData.
    case malformed
    /// TLS failed.
    case failed(TLSFailure)
  }

  /// The callback for each message; the bytes are lent for the duration of the call.
  package var onMessage: ((RawSpan) -> Void)?
  package var onEnd: ((End) -> Void)?
  /// The callback for this side's first TLS output other than an alert: as a server, its certificate.
  package var onAnswered: (() -> Void)?
  /// The callback for the completed TLS handshake.
  package var onSecured: ((TLSConnection) -> Void)?
  /// The callback for NSS key log lines, which decrypt the connection.
  package var onKeyLog: ((String) -> Void)?
  private let stream: any ByteStream
  private let tls: TLSConnection?
  private let now: () -> Instant
  private var framer = TURNStreamFramer()
  private var isSecured = false
  /// Whether a record was dropped. All later ones must then be dropped too: a real network never removes a record from
  /// within a connection.
  private var isSwallowed = false

  /// - Parameter now: the time given to libssl.
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

  /// Sends a whole message, or nothing if there is no room for it (``TURNStreamRoom``). A message is dropped before
  /// encryption, because TLS numbers its records (RFC 8446 section 5.3). A rule that drops packets sees a message as it
  /// sees a datagram; with TLS it sees records.
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

  /// The limit of unsent bytes including TLS's own. A peer that provokes responses and reads nothing would otherwise
  /// let the queue grow without bound.
  private static let limit = TURNStreamRoom.limit + 32_768

  /// Ends the connection once everything is sent. No callback follows, not even for data that has already arrived.
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

  /// Ends the connection with an RST. No callback follows.
  package func abort() {
    fallSilent()
    stream.abort()
  }

  private func transportEnded() {
    tls?.transportEnded()
    // A failure of TLS is meaningful only if the server was reached.
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

  /// Ends the stream after TLS has sent its closing alert.
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
