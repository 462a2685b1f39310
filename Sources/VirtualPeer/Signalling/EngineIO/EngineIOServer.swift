internal import CallCore
internal import Formats

/// The HTTP side of an Engine.IO v4 server: each request begins a session, polls or posts for one, or asks for WebSocket.
final class EngineIOServer {
  /// The errors of engine.io, with their numbers and texts.
  private enum Refusal: Int {
    case unknownTransport, unknownSession, badMethod, badRequest
    case unsupportedVersion = 5

    var text: String {
      switch self {
      case .unknownTransport: "Transport unknown"
      case .unknownSession: "Session ID unknown"
      case .badMethod: "Bad handshake method"
      case .badRequest: "Bad request"
      case .unsupportedVersion: "Unsupported protocol version"
      }
    }

    var response: HTTPMessage {
      let body: JSON = ["code": .integer(Int64(rawValue)), "message": .string(text)]
      return HTTPMessage(
        status: 400, "Bad Request", type: "application/json", body: Array(body.description.utf8))
    }
  }

  /// The time for a first request. It is Node's `headersTimeout`.
  private static let requestTimeout = Interval.seconds(60)

  private let path: String
  private let maxPayload: Int
  private let clock: PeerClock
  private let random: RandomSource
  private let tap: SignallingTap
  private let malformed: (String) -> Void
  private let accept: (SignallingSocket) -> Void
  private var sessions: [String: EngineIOSession] = [:]
  private var sessionCount = 0
  private var upgradeCount = 0

  init(
    path: String, maxPayload: Int, clock: PeerClock, random: RandomSource, tap: SignallingTap,
    malformed: @escaping (String) -> Void, accept: @escaping (SignallingSocket) -> Void
  ) {
    self.path = path
    self.maxPayload = maxPayload
    self.clock = clock
    self.random = random
    self.tap = tap
    self.malformed = malformed
    self.accept = accept
  }

  /// Serves a client's connection, which lives as long as its stream.
  func accept(_ stream: PeerStream) {
    let connection = HTTPServerConnection(stream, bodyLimit: maxPayload)
    let timeout = clock.schedule(after: Self.requestTimeout) { connection.abort() }
    connection.onEnd = { timeout.cancel() }
    connection.onRequest = { [unowned self, unowned connection] request in
      timeout.cancel()
      serve(request, on: connection)
    }
    connection.onUpgrade = { [unowned self, unowned connection] request in
      timeout.cancel()
      upgrade(request, on: connection)
    }
    connection.onProblem = { [unowned self, unowned connection] problem in
      timeout.cancel()
      malformed("http request")
      refuse(problem, on: connection)
    }
  }

  /// Returns whether a black hole takes a request, which is then never answered.
  private func isLost(_ what: String) -> Bool {
    if tap.faults.isSilent { tap.faults.hidden(what) }
    return tap.faults.isSilent
  }

  private func refuse(_ problem: HTTPProblem, on connection: HTTPServerConnection) {
    guard !isLost("request") else { return }
    switch problem {
    case .bodyTooLarge: connection.close(with: HTTPMessage(status: 413, "Payload Too Large", body: []))
    case .headTooLarge: connection.close(with: HTTPMessage(status: 431, "Request Header Fields Too Large", body: []))
    case .badHead, .badLength, .unknownLength: connection.close(with: HTTPMessage(status: 400, "Bad Request", body: []))
    }
  }

  private func serve(_ request: HTTPMessage, on connection: HTTPServerConnection) {
    guard request.path == path else {
      if !isLost("request") { connection.respond(HTTPMessage(status: 404, "Not Found", body: [])) }
      return
    }
    if let refusal = refusal(of: request, isUpgrade: false) {
      if !isLost("request") { connection.respond(refusal.response) }
      return
    }
    guard let id = request.parameter("sid"), let session = sessions[id] else {
      return open(request, on: connection)
    }
    switch request.start[0] {
    case "GET": session.polled(by: connection)
    case "POST": if !session.posted(request.body, on: connection) { malformed("engine.io packet") }
    default: connection.respond(Refusal.badRequest.response)
    }
  }

  private func refusal(of request: HTTPMessage, isUpgrade: Bool) -> Refusal? {
    let transport = request.parameter("transport")
    guard transport == "polling" || transport == "websocket" else { return .unknownTransport }
    if let id = request.parameter("sid") {
      guard let session = sessions[id] else { return .unknownSession }
      return isUpgrade || (session.isPolling && transport == "polling") ? nil : .badRequest
    }
    guard request.start[0] == "GET" else { return .badMethod }
    guard isUpgrade == (transport == "websocket") else { return .badRequest }
    return request.parameter("EIO") == "4" ? nil : .unsupportedVersion
  }

  private func makeSession() -> EngineIOSession {
    sessionCount += 1
    let session = EngineIOSession(id: "s\(sessionCount)", clock: clock)
    session.onOver = { [weak self, unowned session] in self?.sessions[session.id] = nil }
    sessions[session.id] = session
    return session
  }

  /// Begins a session: its first poll brings the open packet.
  private func open(_ request: HTTPMessage, on connection: HTTPServerConnection) {
    let session = makeSession()
    accept(tap.accept(session))
    session.polled(by: connection)
    session.onOpen?(request.start[1])
  }

  // MARK: WebSocket

  private func upgrade(_ request: HTTPMessage, on connection: HTTPServerConnection) {
    if let refusal = refusal(of: request, isUpgrade: true) {
      if !isLost("upgrade") { connection.close(with: refusal.response) }
      return
    }
    guard let id = request.parameter("sid"), let session = sessions[id] else {
      let session = makeSession()
      let (stream, bytes) = connection.takeStream()
      let channel = makeChannel(stream)
      session.begin(with: channel)
      accept(tap.accept(session))
      return channel.receive(bytes)
    }
    guard !isLost("upgrade") else { return }
    let (stream, bytes) = connection.takeStream()
    // A session is upgraded once, and by one connection.
    guard session.isPolling, !session.isProbed else { return stream.abort() }
    let channel = makeChannel(stream)
    session.probed(by: channel)
    channel.receive(bytes)
  }

  private func makeChannel(_ stream: PeerStream) -> WebSocketChannel {
    upgradeCount += 1
    return WebSocketChannel(
      stream: stream, socket: WebSocket(.server, random: random.stream("websocket/\(upgradeCount)")))
  }
}
