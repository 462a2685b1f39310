internal import CallCore
internal import VirtualPeer
internal import Vocabulary

/// Requests of an operator to a product's server (its REST API), as messages of the type `rest` on a WebSocket of their
/// own. The server answers each with a message `restAnswer`: its number, and the problem if it refuses.
final class OperatorRequests {
  private let environment: PeerEnvironment
  private let server: String
  private let text: (MessageContent) -> String
  private let message: (String) -> MessageContent?
  private var channel: WebSocketChannel?
  private var isOpen = false
  private var waiting: [MessageContent] = []
  private var unanswered: [(number: Int64, action: UserAction, limit: PeerTimer)] = []
  private var count: Int64 = 0

  /// The time for an answer: a harness default.
  private static let answerTime = Interval.seconds(10)

  /// - Parameters:
  ///   - server: the server's name in the profile.
  ///   - text: writes a message as the product does.
  ///   - message: reads one.
  init(
    _ environment: PeerEnvironment, to server: String, text: @escaping (MessageContent) -> String,
    message: @escaping (String) -> MessageContent?
  ) {
    self.environment = environment
    self.server = server
    self.text = text
    self.message = message
  }

  /// Sends the request of an action, as soon as the WebSocket is open.
  func send(_ action: UserAction, _ fields: [(String, JSON?)]) {
    count += 1
    let number = count
    let message = MessageContent(
      "rest", JSON.members([("request", .string(action.name)), ("number", .integer(number))] + fields))
    environment.trace.signalSent(type: message.type, to: "server", isLost: false)
    waiting.append(message)
    let limit = environment.clock.schedule(after: Self.answerTime) { [weak self] in
      self?.answered(number, problem: "the server did not answer in \(Self.answerTime)")
    }
    unanswered.append((number, action, limit))
    if channel == nil { open() }
    if isOpen { flush() }
  }

  private func open() {
    let endpoint = environment.endpoint(of: server)
    let channel = WebSocketChannel(
      stream: environment.network.connect(to: endpoint),
      socket: WebSocket(
        .client, host: "\(endpoint)", path: "/rest/\(PathSegment.encode(environment.userID))",
        random: environment.random.stream("rest")))
    self.channel = channel
    channel.onOpen = { [weak self] _ in
      self?.isOpen = true
      self?.flush()
    }
    channel.onText = { [weak self] in self?.received($0) }
    channel.onClose = { [weak self] in self?.closed() }
  }

  private func flush() {
    for message in waiting { channel?.send(text(message)) }
    waiting = []
  }

  private func received(_ text: String) {
    guard let message = message(text), message.type == "restAnswer", let number = message["number"]?.integer else {
      return environment.trace.event(PeerEvents.messageRejected.name, "reason", "no answer to a request")
    }
    environment.trace.signalReceived(type: message.type, from: "server")
    answered(number, problem: message["problem"]?.string)
  }

  private func answered(_ number: Int64, problem: String?) {
    guard let index = unanswered.firstIndex(where: { $0.number == number }) else { return }
    let (_, action, limit) = unanswered.remove(at: index)
    limit.cancel()
    if let problem { environment.refuse(action, ActionError(problem)) }
  }

  private func closed() {
    (channel, isOpen, waiting) = (nil, false, [])
    for request in unanswered { answered(request.number, problem: "the connection to the server was lost") }
  }

  func shutDown() {
    for request in unanswered { request.limit.cancel() }
    unanswered = []
    channel?.onClose = nil
    channel?.close()
    channel = nil
  }
}

/// The server's side.
extension OperatorRequests {
  /// Answers a request.
  ///
  /// - Parameters:
  ///   - request: the message; nil for a text that is none.
  ///   - text: writes a message as the product does.
  ///   - carryOut: carries a request out, or returns why not.
  static func answer(
    _ request: MessageContent?, on socket: SignallingSocket, _ environment: ServerEnvironment,
    text: (MessageContent) -> String, carryOut: (MessageContent) -> String?
  ) {
    guard let request, request.type == "rest", let number = request["number"]?.integer else {
      return environment.malformed("request")
    }
    let problem = carryOut(request)
    socket.send(
      text(
        MessageContent(
          "restAnswer", JSON.members([("number", .integer(number)), ("problem", problem.map(JSON.string))]))))
  }
}
