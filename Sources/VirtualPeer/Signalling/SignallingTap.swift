internal import CallCore
internal import Vocabulary

/// The place where scenarios act on signalling: every frame of every connection of one server passes here, in both
/// directions, whether a WebSocket or HTTP carries it.
///
/// A server cannot bypass it, and only classifies its frames for it (``CallServer/frame(of:)``). A message that the
/// server passes on is met once, where it leaves for its receiver; a message for the server alone is met where it
/// arrives; what goes both ways without being passed on, such as a ping, is met in each direction.
final class SignallingTap {
  let faults: SignallingFaults
  private let codec: SignallingCodec
  private let trace: Trace
  private let subject: TraceSubject
  private let record: SignallingRecord
  /// The messages of puppets, which need no declaration.
  private var forged: Set<MessageContent> = []
  /// The raw messages that the server has not sent yet, each with the user it is for, in order.
  private var deliveries: [(content: MessageContent, user: String, delivery: RawDelivery)] = []
  private var sockets: [SignallingSocket] = []
  private var refused: [String] = []
  private var socketCount = 0
  /// The number of connections that were reset because their user is refused, by user.
  private(set) var refusalCounts: [String: Int] = [:]

  /// Called when the user of a connection becomes known, and when a connection ends.
  var onConnectionsChanged: (() -> Void)?

  init(faults: SignallingFaults, codec: SignallingCodec, trace: Trace, subject: String) {
    self.faults = faults
    self.codec = codec
    self.trace = trace
    self.subject = trace.subject(subject)
    record = SignallingRecord(codec: codec, trace: trace, subject: subject)
    faults.codec = codec
    faults.onSilence = { [unowned self] in setSilenced($0) }
  }

  /// Creates the server's end of a new WebSocket.
  func accept(_ stream: PeerStream, subprotocol: String?, random: RandomSource) -> SignallingSocket {
    accept(
      WebSocketChannel(
        stream: stream,
        socket: WebSocket(
          .server, subprotocol: subprotocol, random: random.stream("websocket/\(socketCount + 1)"))))
  }

  /// Creates the server's end of a new connection.
  func accept(_ channel: any SignallingChannel) -> SignallingSocket {
    socketCount += 1
    channel.isSilenced = faults.isSilent
    let socket = SignallingSocket(channel, number: socketCount, tap: self)
    sockets.append(socket)
    return socket
  }

  func forget(_ socket: SignallingSocket) { sockets.removeAll { $0 === socket } }

  /// Forgets all connections and who receives from them, who may hold what holds this.
  func releaseReceivers() {
    for socket in sockets { socket.releaseReceivers() }
    sockets = []
  }

  /// Resets the connections of a user, or of all users.
  func disconnect(user: String?) {
    for socket in sockets where user == nil || socket.user == user { socket.abort() }
  }

  func isConnected(user: String) -> Bool { sockets.contains { $0.user == user && !$0.isOver } }

  /// Refuses or admits a user. A refused user's connections are reset as soon as they identify the user.
  func setRefused(_ user: String, _ isRefused: Bool) {
    refused.removeAll { $0 == user }
    if isRefused { refused.append(user) }
  }

  private func setSilenced(_ isSilenced: Bool) {
    for socket in sockets { socket.setSilenced(isSilenced) }
  }

  // MARK: Frames

  /// Returns whether a black hole drops a client's upgrade.
  func swallowsUpgrade(on socket: SignallingSocket) -> Bool {
    if faults.isSilent { faults.hidden("upgrade") }
    return faults.isSilent
  }

  /// Handles a frame from a client.
  func received(_ text: String, on socket: SignallingSocket) {
    let message = codec.message(text, from: socket.user, to: nil)
    check(message, going: .clientToServer)
    if let sender = message.from, refused.contains(sender), !faults.isSilent {
      refusalCounts[sender, default: 0] += 1
      return socket.abort()
    }
    pass(message, on: socket, isToClient: false) { [weak socket] in socket?.deliver($0.text) ?? false }
  }

  /// Handles a frame from the server to a client.
  func send(_ text: String, on socket: SignallingSocket) {
    let message = codec.message(text, from: nil, to: socket.user)
    check(message, going: .serverToClient)
    let delivery = takeDelivery(of: message, to: socket.user)
    delivery?.state = .held
    pass(message, on: socket, isToClient: true) {
      [weak self, weak socket, record, trace] changed in
      let frame = socket?.sendNow(changed.text)
      if let socket { record.forwarded(changed, unchanged: message, to: socket.user, frame: frame) }
      delivery?.left(as: frame, at: trace.now)
      guard frame == nil else { return true }
      guard let self, socket?.isOver ?? true, message.content != nil else { return false }
      // A fault held it for longer than the connection lasted.
      trace.write(ServerEvents.messageUndeliverable, subject, changed.type, changed.to ?? SignallingFaults.server)
      return false
    } lost: {
      delivery?.taken()
    }
  }

  /// Returns the raw message that the server sends here.
  private func takeDelivery(of message: SignallingMessage, to user: String?) -> RawDelivery? {
    // What had no connection to leave on does not come later: an equal message is another one.
    deliveries.removeAll { $0.delivery.state != .atServer }
    guard let content = message.content,
      let index = deliveries.firstIndex(where: { $0.content == content && $0.user == user })
    else { return nil }
    return deliveries.remove(at: index).delivery
  }

  /// Writes the difference between a message of an app or the server and its declaration.
  private func check(_ message: SignallingMessage, going direction: MessageDeclaration.Direction) {
    guard let content = message.content, let problem = codec.problem(with: content, going: direction),
      !forged.contains(content)
    else { return }
    let server = SignallingFaults.server
    trace.write(
      ServerEvents.messageMisfit, subject, message.type, message.from ?? server, message.to ?? server, problem)
  }

  /// Exempts a raw message from the check against declarations, and follows it.
  func forge(_ content: MessageContent, to user: String, _ delivery: RawDelivery) {
    forged.insert(content)
    deliveries.append((content, user, delivery))
  }

  private func pass(
    _ message: SignallingMessage, on socket: SignallingSocket, isToClient: Bool,
    deliver: @escaping (SignallingMessage) -> Bool, lost: @escaping () -> Void = {}
  ) {
    let isMet = isMet(message.type, isToClient: isToClient)
    if isMet { faults.record(message) }
    if faults.isSilent {
      faults.swallowed(message, isMet: isMet)
      return lost()
    }
    guard isMet else {
      _ = deliver(message)
      return
    }
    faults.pass(
      message, on: .init(socket: socket.number, isToClient: isToClient),
      isOpen: { [weak socket] in socket?.isOver == false }, deliver: deliver, lost: lost)
  }

  private func isMet(_ type: String, isToClient: Bool) -> Bool {
    let declaration = codec.declaration(of: type)
    return switch declaration?.direction {
    case .clientToServer: !isToClient
    case .serverToClient: isToClient
    case .both: isToClient || declaration?.isRelayed == false
    case nil: true
    }
  }
}
