import CallSim

/// Answers every offer with a connection of its own, and sends back what comes over it.
public final class EchoServer: CallServer {
  private final class Client: PeerConnectionDelegate {
    let socket: SignallingSocket
    let connection: any PeerConnection

    init(_ socket: SignallingSocket, _ connection: any PeerConnection) {
      self.socket = socket
      self.connection = connection
      connection.delegate = self
    }

    func connection(_ connection: any PeerConnection, did event: SessionEvent) {
      guard case .iceCandidate(let candidate?, let mid, _) = event else { return }
      send("candidate", [JSON.Member("candidate", .string(candidate)), JSON.Member("mid", .string(mid))])
    }

    func send(_ type: String, _ fields: [JSON.Member]) {
      socket.send(Wire.text(MessageContent(type, [JSON.Member("from", "echo")] + fields)))
    }
  }

  private let environment: ServerEnvironment
  private let connections: PeerConnectionFactory
  private var clients: [Client] = []

  public init(environment: ServerEnvironment) {
    self.environment = environment
    connections = environment.makeConnections(sending: .echo)
  }

  public static func frame(of text: String) -> SignallingFrame { DispatchServer.frame(of: text) }

  public static func text(of message: MessageContent, in frame: String?) -> String { Wire.text(message) }

  public func start() {
    environment.listen { [weak self] socket in
      socket.onOpen = { [weak socket] path in socket?.user = String(path.dropFirst()) }
      socket.onText = { [weak self, weak socket] text in if let socket { self?.received(text, from: socket) } }
      socket.onClose = { [weak self, weak socket] in self?.gone(socket) }
    }
  }

  public func inject(_ message: MessageContent, from: String, to: String) {
    clients.first { $0.socket.user == to }?.socket.send(Wire.text(message))
  }

  public func shutDown() {
    for client in clients { client.socket.drop() }
    clients = []
  }

  private func received(_ text: String, from socket: SignallingSocket) {
    guard let message = Wire.message(text), let user = socket.user else { return environment.malformed("message") }
    do throws(SessionError) {
      switch message.type {
      case "offer":
        let client = Client(socket, connections.make(to: user))
        clients.append(client)
        try answer(message["sdp"]?.string ?? "", client)
      case "candidate":
        let client = clients.first { $0.socket === socket }
        try client?.connection.addICECandidate(
          message["candidate"]?.string, mid: message["mid"]?.string, mLineIndex: nil)
      default: environment.malformed(message.type)
      }
    } catch {
      environment.malformed("\(message.type): \(error)")
    }
  }

  private func answer(_ offer: String, _ client: Client) throws(SessionError) {
    try client.connection.addTrack()
    try client.connection.setRemoteDescription(SessionDescriptionText(.offer, sdp: offer))
    let answer = try client.connection.createAnswer()
    client.send("answer", [JSON.Member("sdp", .string(answer.sdp))])
    try client.connection.setLocalDescription(answer)
  }

  private func gone(_ socket: SignallingSocket?) {
    for client in clients where client.socket === socket { client.connection.close() }
    clients.removeAll { $0.socket === socket }
  }
}
