public import CallCore

/// A ``WebSocket`` on a stream of the simulated network: text messages in and out, until it closes.
public final class WebSocketChannel {
  public var onOpen: ((_ path: String) -> Void)?
  public var onText: ((String) -> Void)?
  /// Called once, however the connection ended.
  public var onClose: (() -> Void)?

  private let stream: PeerStream
  private var socket: WebSocket
  private var isClosed = false
  /// This end closed while it was silenced.
  private var isAbandoned = false
  /// The stream or the other end closed while this end was silenced.
  private var isCutOff = false

  /// While true nothing leaves, and neither end notices when the other closes. What arrives is the owner's to ignore.
  package var isSilenced = false {
    didSet { if oldValue, !isSilenced { endSilence() } }
  }

  public init(stream: PeerStream, socket: consuming WebSocket) {
    self.stream = stream
    self.socket = socket
    stream.onEvent = { [weak self] event in self?.handle(event) }
  }

  public var remote: Endpoint { stream.remote }

  /// Whether the device still has the address this connection was made from.
  public var isLocalAddressAlive: Bool { stream.isLocalAddressAlive }

  public func send(_ text: String) {
    guard !isSilenced else { return }
    socket.send(text: text)
    flush()
  }

  /// Closes politely: the closing handshake, then the stream.
  public func close() {
    socket.close()
    flush()
    if isSilenced { isAbandoned = true } else { stream.close() }
    finish()
  }

  /// Drops the stream at once.
  public func abort() {
    if isSilenced { isAbandoned = true } else { stream.abort() }
    finish()
  }

  private func endSilence() {
    if isAbandoned { stream.abort() } else if isCutOff { end() }
  }

  private func end() {
    if isSilenced {
      isCutOff = true
    } else {
      stream.close()
      finish()
    }
  }

  private func handle(_ event: PeerStream.Event) {
    switch event {
    case .connected: flush()
    case .received(let bytes):
      socket.receive(bytes)
      flush()
      drain()
    case .closed: end()
    }
  }

  private func drain() {
    while let event = socket.nextEvent() {
      switch event {
      case .opened(let path): onOpen?(path)
      case .text(let text): onText?(text)
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
