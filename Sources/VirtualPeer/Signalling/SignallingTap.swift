internal import CallCore
internal import Vocabulary

/// Where scenarios get at signalling: every frame of every WebSocket of one server passes here, in both directions.
///
/// A server cannot go round it, and does nothing for it but say what its frames are (``CallServer/frame(of:)``).
/// A message that the server passes on is met once, where it leaves for its receiver; one that is for the server alone
/// where it arrives; a frame of the transport, such as a ping, wherever it goes.
final class SignallingTap {
  let faults: SignallingFaults
  private let codec: SignallingCodec
  private let trace: Trace
  private let subject: TraceSubject
  /// What puppets said: nobody has to have declared it.
  private var forged: Set<MessageContent> = []
  private var sockets: [SignallingSocket] = []
  private var refused: [String] = []
  private var socketCount = 0
  /// Connections that were reset because their user is refused, by user.
  private(set) var refusalCounts: [String: Int] = [:]

  init(faults: SignallingFaults, codec: SignallingCodec, trace: Trace, subject: String) {
    self.faults = faults
    self.codec = codec
    self.trace = trace
    self.subject = trace.subject(subject)
    faults.codec = codec
    faults.onSilence = { [unowned self] in setSilenced($0) }
  }

  /// The server's end of a new connection.
  func accept(_ stream: PeerStream, random: RandomSource) -> SignallingSocket {
    socketCount += 1
    let channel = WebSocketChannel(
      stream: stream, socket: WebSocket(.server, random: random.stream("websocket/\(socketCount)")))
    channel.isSilenced = faults.isSilent
    let socket = SignallingSocket(channel, number: socketCount, tap: self)
    sockets.append(socket)
    return socket
  }

  func forget(_ socket: SignallingSocket) { sockets.removeAll { $0 === socket } }

  /// Resets the connections of a user, or of everybody.
  func disconnect(user: String?) {
    for socket in sockets where user == nil || socket.user == user { socket.abort() }
  }

  func isConnected(user: String) -> Bool { sockets.contains { $0.user == user } }

  /// While refused, a user's connections are reset as soon as they say whose they are.
  func setRefused(_ user: String, _ isRefused: Bool) {
    refused.removeAll { $0 == user }
    if isRefused { refused.append(user) }
  }

  private func setSilenced(_ isSilenced: Bool) {
    for socket in sockets { socket.setSilenced(isSilenced) }
  }

  // MARK: Frames

  /// Whether a client's upgrade is lost.
  func swallowsUpgrade(on socket: SignallingSocket) -> Bool {
    if faults.isSilent { faults.swallowed(SignallingMessage(type: "upgrade", from: nil, to: nil, text: "")) }
    return faults.isSilent
  }

  /// A frame of a client has come.
  func received(_ text: String, on socket: SignallingSocket) {
    let message = codec.message(text, from: socket.user, to: nil)
    check(message, going: .clientToServer)
    if let sender = message.from, refused.contains(sender), !faults.isSilent {
      refusalCounts[sender, default: 0] += 1
      return socket.abort()
    }
    pass(message, on: .init(socket: socket.number, isToClient: false)) { [weak socket] in socket?.deliver($0.text) }
  }

  /// The server has a frame for a client.
  func send(_ text: String, on socket: SignallingSocket) {
    let message = codec.message(text, from: nil, to: socket.user)
    check(message, going: .serverToClient)
    pass(message, on: .init(socket: socket.number, isToClient: true)) { [weak socket] in socket?.sendNow($0.text) }
  }

  /// Says of a message that an app or the server itself wrote what its declaration has otherwise.
  private func check(_ message: SignallingMessage, going direction: MessageDeclaration.Direction) {
    guard let content = message.content, let problem = codec.problem(with: content, going: direction),
      !forged.contains(content)
    else { return }
    let server = SignallingFaults.server
    trace.write(
      ServerEvents.messageMisfit, subject, message.type, message.from ?? server, message.to ?? server, problem)
  }

  /// From now on the content is no finding of the profile: a puppet says it.
  func forge(_ content: MessageContent) { forged.insert(content) }

  private func pass(
    _ message: SignallingMessage, on lane: SignallingFaults.Lane, deliver: @escaping (SignallingMessage) -> Void
  ) {
    let isMet = isMet(message.type, isToClient: lane.isToClient)
    if faults.isSilent { return faults.swallowed(message, isMet: isMet) }
    guard isMet else { return deliver(message) }
    faults.pass(message, on: lane, deliver: deliver)
  }

  private func isMet(_ type: String, isToClient: Bool) -> Bool {
    switch codec.declaration(of: type)?.direction {
    case .clientToServer: !isToClient
    case .serverToClient, .both: isToClient
    case nil: true
    }
  }
}
