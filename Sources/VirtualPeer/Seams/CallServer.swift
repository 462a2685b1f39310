public import CallCore
public import Vocabulary

/// A server of a profile. It listens on its own host, has a clock, passes messages between users, and may open peer
/// connections.
public protocol CallServer: AnyObject, SendableMetatype {
  /// Creates the server; nothing may happen before ``start()``.
  init(environment: ServerEnvironment)

  /// Classifies a text frame of either direction: scenarios drop, delay and change messages by it.
  ///
  /// It uses the text alone. Unreadable text is a transport frame called `malformed`.
  static func frame(of text: String) -> SignallingFrame

  /// Returns a message as text: in a new frame, or in place of the message in `frame`.
  static func text(of message: MessageContent, in frame: String?) -> String

  /// Starts to listen.
  func start()

  /// Delivers a message of any type, with any fields, as if `from` had sent it: a puppet of a scenario uses this.
  func inject(_ message: MessageContent, from: String, to: String)

  /// Ends the server at the end of the run: it releases every client. Messages sent from now on do not arrive.
  func shutDown()
}

/// The classification of a text frame.
public enum SignallingFrame: Hashable, Sendable {
  /// A message, as the profile's vocabulary names it.
  case message(MessageContent)
  /// A transport frame with its name, such as `ping`, and the user that it introduces.
  case transport(String, sender: String? = nil)
}

/// The media that a server sends over its peer connections.
public enum ServerMediaSource: Hashable, Sendable {
  case samples(MicrophoneSource)
  /// Each client's own audio, decoded and encoded again.
  case echo
  /// What other connections of the same factory receive: `receiver.track` of a transceiver of one is a track that
  /// another one can send. The packets are forwarded as they are (RFC 7667 section 3.7): of each video the encoding and the
  /// temporal layers that the estimated bandwidth of the receiver holds.
  case receivedTracks
}

/// A server's access to the outside world.
public struct ServerEnvironment {
  /// The server's clock.
  public let clock: PeerClock
  /// Runs async code in virtual time.
  public let tasks: PeerTasks
  /// The server's random source.
  public let random: RandomSource
  private let network: PeerNetwork
  private let port: UInt16
  /// The delay of everything that the server sends.
  private let delay: Interval
  private let trace: Trace
  private let subject: TraceSubject
  private let connections: ServerConnections
  private let pushes: PushService
  private let tap: SignallingTap
  private let secure: ((PeerStream) -> StreamTLS)?

  init(
    clock: PeerClock, tasks: PeerTasks, random: RandomSource, network: PeerNetwork, port: UInt16, delay: Interval,
    trace: Trace, subject: String, connections: ServerConnections, pushes: PushService,
    tap: SignallingTap, secure: ((PeerStream) -> StreamTLS)?
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
    self.pushes = pushes
    self.tap = tap
    self.secure = secure
  }

  /// Accepts WebSocket connections at the server's port.
  ///
  /// - Parameter subprotocol: The protocol that every client must offer (RFC 6455 section 1.9); nil for none.
  public func listen(subprotocol: String? = nil, _ accept: @escaping (SignallingSocket) -> Void) {
    listen { (stream: PeerStream) in
      accept(tap.accept(stream, subprotocol: subprotocol, random: random))
    }
  }

  /// Accepts sessions of Engine.IO v4 at the server's port: by HTTP long-polling, by WebSocket, and from the one to the
  /// other. The server sends the open packet of a session, with ``SignallingSocket/sessionID``, and its pings; HTTP and
  /// the upgrade are done here, and the faults of a scenario act on each packet.
  ///
  /// - Parameters:
  ///   - path: The path of every request.
  ///   - maxPayload: The limit of a request's body in bytes.
  public func listenEngineIO(
    path: String, maxPayload: Int, _ accept: @escaping (SignallingSocket) -> Void
  ) {
    let server = EngineIOServer(
      path: path, maxPayload: maxPayload, clock: clock, random: random, tap: tap, malformed: malformed,
      accept: accept)
    listen { server.accept($0) }
  }

  private func listen(_ accept: @escaping (PeerStream) -> Void) {
    network.listen(on: port) { stream in
      stream.tls = secure?(stream)
      if delay > .zero { stream.postpone = { leave in clock.schedule(after: delay, leave) } }
      accept(stream)
    }
  }

  /// Returns a factory for the server's peer connections; call `make(to:)` with the id of the client's user. The
  /// vocabulary must declare the server with `opensConnections`. Scenarios read statistics and states as
  /// `SERVER.to.PEER`.
  public func makeConnections(sending source: ServerMediaSource) -> PeerConnectionFactory {
    connections.makeFactory(sending: source)
  }

  /// Sends a VoIP push to the device of a user, by the push service; a device whose app has not registered gets none.
  public func push(_ payload: [String: String], to user: String) { pushes.send(payload, to: user) }

  /// Writes that a client sent an unusable message, which was ignored.
  public func malformed(_ what: String) { trace.write(ServerEvents.messageMalformed, subject, what) }

  /// Writes that a message is lost, because its user is not connected.
  public func undeliverable(_ message: SignallingMessage) {
    trace.write(ServerEvents.messageUndeliverable, subject, message.type, message.to ?? "nobody")
  }
}
