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

  public init(stream: PeerStream, socket: consuming WebSocket) {
    self.stream = stream
    self.socket = socket
    stream.onEvent = { [weak self] event in self?.handle(event) }
  }

  public var remote: Endpoint { stream.remote }

  /// Whether the device still has the address this connection was made from.
  public var isLocalAddressAlive: Bool { stream.isLocalAddressAlive }

  public func send(_ text: String) {
    socket.send(text: text)
    flush()
  }

  /// Closes politely: the closing handshake, then the stream.
  public func close() {
    socket.close()
    flush()
    stream.close()
    finish()
  }

  /// Drops the stream at once.
  public func abort() {
    stream.abort()
    finish()
  }

  private func handle(_ event: PeerStream.Event) {
    switch event {
    case .connected: flush()
    case .received(let bytes):
      socket.receive(bytes)
      flush()
      drain()
    case .closed: finish()
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
        stream.close()
        finish()
      }
    }
  }

  private func flush() {
    let bytes = socket.takeOutput()
    if !bytes.isEmpty { stream.send(bytes) }
  }

  private func finish() {
    guard !isClosed else { return }
    isClosed = true
    onClose?()
  }
}
