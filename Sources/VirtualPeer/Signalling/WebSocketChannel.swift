public import CallCore

/// A ``WebSocket`` on a stream of the simulated network: text messages in both directions until it closes.
public final class WebSocketChannel: SignallingChannel {
  /// Called when the upgrade has succeeded.
  public var onOpen: ((_ path: String) -> Void)?
  /// Called for each text message.
  public var onText: ((String) -> Void)?
  /// Called once, however the connection ended.
  public var onClose: (() -> Void)?
  /// Called when one end closes and the silence keeps it from the other.
  var onHiddenClosing: (() -> Void)?

  private let stream: PeerStream
  private var socket: WebSocket
  /// Whether the trace gets the arrival of each frame. A session over several connections counts its frames itself.
  var tracesArrivals = true
  /// The numbers of text messages so far.
  private var textCounts: (sent: Int, received: Int) = (0, 0)
  private var isClosed = false
  /// Whether this end closed while it was silenced.
  private var isAbandoned = false
  /// Whether the stream or the other end closed while this end was silenced.
  private var isCutOff = false

  /// Whether nothing leaves, and neither end notices the closing of the other. The owner must ignore what arrives.
  package var isSilenced = false {
    didSet { if oldValue, !isSilenced { endSilence() } }
  }

  /// Creates a channel on a stream, and takes the stream's events.
  public init(stream: PeerStream, socket: consuming WebSocket) {
    self.stream = stream
    self.socket = socket
    stream.onEvent = { [weak self] event in self?.handle(event) }
  }

  /// The remote endpoint.
  public var remote: Endpoint { stream.remote }

  /// The reason why TLS failed; nil if it did not.
  public var tlsFailure: String? { stream.tlsFailure }

  /// Whether the device still has the local address of this connection.
  public var isLocalAddressAlive: Bool { stream.isLocalAddressAlive }

  /// Sends a text message.
  public func send(_ text: String) { _ = sendFrame(text) }

  /// Sends a text message.
  ///
  /// - Returns: the identity of its frame, which the other end finds too; nil if it was not sent.
  func sendFrame(_ text: String) -> UInt64? {
    guard !isSilenced, socket.isOpen else { return nil }
    textCounts.sent += 1
    socket.send(text: text)
    flush()
    return identity(ofFrame: textCounts.sent)
  }

  /// Writes that a frame has arrived.
  func traceArrival(ofFrame frame: UInt64) { stream.traceArrival(ofFrame: frame) }

  /// Both ends of a connection know the key of its upgrade, and number the frames of a direction alike.
  private func identity(ofFrame number: Int) -> UInt64 { FNV1a.hash(of: "\(socket.key) \(number)") }

  /// Performs the closing handshake, then closes the stream.
  public func close() {
    socket.close()
    flush()
    if isSilenced { abandon() } else { stream.close() }
    finish()
  }

  /// Drops the stream immediately.
  public func abort() {
    if isSilenced { abandon() } else { stream.abort() }
    finish()
  }

  private func abandon() {
    isAbandoned = true
    onHiddenClosing?()
  }

  private func endSilence() {
    if isAbandoned { stream.abort() } else if isCutOff { end() }
  }

  private func end() {
    if isSilenced {
      isCutOff = true
      onHiddenClosing?()
    } else {
      stream.close()
      finish()
    }
  }

  private func handle(_ event: PeerStream.Event) {
    switch event {
    case .connected: flush()
    case .received(let bytes): receive(bytes)
    case .closed: end()
    }
  }

  /// Receives bytes that came before the channel took the stream.
  func receive(_ bytes: [UInt8]) {
    socket.receive(bytes)
    flush()
    drain()
  }

  private func drain() {
    // The owner may close the connection in the middle of what has arrived, and be gone.
    while !isClosed, let event = socket.nextEvent() {
      switch event {
      case .opened(let path): onOpen?(path)
      case .text(let text):
        textCounts.received += 1
        if tracesArrivals { stream.traceArrival(ofFrame: identity(ofFrame: textCounts.received)) }
        onText?(text)
      case .binary: break
      case .closed, .failed:
        flush()
        end()
      }
    }
  }

  private func flush() {
    let bytes = socket.takeOutput()
    if !bytes.isEmpty, !isSilenced { stream.send(bytes) }
  }

  private func finish() {
    guard !isClosed else { return }
    isClosed = true
    onClose?()
  }
}
