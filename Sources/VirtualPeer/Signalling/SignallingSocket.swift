/// The server's end of one client's WebSocket. What scenarios do to signalling happens within it, unseen by the server.
public final class SignallingSocket {
  public var onOpen: ((_ path: String) -> Void)?
  public var onText: ((String) -> Void)?
  /// Called once, however the connection ended; not when this end dropped it.
  public var onClose: (() -> Void)?
  /// Whose device it is: the server sets it once it knows, and faults that name users go by it.
  public var user: String?

  let number: Int
  private let channel: WebSocketChannel
  private unowned let tap: SignallingTap
  private var isOver = false

  init(_ channel: WebSocketChannel, number: Int, tap: SignallingTap) {
    self.channel = channel
    self.number = number
    self.tap = tap
    channel.onOpen = { [unowned self] in if !self.tap.swallowsUpgrade(on: self) { onOpen?($0) } }
    channel.onText = { [unowned self] in self.tap.received($0, on: self) }
    channel.onClose = { [unowned self] in closed() }
  }

  public func send(_ text: String) { tap.send(text, on: self) }

  /// Closes politely: the closing handshake, then the stream.
  public func close() { channel.close() }

  /// Drops the connection at once.
  public func drop() {
    onClose = nil
    abort()
  }

  /// The network or a scenario ends the connection; the server is told.
  func abort() { channel.abort() }

  func deliver(_ text: String) { if !isOver { onText?(text) } }

  func sendNow(_ text: String) { if !isOver { channel.send(text) } }

  func setSilenced(_ isSilenced: Bool) {
    channel.isSilenced = isSilenced
    if isOver, !isSilenced { tap.forget(self) }
  }

  private func closed() {
    isOver = true
    let report = onClose
    (onOpen, onText, onClose) = (nil, nil, nil)
    report?()
    // Within a black hole the other end must not learn of it before the hole closes.
    if !channel.isSilenced { tap.forget(self) }
  }
}
