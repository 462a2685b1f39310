internal import CallCore
package import DTLS
internal import TURN

/// A connection between a TURN client and its server: whole messages on a stream of the simulated network, in TLS or in
/// clear.
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
  var onMessage: ((RawSpan) -> Void)?
  var onEnd: ((End) -> Void)?
  /// Told when this side has first said something in TLS that is no refusal: as a server, with its certificate.
  var onAnswered: (() -> Void)?
  /// Told when TLS's handshake is done.
  var onSecured: ((TLSConnection) -> Void)?
  /// Gets what decrypts the connection.
  var onKeyLog: ((String) -> Void)?
  private let stream: PeerStream
  private let tls: TLSConnection?
  private let clock: PeerClock
  private var framer = TURNStreamFramer()
  private var isConnected: Bool
  private var isSecured = false
  /// Whether a record was dropped: no network takes one out of a connection and lets the next through.
  private var isSwallowed = false

  /// - Parameter isConnected: whether the connection stands, as that of a listener does.
  init(_ stream: PeerStream, tls: TLSConnection? = nil, isConnected: Bool = false, clock: PeerClock) {
    self.stream = stream
    self.tls = tls
    self.isConnected = isConnected
    self.clock = clock
    stream.onEvent = { [weak self] event in self?.handle(event) }
  }

  /// Sends a message whole, or not at all when there is no room for it (``TURNStreamRoom``). A packet rule of the scenario
  /// sees the message as it sees a datagram; in TLS it sees records.
  ///
  /// - Returns: whether there was room.
  @discardableResult
  func send(_ message: RawSpan) -> Bool {
    let waiting = stream.queuedByteCount + (tls?.waitingByteCount ?? 0)
    guard TURNStreamRoom.holds(message, behind: waiting) else { return false }
    guard let tls else {
      stream.send(message: message)
      return true
    }
    tls.send(message, at: clock.now)
    flush(tls)
    return true
  }

  /// Ends the connection once everything is sent. Nothing is reported any more.
  func close() {
    if let tls {
      tls.close(at: clock.now)
      flush(tls)
    }
    fallSilent()
    stream.close()
  }

  /// Ends the connection with an RST. Nothing is reported any more.
  func abort() {
    fallSilent()
    stream.abort()
  }

  private func fallSilent() {
    onMessage = nil
    onEnd = nil
    onAnswered = nil
    onSecured = nil
    onKeyLog = nil
    stream.onEvent = nil
  }

  private func handle(_ event: PeerStream.Event) {
    switch event {
    case .connected:
      isConnected = true
      if let tls { flush(tls) }
    case .received(let bytes):
      guard let tls else { return take(bytes) }
      take(bytes, in: tls)
    case .closed:
      tls?.transportEnded()
      let report = onEnd
      fallSilent()
      if isConnected, case .failed(let failure) = tls?.state { report?(.failed(failure)) } else { report?(.closed) }
    }
  }

  private func take(_ bytes: [UInt8]) {
    guard !framer.receive(bytes.span.bytes, message: { onMessage?($0) }) else { return }
    let report = onEnd
    abort()
    report?(.malformed)
  }

  // MARK: TLS

  private func take(_ bytes: [UInt8], in tls: TLSConnection) {
    let plain = tls.receive(bytes.span.bytes, at: clock.now)
    flush(tls)
    if !isSecured, tls.state == .established || !plain.isEmpty {
      isSecured = true
      onSecured?(tls)
    }
    if !plain.isEmpty { take(plain) }
    switch tls.state {
    case .handshaking, .established: break
    case .closed: end(.closed)
    case .failed(let failure): end(.failed(failure))
    }
  }

  /// TLS is over, and has said so to the other side.
  private func end(_ end: End) {
    let report = onEnd
    fallSilent()
    stream.close()
    report?(end)
  }

  private func flush(_ tls: TLSConnection) {
    for line in tls.takeKeyLog() { onKeyLog?(line) }
    guard isConnected else { return }
    let output = tls.takeOutput()
    if !output.isEmpty, tls.state == .handshaking {
      onAnswered?()
      onAnswered = nil
    }
    for record in output where !isSwallowed { isSwallowed = !stream.send(message: record.span.bytes) }
  }
}
