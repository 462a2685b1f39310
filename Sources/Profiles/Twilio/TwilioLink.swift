internal import CallCore
internal import VirtualPeer
internal import Vocabulary

/// One WebSocket of the app with the link protocol on it: hello and welcome, heartbeats both ways, busy, bye.
final class TwilioLink {
  /// The state, by the link protocol's names.
  enum State: String, CaseIterable { case early, connecting, waiting, open, closed }

  /// The reason for the end of a link, by the private close codes.
  enum End: String, CaseIterable {
    case welcomeTimeout = "3000"
    case heartbeatsMissed = "3001"
    case helloFailed = "3002"
    case networkChanged = "3004"
    case busyWait = "3005"
    case serverBusy = "3006"
    case openTimeout = "3007"
    /// The server or the network closed it.
    case remote
    /// This side closed it.
    case local
  }

  /// The longest wait that a busy server may ask for, in ms: a year, which no run lasts.
  private static let longestWait: Int64 = 31_536_000_000
  /// The time for the WebSocket to open.
  private static let openTimeout = Interval.seconds(15)
  /// The time for the answer to a hello, and the number of hellos.
  private static let (welcomeTimeout, helloLimit) = (Interval.seconds(5), 3)
  /// The heartbeat that is asked for, the number of them that may be missed, and how much earlier own ones leave.
  private static let (heartbeat, missedLimit, heartbeatLead) = (
    Interval.seconds(5), Int64(3), Interval.milliseconds(200)
  )

  /// Called when a body may be sent.
  var onOpen: (() -> Void)?
  var onBody: ((MessageContent) -> Void)?
  /// Called when something comes over an open link that cannot be read.
  var onUnreadable: (() -> Void)?
  /// Called once; with the time after which the server wants to be asked again, when it is busy.
  var onEnd: ((End, _ retryAfter: Interval?) -> Void)?
  private(set) var state = State.early {
    didSet { if state != oldValue { trace.set("signalling.state", state.rawValue) } }
  }

  private let environment: PeerEnvironment
  private let channel: WebSocketChannel
  private let id: String
  private var hellos = 0
  private var cookie: String?
  /// The heartbeat that the server has chosen.
  private var negotiated = TwilioLink.heartbeat
  private var timer: PeerTimer?
  private var sending: PeerTimer?
  private var trace: PeerTrace { environment.trace }

  init(_ environment: PeerEnvironment, number: Int) {
    self.environment = environment
    id = "\(environment.userID)-\(number)"
    let server = environment.endpoint(of: "room")
    channel = WebSocketChannel(
      stream: environment.network.connect(to: server),
      socket: WebSocket(
        .client, host: "\(server)", path: "/signaling/\(PathSegment.encode(environment.userID))",
        random: environment.random.stream("link/\(number)")))
    channel.onOpen = { [weak self] _ in self?.sendHello() }
    channel.onText = { [weak self] in self?.received($0) }
    channel.onClose = { [weak self] in self?.end(.remote) }
    state = .connecting
    start(Self.openTimeout) { $0.end(.openTimeout) }
  }

  /// Whether the device still has the address of the socket.
  var isLocalAddressAlive: Bool { channel.isLocalAddressAlive }

  private func start(_ interval: Interval, _ action: @escaping (TwilioLink) -> Void) {
    timer?.cancel()
    timer = environment.clock.schedule(after: interval) { [weak self] in if let self { action(self) } }
  }

  // MARK: Sending

  private func sendHello() {
    hellos += 1
    send(
      MessageContent(
        "hello",
        JSON.members([
          ("id", .string(id)), ("version", 2), ("timeout", .integer(Self.heartbeat.milliseconds)),
          ("cookie", cookie.map(JSON.string)),
        ])))
    start(Self.welcomeTimeout) { link in
      if link.hellos < Self.helloLimit { link.sendHello() } else { link.end(.welcomeTimeout) }
    }
  }

  /// Sends a frame or a body.
  func send(_ message: MessageContent) {
    trace.signalSent(type: message.type, to: "server", isLost: state == .closed)
    channel.send(TwilioWire.text(message))
    if state == .open { scheduleHeartbeat() }
  }

  /// A heartbeat leaves when nothing else has for nearly the negotiated time.
  private func scheduleHeartbeat() {
    sending?.cancel()
    sending = environment.clock.schedule(after: negotiated - Self.heartbeatLead) { [weak self] in
      self?.send(MessageContent("heartbeat"))
    }
  }

  // MARK: Receiving

  private func received(_ text: String) {
    guard let message = TwilioWire.message(text) else {
      trace.event(PeerEvents.messageRejected.name, "reason", "not a frame of the link")
      if state == .open { onUnreadable?() }
      return
    }
    trace.signalReceived(type: message.type, from: "server")
    switch (message.type, state) {
    case ("welcome", .connecting), ("welcome", .waiting):
      let chosen = message["negotiatedTimeout"]?.integer ?? 0
      negotiated = (1_000...60_000).contains(chosen) ? .milliseconds(chosen) : Self.heartbeat
      state = .open
      watch()
      scheduleHeartbeat()
      onOpen?()
    case ("busy", .connecting), ("busy", .waiting): wait(message)
    case ("bad", .connecting), ("bad", .waiting): end(.helloFailed)
    case ("heartbeat", .open): watch()
    case ("bye", _): end(.remote)
    case (_, .open) where !TwilioWire.frames.contains(message.type):
      watch()
      onBody?(message)
    default: trace.event(PeerEvents.messageRejected.name, "reason", "unexpected \(message.type)")
    }
  }

  private func watch() { start(negotiated * Self.missedLimit) { $0.end(.heartbeatsMissed) } }

  private func wait(_ busy: MessageContent) {
    hellos = 0
    cookie = busy["cookie"]?.string
    let retryAfter = busy["retryAfter"]?.integer ?? -1
    guard retryAfter >= 0 else { return end(.serverBusy) }
    let delay = Interval.milliseconds(min(retryAfter, Self.longestWait))
    guard busy["keepAlive"]?.flag ?? false else { return end(.busyWait, retryAfter: delay) }
    state = .waiting
    start(delay) { $0.sendHello() }
  }

  // MARK: The end

  /// Ends the link with a bye, as far as one can be sent.
  func close() {
    if state == .open { send(MessageContent("bye")) }
    onEnd = nil
    end(.local)
  }

  /// Drops the link whose local address is gone.
  func networkChanged() { end(.networkChanged) }

  private func end(_ reason: End, retryAfter: Interval? = nil) {
    guard state != .closed else { return }
    state = .closed
    trace.set("signalling.closed", reason.rawValue)
    timer?.cancel()
    sending?.cancel()
    channel.onClose = nil
    channel.onText = nil
    channel.onOpen = nil
    switch reason {
    case .local, .remote, .helloFailed, .serverBusy, .busyWait: channel.close()
    case .welcomeTimeout, .heartbeatsMissed, .networkChanged, .openTimeout: channel.abort()
    }
    let report = onEnd
    (onOpen, onBody, onUnreadable, onEnd) = (nil, nil, nil, nil)
    report?(reason, retryAfter)
  }
}
