internal import CallCore
internal import VirtualPeer
internal import Vocabulary

/// One WebSocket of the app to the session server, with keepalives both ways.
final class VonageLink {
  /// How far a link came before it ended.
  enum Progress {
    /// The device has no route to the server.
    case noRoute
    /// No answer of TCP, or a refusal.
    case unopened
    /// TCP is connected, the WebSocket is not.
    case connected
    case open
  }

  /// The time between two keepalives, without a message after which a link is lost, and for opening one: harness
  /// defaults.
  static let (keepalive, lossLimit, openTimeout) = (Interval.seconds(3), Interval.seconds(10), Interval.seconds(10))

  /// Called when messages may be sent.
  var onOpen: (() -> Void)?
  var onMessage: ((MessageContent) -> Void)?
  /// Called once, unless this side closes the link.
  var onEnd: ((Progress) -> Void)?
  /// Called when a keepalive is to be sent.
  var onKeepalive: (() -> Void)?

  private let environment: PeerEnvironment
  private let channel: WebSocketChannel
  private var progress = Progress.unopened
  private var isOver = false
  private var opening: PeerTimer?
  private var tick: PeerTimer?
  private(set) var lastReceived: Instant
  private var trace: PeerTrace { environment.trace }

  init(_ environment: PeerEnvironment, number: Int) {
    self.environment = environment
    lastReceived = environment.clock.now
    let server = environment.endpoint(of: "session")
    let stream = environment.network.connect(to: server)
    channel = WebSocketChannel(
      stream: stream,
      socket: WebSocket(
        .client, host: "\(server)", path: "/session/\(PathSegment.encode(environment.userID))",
        random: environment.random.stream("link/\(number)")))
    if !channel.isLocalAddressAlive { progress = .noRoute }
    let handle = stream.onEvent
    stream.onEvent = { [weak self] event in
      if case .connected = event { self?.progress = .connected }
      handle?(event)
    }
    channel.onOpen = { [weak self] _ in self?.opened() }
    channel.onText = { [weak self] in self?.received($0) }
    channel.onClose = { [weak self] in self?.end() }
    opening = environment.clock.schedule(after: Self.openTimeout) { [weak self] in self?.drop() }
  }

  /// Whether messages can be sent.
  var isOpen: Bool { progress == .open && !isOver }

  /// Whether the device still has the address of the socket.
  var isLocalAddressAlive: Bool { channel.isLocalAddressAlive }

  private func opened() {
    opening?.cancel()
    progress = .open
    lastReceived = environment.clock.now
    scheduleTick()
    onOpen?()
  }

  func send(_ type: String, _ fields: [(String, JSON?)] = []) {
    trace.signalSent(type: type, to: "server", isLost: isOver)
    channel.send(VonageWire.text(MessageContent(type, JSON.members(fields))))
  }

  private func received(_ text: String) {
    lastReceived = environment.clock.now
    guard let message = VonageWire.message(text) else {
      return trace.event(PeerEvents.messageRejected.name, "reason", "no message")
    }
    trace.signalReceived(type: message.type, from: "server")
    if message.type != "keepalive" { onMessage?(message) }
  }

  private func scheduleTick() {
    tick = environment.clock.schedule(after: Self.keepalive) { [weak self] in self?.ticked() }
  }

  private func ticked() {
    // After a suspension this comes late, and finds that the link was not looked after.
    guard environment.clock.now - lastReceived < Self.lossLimit else { return drop() }
    onKeepalive?()
    if !isOver { scheduleTick() }
  }

  // MARK: The end

  /// Closes the link in order.
  func close() {
    (onEnd, onMessage) = (nil, nil)
    channel.onClose = nil
    channel.close()
    end()
  }

  /// Drops the link, as lost.
  func drop() {
    channel.onClose = nil
    channel.abort()
    end()
  }

  private func end() {
    guard !isOver else { return }
    isOver = true
    opening?.cancel()
    tick?.cancel()
    let report = onEnd
    (onOpen, onMessage, onEnd, onKeepalive) = (nil, nil, nil, nil)
    report?(progress)
  }
}
