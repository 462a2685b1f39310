/// The server's end of one client's connection: a WebSocket, or a session of Engine.IO. The faults of a scenario act within it, invisible to the server.
public final class SignallingSocket {
  /// Called when the client's upgrade has succeeded.
  public var onOpen: ((_ path: String) -> Void)?
  /// Called for each text message from the client.
  public var onText: ((String) -> Void)?
  /// Called once, however the connection ended, unless this end dropped it.
  public var onClose: (() -> Void)?
  /// The client's user. The server sets it when it is known; faults that name users use it.
  public var user: String? { didSet { tap.onConnectionsChanged?() } }

  /// The id of an Engine.IO session; nil for a plain WebSocket.
  public var sessionID: String? { (channel as? EngineIOSession)?.id }
  /// Whether the client is reached by HTTP long-polling, and not by WebSocket.
  public var isPolling: Bool { (channel as? EngineIOSession)?.isPolling ?? false }

  let number: Int
  private let channel: any SignallingChannel
  private unowned let tap: SignallingTap

  init(_ channel: any SignallingChannel, number: Int, tap: SignallingTap) {
    self.channel = channel
    self.number = number
    self.tap = tap
    channel.onOpen = { [unowned self] in if !self.tap.swallowsUpgrade(on: self) { onOpen?($0) } }
    channel.onText = { [unowned self] in self.tap.received($0, on: self) }
    channel.onClose = { [unowned self] in closed() }
    channel.onHiddenClosing = { [unowned tap] in tap.faults.hidden("closing") }
    (channel as? EngineIOSession)?.onReply = { [unowned self] in self.tap.send($0, on: self) }
  }

  /// Sends a text message to the client.
  public func send(_ text: String) { tap.send(text, on: self) }

  /// Performs the closing handshake, then closes the stream.
  public func close() { channel.close() }

  /// Drops the connection immediately.
  public func drop() {
    onClose = nil
    abort()
  }

  func releaseReceivers() { (onOpen, onText, onClose) = (nil, nil, nil) }

  /// Ends the connection because of the network or a scenario, and informs the server.
  func abort() { channel.abort() }

  /// - Returns: whether the server took it.
  func deliver(_ text: String) -> Bool {
    guard !isOver, let onText else { return false }
    if !channel.takes(text) { onText(text) }
    return true
  }

  /// Whether the connection has ended.
  private(set) var isOver = false

  /// - Returns: the identity of the frame; nil if the connection is over or silenced.
  func sendNow(_ text: String) -> UInt64? { isOver ? nil : channel.sendFrame(text) }

  func setSilenced(_ isSilenced: Bool) {
    channel.isSilenced = isSilenced
    if isOver, !isSilenced { tap.forget(self) }
  }

  private func closed() {
    isOver = true
    tap.onConnectionsChanged?()
    let report = onClose
    (onOpen, onText, onClose) = (nil, nil, nil)
    report?()
    // While a black hole is open, the other end must not learn of the closing.
    if !channel.isSilenced { tap.forget(self) }
  }
}
