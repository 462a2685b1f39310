internal import CallCore
internal import Formats
public import VirtualPeer
public import Vocabulary

/// The Knotos signalling server: Socket.IO by HTTP long-polling and WebSocket, routing events between users.
///
/// A user is bound to the newest connection. Events without an addressee are routed by their call.
public final class KnotosServer: CallServer {
  private final class Client {
    let socket: SignallingSocket
    /// The user, once connected.
    var user: String? {
      get { socket.user }
      set { socket.user = newValue }
    }
    var pingTimer: PeerTimer?
    var pongTimer: PeerTimer?
    var connectTimer: PeerTimer?

    init(socket: SignallingSocket) { self.socket = socket }

    func stopTimers() {
      pingTimer?.cancel()
      pongTimer?.cancel()
      connectTimer?.cancel()
    }
  }

  static let path = "/socket.io/"
  static let maxPayload = 1_000_000
  static let pingInterval = Interval.seconds(25)
  static let pingTimeout = Interval.seconds(20)
  /// The time within which a client must send a Socket.IO CONNECT, or it is closed.
  static let connectTimeout = Interval.seconds(45)

  private let environment: ServerEnvironment
  private var clients: [Client] = []
  private var calls: [String: (caller: String, callee: String)] = [:]
  private var currentCall: [String: String] = [:]
  /// The users that have ever connected. Messages for other users wait until their phones start; messages for
  /// disconnected known users are lost, as in the product.
  private var knownUsers: Set<String> = []
  private var waiting: [SignallingMessage] = []
  private static let waitingLimit = 1_000

  /// Creates the server; it does nothing before ``start()``.
  public init(environment: ServerEnvironment) { self.environment = environment }

  public static func frame(of text: String) -> SignallingFrame {
    guard let frame = EngineIOPacket(parsing: text) else { return .transport("malformed") }
    guard frame.kind == .message else {
      return .transport([.ping, .pong].contains(frame.kind) && frame.payload == "probe" ? "probe" : "\(frame.kind)")
    }
    guard let packet = try? SocketIOPacket(parsing: frame.payload) else { return .transport("malformed") }
    switch packet {
    case .connect(let body): return .transport("connect", sender: body?["userId"]?.string)
    case .disconnect: return .transport("disconnect")
    case .event(let name, let arguments, _):
      guard case .object(let members)? = arguments.first else { return .message(MessageContent(name)) }
      return .message(MessageContent(name, members))
    case .acknowledgement: return .transport("acknowledgement")
    case .connectError: return .transport("connect-error")
    }
  }

  public static func text(of message: MessageContent, in frame: String?) -> String {
    var rest: [JSON] = []
    var acknowledgement: Int?
    if let packet = frame.flatMap({ EngineIOPacket(parsing: $0) }),
      case .event(_, let arguments, let id)? = try? SocketIOPacket(parsing: packet.payload)
    {
      (rest, acknowledgement) = (Array(arguments.dropFirst()), id)
    }
    let packet = SocketIOPacket.event(
      name: message.type, arguments: [.object(message.fields)] + rest, acknowledgement: acknowledgement)
    return EngineIOPacket(.message, packet.text).text
  }

  public func start() {
    environment.listenEngineIO(path: Self.path, maxPayload: Self.maxPayload) { [weak self] socket in
      self?.accept(socket)
    }
  }

  public func inject(_ message: MessageContent, from: String, to: String) {
    deliver(SignallingMessage(type: message.type, from: from, to: to, text: Self.text(of: message, in: nil)))
  }

  public func shutDown() {
    for client in clients { drop(client) }
  }

  private func accept(_ socket: SignallingSocket) {
    let client = Client(socket: socket)
    clients.append(client)
    startConnectTimer(client)
    socket.onOpen = { [weak self, weak client, unowned socket] _ in
      guard let self, let client else { return }
      let body: JSON = [
        "sid": .string(socket.sessionID ?? ""), "upgrades": socket.isPolling ? ["websocket"] : [],
        "pingInterval": .integer(Self.pingInterval.milliseconds),
        "pingTimeout": .integer(Self.pingTimeout.milliseconds), "maxPayload": .integer(Int64(Self.maxPayload)),
      ]
      client.socket.send(EngineIOPacket(.open, body.description).text)
      schedulePing(client)
      startConnectTimer(client)
    }
    socket.onText = { [weak self, weak client] text in
      if let client { self?.received(text, from: client) }
    }
    socket.onClose = { [weak self, weak client] in
      if let client { self?.forget(client) }
    }
  }

