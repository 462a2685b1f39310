internal import CallCore
internal import Vocabulary

/// Where scenarios get at signalling: every frame of every WebSocket of one server passes here, in both directions.
///
/// A server cannot go round it, and does nothing for it but say what its frames are (``SignallingServer/label(of:)``).
/// A message that the server passes on is met once, where it leaves for its receiver; one that is for the server alone
/// where it arrives; a frame of the transport, such as a ping, wherever it goes.
final class SignallingTap {
  let faults: SignallingFaults
  private let label: (String) -> SignallingLabel
  private let messages: [MessageDeclaration]
  private var sockets: [SignallingSocket] = []
  private var refused: [String] = []
  private var socketCount = 0
  /// Connections that were reset because their user is refused, by user.
  private(set) var refusalCounts: [String: Int] = [:]

  init(faults: SignallingFaults, messages: [MessageDeclaration], label: @escaping (String) -> SignallingLabel) {
    self.faults = faults
    self.messages = messages
    self.label = label
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
    guard !faults.isIdle || !refused.isEmpty else { return socket.deliver(text) }
    let label = label(text)
    let sender = socket.user ?? label.sender
    if let sender, refused.contains(sender), !faults.isSilent {
      refusalCounts[sender, default: 0] += 1
      return socket.abort()
    }
    let message = SignallingMessage(type: label.type, from: sender, to: nil, text: text)
    pass(message, on: .init(socket: socket.number, isToClient: false)) { [weak socket] in socket?.deliver($0.text) }
  }

  /// The server has a frame for a client.
  func send(_ text: String, on socket: SignallingSocket) {
    guard !faults.isIdle else { return socket.sendNow(text) }
    let label = label(text)
    let message = SignallingMessage(type: label.type, from: label.sender, to: socket.user, text: text)
    pass(message, on: .init(socket: socket.number, isToClient: true)) { [weak socket] in socket?.sendNow($0.text) }
  }

  private func pass(
    _ message: SignallingMessage, on lane: SignallingFaults.Lane, deliver: @escaping (SignallingMessage) -> Void
  ) {
    let isMet = isMet(message.type, isToClient: lane.isToClient)
    if faults.isSilent { return faults.swallowed(message, isMet: isMet) }
    guard isMet else { return deliver(message) }
    faults.pass(message, on: lane, deliver: deliver)
  }

  private func isMet(_ type: String, isToClient: Bool) -> Bool {
    switch messages.first(where: { $0.name == type })?.direction {
    case .clientToServer: !isToClient
    case .serverToClient, .both: isToClient
    case nil: true
    }
  }
}
