public import CallSim

/// An app of somebody else, whose logic is async: it says hello every second, three times, and sets how often it was
/// answered.
public final class StrangerApp: CallApp {
  public static let vocabulary = ProfileVocabulary(
    profile: "stranger", summary: "Greetings.",
    machines: [
      StateMachine(
        "call.state",
        states: [.init("alone", "No answer yet.", as: .idle), .init("greeted", "Answered.", as: .connected)],
        transitions: [.init("alone", "greeted", on: "welcome")])
    ],
    actions: [],
    messages: [
      MessageDeclaration("hello", .clientToServer, "A greeting.", provenance: .harnessDefault),
      MessageDeclaration("welcome", .serverToClient, "Its answer.", provenance: .harnessDefault),
    ],
    values: [ValueDeclaration("answers", .count, "Answers so far.")])

  private let environment: PeerEnvironment
  private var channel: WebSocketChannel?

  public init(environment: PeerEnvironment) { self.environment = environment }

  public func start() {
    environment.tasks.start { [self] in await greet() }
  }

  private func greet() async {
    let channel = WebSocketChannel(
      stream: environment.network.connect(to: environment.endpoint(of: "signalling")),
      socket: WebSocket(.client, host: "server", random: environment.random.stream("socket")))
    self.channel = channel
    let (texts, feed) = AsyncStream.makeStream(of: String.self)
    channel.onText = { feed.yield($0) }
    channel.onClose = { feed.finish() }
    let count = environment.tasks.start { [environment] in
      var answers = 0
      for await _ in texts {
        answers += 1
        if answers == 1 { environment.trace.enter("call.state", "greeted", on: "welcome") }
        environment.trace.set("answers", answers)
      }
    }
    for _ in 0..<3 {
      guard (try? await environment.clock.sleep(for: .seconds(1))) != nil else { break }
      channel.send("hello")
    }
    await count.value
  }

  public func perform(_ action: UserAction) throws(ActionError) { throw ActionError("there is nothing to do") }
  public func networkChanged() {}
  public func shutDown() { channel?.close() }
}

/// Its server, async as well: it answers each client's texts half a second later, in their order.
public final class StrangerServer: CallServer {
  private let environment: ServerEnvironment

  public init(environment: ServerEnvironment) { self.environment = environment }

  public static func frame(of text: String) -> SignallingFrame { .message(MessageContent(text)) }
  public static func text(of message: MessageContent, in frame: String?) -> String { message.type }

  public func start() {
    environment.listen { [environment] socket in
      let (texts, feed) = AsyncStream.makeStream(of: String.self)
      socket.onText = { feed.yield($0) }
      socket.onClose = { feed.finish() }
      environment.tasks.start {
        for await _ in texts {
          guard (try? await environment.clock.sleep(for: .milliseconds(500))) != nil else { return }
          socket.send("welcome")
        }
      }
    }
  }

  public func inject(_ message: MessageContent, from: String, to: String) {}
  public func shutDown() {}
}

/// An app with a task that waits for what never comes, and does not end when it is cancelled.
public final class StuckApp: CallApp {
  public static let vocabulary = StrangerApp.vocabulary

  private let environment: PeerEnvironment

  public init(environment: PeerEnvironment) { self.environment = environment }

  public func start() {
    environment.tasks.start { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
  }

  public func perform(_ action: UserAction) throws(ActionError) {}
  public func networkChanged() {}
  public func shutDown() {}
}

/// An app whose declaration has no machine.
public final class UnfitApp: CallApp {
  public static let vocabulary = ProfileVocabulary(profile: "unfit", summary: "", machines: [], actions: [])

  public init(environment: PeerEnvironment) {}
  public func start() {}
  public func perform(_ action: UserAction) throws(ActionError) {}
  public func networkChanged() {}
  public func shutDown() {}
}