  private func forget(_ client: Client) {
    client.stopTimers()
    clients.removeAll { $0 === client }
  }

  private func drop(_ client: Client) {
    client.socket.drop()
    forget(client)
  }

  private func startConnectTimer(_ client: Client) {
    client.connectTimer?.cancel()
    client.connectTimer = environment.clock.schedule(after: Self.connectTimeout) { [weak self, weak client] in
      if let client { self?.drop(client) }
    }
  }

  private func schedulePing(_ client: Client) {
    client.pingTimer?.cancel()
    client.pingTimer = environment.clock.schedule(after: Self.pingInterval) { [weak self, weak client] in
      guard let self, let client else { return }
      client.socket.send(EngineIOPacket(.ping).text)
      client.pongTimer = environment.clock.schedule(after: Self.pingTimeout) { [weak self, weak client] in
        if let client { self?.drop(client) }
      }
    }
  }

  // MARK: Receiving

  private func received(_ text: String, from client: Client) {
    guard let packet = EngineIOPacket(parsing: text) else { return environment.malformed("engine.io packet") }
    switch packet.kind {
    case .pong:
      client.pongTimer?.cancel()
      schedulePing(client)
    case .ping: client.socket.send(EngineIOPacket(.pong, packet.payload).text)
    case .close: drop(client)
    case .message: handle(packet.payload, from: client)
    case .open, .upgrade, .noop: break
    }
  }

  private func handle(_ payload: String, from client: Client) {
    do {
      switch try SocketIOPacket(parsing: payload) {
      case .connect(let body): connect(client, body)
      case .event(let name, let arguments, let id):
        if let id { send(.acknowledgement(id: id, arguments: []), to: client) }
        route(name, arguments, from: client)
      case .disconnect: drop(client)
      case .acknowledgement, .connectError: break
      }
    } catch {
      environment.malformed("socket.io packet")
    }
  }

  private func connect(_ client: Client, _ body: JSON?) {
    client.connectTimer?.cancel()
    guard let user = body?["userId"]?.string, !user.isEmpty else {
      return send(.connectError(["message": "userId is missing"]), to: client)
    }
    for other in clients where other.user == user && other !== client { drop(other) }
    client.user = user
    send(.connect(["sid": .string("u-\(user)")]), to: client)
    guard knownUsers.insert(user).inserted else { return }
    let forUser = waiting.filter { $0.to == user }
    waiting.removeAll { $0.to == user }
    for message in forUser { deliver(message) }
  }

  private func send(_ packet: SocketIOPacket, to client: Client) {
    client.socket.send(EngineIOPacket(.message, packet.text).text)
  }

  // MARK: Routing

  private func route(_ name: String, _ arguments: [JSON], from client: Client) {
    guard let sender = client.user else { return environment.malformed("event before connect") }
    guard
      var message = KnotosMessage(
        name: name, arguments: arguments, isFromServer: false, callIDIfMissing: currentCall[sender])
    else { return environment.malformed("event \(name)") }
    guard let recipient = recipient(of: message, from: sender) else { return environment.malformed("event of no call") }
    message.sender = sender
    let text = EngineIOPacket(.message, message.packet.text).text
    deliver(SignallingMessage(type: name, from: sender, to: recipient, text: text))
  }

  private func recipient(of message: KnotosMessage, from sender: String) -> String? {
    if case .offer(_, let callee) = message.body, calls[message.callID] == nil {
      calls[message.callID] = (sender, callee)
      currentCall[sender] = message.callID
      if currentCall[callee] == nil { currentCall[callee] = message.callID }
    }
    guard let call = calls[message.callID] else { return nil }
    switch message.body {
    case .decline, .busy, .hangup:
      for user in [call.caller, call.callee] where currentCall[user] == message.callID { currentCall[user] = nil }
    case .offer, .answer, .candidate: break
    }
    if sender == call.caller { return call.callee }
    return sender == call.callee ? call.caller : nil
  }

  private func deliver(_ message: SignallingMessage) {
    if let client = clients.last(where: { $0.user == message.to }) {
      client.socket.send(message.text)
    } else if let user = message.to, !knownUsers.contains(user), waiting.count < Self.waitingLimit {
      waiting.append(message)
    } else {
      environment.undeliverable(message)
    }
  }
}
