import CallSim

/// A WebSocket to one of the product's servers: messages out, and those that come as an asynchronous sequence.
final class Link {
  /// Ends when the connection does.
  let messages: AsyncStream<MessageContent>
  private let channel: WebSocketChannel
  private let trace: PeerTrace
  private var state = State.connecting
  /// Messages that leave once the WebSocket is open.
  private var waiting: [String] = []

  private enum State { case connecting, open, closed }

  init(to server: String, _ environment: PeerEnvironment, number: Int) {
    let endpoint = environment.endpoint(of: server)
    trace = environment.trace
    let socket = WebSocket(
      .client, host: "\(endpoint)", path: "/\(environment.userID)",
      random: environment.random.stream("\(server)/\(number)"))
    channel = WebSocketChannel(stream: environment.network.connect(to: endpoint), socket: socket)
    let (messages, arrivals) = AsyncStream.makeStream(of: MessageContent.self)
    self.messages = messages
    channel.onText = { [trace] text in
      guard let message = Wire.message(text) else { return trace.event("message.rejected", "reason", "not JSON") }
      trace.signalReceived(type: message.type, from: message["from"]?.string ?? server)
      arrivals.yield(message)
    }
    channel.onOpen = { [weak self] _ in self?.opened() }
    channel.onClose = { [weak self] in
      self?.state = .closed
      arrivals.finish()
    }
  }

  private func opened() {
    state = .open
    for text in waiting { channel.send(text) }
    waiting = []
  }

  func send(_ type: String, to user: String? = nil, _ fields: [JSON.Member] = []) {
    let addressee = user.map { [JSON.Member("to", .string($0))] } ?? []
    trace.signalSent(type: type, to: user ?? "server", isLost: state == .closed)
    let text = Wire.text(MessageContent(type, addressee + fields))
    if state == .connecting { waiting.append(text) } else { channel.send(text) }
  }

  /// Ends the sequence of messages, too.
  func close() { channel.close() }
}

/// Messages as JSON objects with the member `type`.
enum Wire {
  static func message(_ text: String) -> MessageContent? {
    guard case .object(let members)? = try? JSON(parsing: text.utf8), let type = JSON.object(members)["type"]?.string
    else { return nil }
    return MessageContent(type, members.filter { $0.key != "type" })
  }

  static func text(_ message: MessageContent) -> String {
    JSON.object([JSON.Member("type", .string(message.type))] + message.fields).description
  }
}
