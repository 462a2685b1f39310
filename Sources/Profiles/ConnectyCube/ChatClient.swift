internal import CallCore
internal import Digests
internal import VirtualPeer
internal import Vocabulary

/// The app's connection to the chat server: XMPP over WebSocket (RFC 7395), with SASL PLAIN and a bound resource. It
/// reconnects by itself; what is sent meanwhile is lost.
final class ChatClient {
  enum State: String { case disconnected, connecting, connected }

  /// The time from a loss to the next attempt.
  static let reconnectDelay = Interval.seconds(5)
  /// The time between two pings, and the longest wait for an answer.
  static let pingInterval = Interval.seconds(30)
  static let pingTimeout = Interval.seconds(15)

  var onStanza: ((XMLElement) -> Void)?
  var onState: ((State) -> Void)?
  var onMalformed: (() -> Void)?
  private(set) var state = State.disconnected {
    didSet { if state != oldValue { onState?(state) } }
  }

  private let environment: PeerEnvironment
  private var channel: WebSocketChannel?
  private var connectionCount = 0
  private var pingCount = 0
  private var isAuthenticated = false
  /// The next ping, or the end of the wait for its answer.
  private var liveness: PeerTimer? { didSet { oldValue?.cancel() } }
  private var retry: PeerTimer? { didSet { oldValue?.cancel() } }

  init(environment: PeerEnvironment) { self.environment = environment }

  func connect() {
    retry = nil
    connectionCount += 1
    isAuthenticated = false
    state = .connecting
    let server = environment.endpoint(of: ConnectyCubeApp.chatServer)
    let channel = WebSocketChannel(
      stream: environment.network.connect(to: server),
      socket: WebSocket(
        .client, host: XMPP.domain, path: "/ws", subprotocol: XMPP.subprotocol,
        random: environment.random.stream("chat/\(connectionCount)")))
    self.channel = channel
    channel.onOpen = { [weak self] _ in self?.openStream() }
    channel.onText = { [weak self] text in self?.received(text) }
    channel.onClose = { [weak self] in self?.lost() }
    // The server must answer within the same time from the first packet on.
    liveness = environment.clock.schedule(after: Self.pingTimeout) { [weak self] in self?.drop() }
  }

  /// Sends a stanza.
  ///
  /// - Returns: false if there is no connection and the stanza is lost.
  @discardableResult
  func send(_ stanza: XMLElement) -> Bool {
    guard state == .connected, let channel else { return false }
    channel.send(stanza.description)
    return true
  }

  /// Handles a change of the interfaces: a connection from a removed address is dead, and the OS reports it.
  func networkChanged() {
    guard let channel else {
      if retry != nil { connect() }
      return
    }
    guard !channel.isLocalAddressAlive else { return }
    abandon(channel)
    state = .disconnected
    connect()
  }

  func shutDown() {
    (retry, liveness, onState) = (nil, nil, nil)
    channel?.onClose = nil
    closeStream()
    channel = nil
  }

  /// Closes the stream, or answers that the server closed it, then closes the connection (RFC 7395 section 3.6).
  private func closeStream() {
    write(XMLElement("close", XMPP.framing))
    channel?.close()
  }

  private func abandon(_ channel: WebSocketChannel) {
    (channel.onOpen, channel.onText, channel.onClose) = (nil, nil, nil)
    channel.abort()
    self.channel = nil
  }

  private func drop() {
    if let channel { abandon(channel) }
    lost()
  }

  private func lost() {
    channel = nil
    liveness = nil
    state = .disconnected
    retry = environment.clock.schedule(after: Self.reconnectDelay) { [weak self] in self?.connect() }
  }

  // MARK: Setting up

  private func write(_ element: XMLElement) { channel?.send(element.description) }

  private func openStream() { write(XMPP.open([.init(name: "to", value: XMPP.domain)])) }

  private func received(_ text: String) {
    guard let element = try? XMLElement(parsing: text) else {
      onMalformed?()
      return
    }
    switch (element.name, element.namespace) {
    case ("features", XMPP.streams): negotiate(element)
    case ("success", XMPP.sasl) where !isAuthenticated:
      isAuthenticated = true
      openStream()
    case ("failure", XMPP.sasl), ("error", XMPP.streams), ("close", XMPP.framing): closeStream()
    case ("open", XMPP.framing), ("presence", XMPP.stanzas): break
    case ("iq", XMPP.stanzas): answered(element)
    case ("message", XMPP.stanzas) where state == .connected: onStanza?(element)
    default: onMalformed?()
    }
  }

  private func negotiate(_ features: XMLElement) {
    if features.first("mechanisms", XMPP.sasl) != nil, !isAuthenticated {
      let secret = "\0\(environment.userID)\0password"
      var auth = XMLElement("auth", XMPP.sasl, text: Base64.encode(Array(secret.utf8)))
      auth.attributes = [.init(name: "mechanism", value: "PLAIN")]
      write(auth)
    } else if features.first("bind", XMPP.bind) != nil, isAuthenticated {
      let resource = XMLElement("resource", XMPP.bind, text: "ios")
      write(XMPP.iq("set", id: "bind", [XMLElement("bind", XMPP.bind, [], [resource])]))
    }
  }

  private func answered(_ iq: XMLElement) {
    switch (iq["id"], iq["type"]) {
    // RFC 6120 section 8.2.3: every query has an answer.
    case (.some, "get") where iq.first("ping", XMPP.ping) != nil: write(XMPP.result(of: iq))
    case (.some, "get"), (.some, "set"):
      write(XMPP.error("service-unavailable", type: "cancel", answering: iq))
    case ("bind", "result") where state == .connecting && isAuthenticated:
      write(XMLElement("presence", XMPP.stanzas))
      state = .connected
      scheduleNextPing()
    case ("bind", "error"): closeStream()
    case ("ping-\(pingCount)", "result"), ("ping-\(pingCount)", "error"): scheduleNextPing()
    default: break
    }
  }

  private func scheduleNextPing() {
    liveness = environment.clock.schedule(after: Self.pingInterval) { [weak self] in self?.ping() }
  }

  private func ping() {
    pingCount += 1
    write(XMPP.iq("get", id: "ping-\(pingCount)", [XMLElement("ping", XMPP.ping)]))
    liveness = environment.clock.schedule(after: Self.pingTimeout) { [weak self] in self?.drop() }
  }
}
