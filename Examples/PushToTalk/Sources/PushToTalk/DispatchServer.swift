import CallSim

/// Keeps channels and who has the floor of each, and passes messages between members.
public final class DispatchServer: CallServer {
  private struct Client {
    let socket: SignallingSocket
    let user: String
    var channel: String?
  }

  private let environment: ServerEnvironment
  private var clients: [Client] = []
  /// Who has the floor of a channel.
  private var holders: [String: String] = [:]

  public init(environment: ServerEnvironment) { self.environment = environment }

  public static func frame(of text: String) -> SignallingFrame {
    Wire.message(text).map { .message($0) } ?? .transport("malformed")
  }

  public static func text(of message: MessageContent, in frame: String?) -> String { Wire.text(message) }

  public func start() {
    environment.listen { [weak self] socket in
      socket.onOpen = { [weak socket] path in
        guard let socket else { return }
        let user = String(path.dropFirst())
        socket.user = user
        self?.clients.append(Client(socket: socket, user: user))
      }
      socket.onText = { [weak self, weak socket] text in if let socket { self?.received(text, from: socket) } }
      socket.onClose = { [weak self, weak socket] in if let socket { self?.gone(socket) } }
    }
  }

  public func inject(_ message: MessageContent, from: String, to: String) { send(message, to: to) }

  public func shutDown() {
    for client in clients { client.socket.drop() }
    clients = []
  }

  private func received(_ text: String, from socket: SignallingSocket) {
    guard let message = Wire.message(text), let index = clients.firstIndex(where: { $0.socket === socket }) else {
      return environment.malformed("message")
    }
    let user = clients[index].user
    switch message.type {
    case "join":
      guard let channel = message["channel"]?.string, clients[index].channel == nil else {
        return environment.malformed("join")
      }
      let others = clients.filter { $0.channel == channel }.map { JSON.string($0.user) }
      clients[index].channel = channel
      send(MessageContent("members", [JSON.Member("users", .array(others))]), to: user)
      if holders[channel] != nil { send(floor(of: channel), to: user) }
    case "leave": leave(at: index)
    case "push":
      guard let channel = clients[index].channel else { return environment.malformed("push") }
      // Who asks while another talks is told who does.
      guard holders[channel] == nil else { return send(floor(of: channel), to: user) }
      setHolder(user, of: channel)
    case "release":
      if let channel = clients[index].channel, holders[channel] == user { setHolder(nil, of: channel) }
    case "offer", "answer", "candidate":
      guard let addressee = message["to"]?.string else { return environment.malformed(message.type) }
      let rest = message.fields.filter { $0.key != "to" && $0.key != "from" }
      send(MessageContent(message.type, [JSON.Member("from", .string(user))] + rest), to: addressee)
    default: environment.malformed(message.type)
    }
  }

  private func gone(_ socket: SignallingSocket) {
    guard let index = clients.firstIndex(where: { $0.socket === socket }) else { return }
    leave(at: index)
    clients.remove(at: index)
  }

  private func leave(at index: Int) {
    let user = clients[index].user
    guard let channel = clients[index].channel else { return }
    clients[index].channel = nil
    if holders[channel] == user { setHolder(nil, of: channel) }
    broadcast(MessageContent("left", [JSON.Member("from", .string(user))]), in: channel)
  }

  private func setHolder(_ user: String?, of channel: String) {
    holders[channel] = user
    broadcast(floor(of: channel), in: channel)
  }

  private func floor(of channel: String) -> MessageContent {
    MessageContent("floor", holders[channel].map { [JSON.Member("holder", .string($0))] } ?? [])
  }

  private func broadcast(_ message: MessageContent, in channel: String) {
    for client in clients where client.channel == channel { client.socket.send(Wire.text(message)) }
  }

  private func send(_ message: MessageContent, to user: String) {
    guard let client = clients.last(where: { $0.user == user }) else {
      return environment.undeliverable(
        SignallingMessage(type: message.type, from: message["from"]?.string, to: user, text: Wire.text(message)))
    }
    client.socket.send(Wire.text(message))
  }
}
