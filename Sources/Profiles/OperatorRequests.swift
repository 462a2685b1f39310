internal import CallCore
internal import VirtualPeer
internal import Vocabulary

/// Requests of an operator to a product's server (its REST API), as messages of the type `rest` on a WebSocket of their own.
final class OperatorRequests {
  private let environment: PeerEnvironment
  private let server: String
  private let text: (MessageContent) -> String
  private var channel: WebSocketChannel?
  private var isOpen = false
  private var waiting: [MessageContent] = []

  /// - Parameters:
  ///   - server: the server's name in the profile.
  ///   - text: writes a message as the product does.
  init(_ environment: PeerEnvironment, to server: String, text: @escaping (MessageContent) -> String) {
    self.environment = environment
    self.server = server
    self.text = text
  }

  /// Sends a request, as soon as the WebSocket is open.
  func send(_ request: String, _ fields: [(String, JSON?)]) {
    let message = MessageContent("rest", JSON.members([("request", .string(request))] + fields))
    environment.trace.signalSent(type: message.type, to: "server", isLost: false)
    waiting.append(message)
    if channel == nil { open() }
    if isOpen { flush() }
  }

  private func open() {
    let endpoint = environment.endpoint(of: server)
    let channel = WebSocketChannel(
      stream: environment.network.connect(to: endpoint),
      socket: WebSocket(
        .client, host: "\(endpoint)", path: "/rest/\(environment.userID)", random: environment.random.stream("rest")))
    self.channel = channel
    channel.onOpen = { [weak self] _ in
      self?.isOpen = true
      self?.flush()
    }
    channel.onClose = { [weak self] in
      self?.channel = nil
      self?.isOpen = false
    }
  }

  private func flush() {
    for message in waiting { channel?.send(text(message)) }
    waiting = []
  }

  func shutDown() {
    channel?.onClose = nil
    channel?.close()
    channel = nil
  }
}
