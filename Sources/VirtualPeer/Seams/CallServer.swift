public import CallCore
public import Vocabulary

/// A server of a profile: it listens on a host of its own, keeps time, passes messages between users, and may open peer
/// connections.
public protocol CallServer: AnyObject, SendableMetatype {
  init(environment: ServerEnvironment)

  /// What a text frame is, whichever way it goes: scenarios drop, delay and change messages by it.
  ///
  /// It goes by the text alone. Text that makes no sense is a frame of the transport, called `malformed`.
  static func frame(of text: String) -> SignallingFrame

  /// A message as text: in a frame of its own, or in place of the message that `frame` carries.
  static func text(of message: MessageContent, in frame: String?) -> String

  /// Begins to listen.
  func start()

  /// Delivers a message of any type, with any fields, as if `from` had sent it: what a puppet in a scenario says.
  func inject(_ message: MessageContent, from: String, to: String)

  /// The run is over: let go of every client. Nothing that is sent now arrives.
  func shutDown()
}

/// What one text frame is.
public enum SignallingFrame: Hashable, Sendable {
  /// A message, as the profile's vocabulary names it.
  case message(MessageContent)
  /// A frame of the transport under its own word, such as `ping`, and the user who introduces himself with it.
  case transport(String, sender: String? = nil)
}

/// What a server sends over its peer connections.
public enum ServerMediaSource: Hashable, Sendable {
  case samples(MicrophoneSource)
  /// To each client what comes from it, decoded and encoded again.
  case echo
}

/// Everything the outside world is to a server.
public struct ServerEnvironment {
  public let clock: PeerClock
  /// Runs async code in virtual time.
  public let tasks: PeerTasks
  public let random: RandomSource
  private let network: PeerNetwork
  private let port: UInt16
  /// How long everything waits before it leaves the server.
  private let delay: Interval
  private let trace: Trace
  private let subject: TraceSubject
  private let connections: ServerConnections
  private let open: (PeerStream) -> SignallingSocket

  init(
    clock: PeerClock, tasks: PeerTasks, random: RandomSource, network: PeerNetwork, port: UInt16, delay: Interval,
    trace: Trace, subject: String, connections: ServerConnections, open: @escaping (PeerStream) -> SignallingSocket
  ) {
    self.clock = clock
    self.tasks = tasks
    self.random = random
    self.network = network
    self.port = port
    self.delay = delay
    self.trace = trace
    self.subject = trace.subject(subject)
    self.connections = connections
    self.open = open
  }

  /// Accepts WebSocket connections at the server's port.
  public func listen(_ accept: @escaping (SignallingSocket) -> Void) {
    network.listen(on: port) { [clock, delay, open] stream in
      if delay > .zero { stream.postpone = { leave in clock.schedule(after: delay, leave) } }
      accept(open(stream))
    }
  }

  /// Makes what opens the server's peer connections, `make(to:)` with the id of the client's user. Its vocabulary declares
  /// the server with `opensConnections`. Statistics and states are those of `SERVER.to.PEER` in scenarios.
  public func makeConnections(sending source: ServerMediaSource) -> PeerConnectionFactory {
    connections.makeFactory(sending: source)
  }

  /// Says that a client sent what cannot be used; it was ignored.
  public func malformed(_ what: String) { trace.write(ServerEvents.messageMalformed, subject, what) }

  /// Says that a message's user has no connection; it is lost.
  public func undeliverable(_ message: SignallingMessage) {
    trace.write(ServerEvents.messageUndeliverable, subject, message.type, message.to ?? "nobody")
  }
}
