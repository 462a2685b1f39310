internal import CallCore
internal import Digests
internal import PeerSession
internal import SDP
public import VirtualPeer
public import Vocabulary

/// The session server of Vonage Video: presence, streams, subscriptions, signals and moderation; and the media router.
public final class VonageServer: CallServer {
  private let environment: ServerEnvironment
  private let connections: PeerConnectionFactory
  private var sockets: [SignallingSocket] = []
  private var sessions: [VonageServerSession] = []
  private var limits = VonageLimits()
  /// The code with which new connections are refused, if they are.
  private var refusal: Int64?
  private var count = 0
  /// Why clients were disconnected that may not have heard of it, by their secrets.
  private var expelled: [String: String] = [:]
  private var secrets: RandomStream

  /// The time without a message after which a client is gone: a harness default.
  static let presenceTime = Interval.seconds(60)
  /// The time without a publisher or subscriber after which a client is disconnected.
  private static let idleTime = Interval.minutes(4 * 60)

  /// Creates the server; it does nothing before ``start()``.
  public init(environment: ServerEnvironment) {
    self.environment = environment
    connections = environment.makeConnections(sending: .receivedTracks)
    secrets = environment.random.stream("secrets")
  }

  public static func frame(of text: String) -> SignallingFrame {
    VonageWire.message(text).map { .message($0) } ?? .transport("malformed")
  }

  public static func text(of message: MessageContent, in frame: String?) -> String { VonageWire.text(message) }

  public func start() {
    environment.listen { [weak self] socket in
      socket.onOpen = { [weak self, weak socket] path in
        if let socket { self?.opened(socket, path: path) }
      }
    }
  }

  public func inject(_ message: MessageContent, from: String, to: String) {
    let text = VonageWire.text(message)
    guard let socket = sockets.last(where: { $0.user == to }) else {
      return environment.undeliverable(SignallingMessage(type: message.type, from: from, to: to, text: text))
    }
    socket.send(text)
  }

  public func shutDown() {
    for session in sessions { for client in session.clients { client.close() } }
    for socket in sockets { socket.drop() }
    (sessions, sockets) = ([], [])
  }

  // MARK: Sockets

  private func opened(_ socket: SignallingSocket, path: String) {
    let parts = path.split(separator: "/")
    guard parts.count == 2, let user = PathSegment.decode(parts[1]) else { return environment.malformed("path") }
    socket.user = user
    guard parts[0] == "session" else {
      socket.onText = { [weak self, weak socket] text in if let socket { self?.requested(text, on: socket) } }
      return
    }
    sockets.append(socket)
    socket.onText = { [weak self, weak socket] text in if let socket { self?.received(text, on: socket) } }
    socket.onClose = { [weak self, weak socket] in if let socket { self?.closed(socket) } }
  }

  private func closed(_ socket: SignallingSocket) {
    sockets.removeAll { $0 === socket }
    // The client stays until its time is over, for it may come back.
    place(of: socket)?.client.socket = nil
  }

  private func place(of socket: SignallingSocket) -> (session: VonageServerSession, client: VonageClient)? {
    for session in sessions {
      if let client = session.clients.first(where: { $0.socket === socket }) { return (session, client) }
    }
    return nil
  }

  private func received(_ text: String, on socket: SignallingSocket) {
    guard let message = VonageWire.message(text) else { return environment.malformed("frame") }
    guard let (session, client) = place(of: socket) else {
      switch message.type {
      case "connect": connect(message, on: socket)
      case "resume": resume(message, on: socket)
      case "keepalive": break
      default: environment.malformed("\(message.type) of no client")
      }
      return
    }
    watch(client, in: session)
    switch message.type {
    case "keepalive":
      client.send("keepalive")
      if let number = message["received"]?.integer {
        client.confirmed(number)
        client.repeatSignal()
      }
      client.repeatOffer()
    case "disconnect": leave(client, session)
    case "signal": signal(message, client, session)
    case "moderate": moderate(message, client, session)
    default: receivedMedia(message, client, session)
    }
    watchIdle(client, in: session)
  }

  private func refuse(_ code: Int64, _ domain: String, stream: String? = nil, _ socket: SignallingSocket) {
    let fields = JSON.members([
      ("domain", .string(domain)), ("code", .integer(code)), ("stream", stream.map(JSON.string)),
    ])
    socket.send(VonageWire.text(MessageContent("error", fields)))
  }

  // MARK: Connections

  private func connect(_ message: MessageContent, on socket: SignallingSocket) {
    guard let id = message["session"]?.string, let text = message["token"]?.string else {
      return environment.malformed("connect")
    }
    if let refusal { return refuse(refusal, "session", socket) }
    guard Self.isValid(session: id) else { return refuse(1_005, "session", socket) }
    let now = environment.clock.wallClock.unixSeconds(at: environment.clock.now)
    guard let token = VonageToken(text, session: id, at: now) else { return refuse(1_004, "session", socket) }
    let session = session(id)
    if session.mode == .relayed, session.clients.count >= 2 { return refuse(1_403, "session", socket) }
    guard session.clients.count < limits.connections else { return refuse(1_027, "session", socket) }
    count = Defect.callIDsOfProcess.isPlanted ? CallsOfProcess.next() : count + 1
    let client = VonageClient(
      VonageConnection(id: "c\(count)", user: token.user), secret: Hexadecimal.encode(secrets.bytes(16)),
      role: token.role, environment)
    client.socket = socket
    session.add(client)
    client.send(
      "connected",
      [
        ("connection", client.connection.json), ("secret", .string(client.secret)),
        ("role", .string(client.role.rawValue)), ("mode", .string(session.mode.rawValue)),
        ("connections", session.connections(without: client)), ("streams", session.streams),
      ])
    watch(client, in: session)
    watchIdle(client, in: session)
  }

  private static func isValid(session id: String) -> Bool {
    !id.isEmpty && id.utf8.count <= 128
      && id.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
          true
        default: false
        }
      }
  }

  /// Returns a session, which is routed where nobody has created it.
  private func session(_ id: String) -> VonageServerSession {
    if let session = sessions.first(where: { $0.id == id }) { return session }
    let session = VonageServerSession(id, mode: .routed, environment)
    sessions.append(session)
    return session
  }

  private func resume(_ message: MessageContent, on socket: SignallingSocket) {
    let secret = message["secret"]?.string
    for session in sessions {
      guard let client = session.clients.first(where: { $0.secret == secret }) else { continue }
      if let old = client.socket, old !== socket {
        sockets.removeAll { $0 === old }
        old.drop()
      }
      client.socket = socket
      watch(client, in: session)
      takeStreams(message, client, session)
      client.send(
        "resumed", [("connections", session.connections(without: client)), ("streams", session.streams)])
      client.repeatMissed(message)
      if session.mode == .relayed { repeatWishes(for: client, session) }
      return
    }
    guard let reason = secret.flatMap({ expelled[$0] }) else { return refuse(1_022, "session", socket) }
    socket.send(VonageWire.text(MessageContent("disconnected", JSON.members([("reason", .string(reason))]))))
  }

  /// Takes what the client publishes and subscribes to now: it may have changed while it was away.
  private func takeStreams(_ message: MessageContent, _ client: VonageClient, _ session: VonageServerSession) {
    let streams = message["streams"]?.array ?? []
    for gone in client.published where !streams.contains(where: { $0["publisher"]?.string == gone.publisher }) {
      session.unpublish(gone.stream.id, of: client)
    }
    for stream in streams {
      guard let id = stream["id"]?.string, let hasAudio = stream["hasAudio"]?.flag,
        let hasVideo = stream["hasVideo"]?.flag
      else { continue }
      session.change(id, hasAudio: hasAudio, hasVideo: hasVideo, of: client)
    }
    let wanted = message["subscriptions"]?.array ?? []
    for gone in client.subscriptions.map(\.stream) where !wanted.contains(where: { $0["stream"]?.string == gone }) {
      unsubscribe(client, from: gone, session)
    }
    for one in wanted { subscribe(one, client, session) }
    session.update()
  }

  private func leave(_ client: VonageClient, _ session: VonageServerSession) {
    session.remove(client, reason: "clientDisconnected")
  }

  /// Notes that a client is there.
  private func watch(_ client: VonageClient, in session: VonageServerSession) {
    client.presence = environment.clock.schedule(after: Self.presenceTime) { [weak self, weak client] in
      if let client { self?.expel(client, from: session, reason: "networkDisconnected") }
    }
  }

  /// Begins the time of a client without a publisher or subscriber, or ends it.
  private func watchIdle(_ client: VonageClient, in session: VonageServerSession) {
    guard client.isIdle, session.clients.contains(where: { $0 === client }) else { return client.idle = nil }
    guard client.idle == nil else { return }
    client.idle = environment.clock.schedule(after: Self.idleTime) { [weak self, weak client] in
      if let client { self?.expel(client, from: session, reason: "mediaIdle") }
    }
  }

  /// Disconnects a client, and tells it why, if it can hear that.
  private func expel(_ client: VonageClient, from session: VonageServerSession, reason: String) {
    let socket = client.socket
    if reason != "networkDisconnected" {
      expelled[client.secret] = reason
      client.send("disconnected", [("reason", .string(reason))])
    }
    session.remove(client, reason: reason)
    guard let socket else { return }
    sockets.removeAll { $0 === socket }
    socket.onClose = nil
    if reason == "networkDisconnected" { socket.drop() } else { socket.close() }
  }

  // MARK: Media

  private func receivedMedia(_ message: MessageContent, _ client: VonageClient, _ session: VonageServerSession) {
    switch message.type {
    case "publish": publish(message, client, session)
    case "unpublish": session.unpublish(message["stream"]?.string ?? "", of: client)
    case "update":
      guard let stream = message["stream"]?.string, let hasAudio = message["hasAudio"]?.flag,
        let hasVideo = message["hasVideo"]?.flag
      else { return environment.malformed("update") }
      session.change(stream, hasAudio: hasAudio, hasVideo: hasVideo, of: client)
    case "subscribe":
      subscribe(JSON.object(message.fields), client, session)
      session.update()
    case "unsubscribe":
      unsubscribe(client, from: message["stream"]?.string ?? "", session)
      session.update()
    case "media": media(message, client, session)
    default: environment.malformed(message.type)
    }
  }

  private func publish(_ message: MessageContent, _ client: VonageClient, _ session: VonageServerSession) {
    guard client.role != .subscriber, let publisher = message["publisher"]?.string,
      let name = message["name"]?.string, let hasAudio = message["hasAudio"]?.flag,
      let hasVideo = message["hasVideo"]?.flag, let fallsBack = message["fallback"]?.flag
    else { return environment.malformed("publish") }
    if let known = client.published.first(where: { $0.publisher == publisher }) {
      // The answer to it was lost, and with it what came next.
      client.send("published", [("publisher", .string(publisher)), ("stream", .string(known.stream.id))])
      session.repeatCreated(known, to: client)
      if session.mode == .relayed { repeatWishes(for: client, session) }
      return session.change(known.stream.id, hasAudio: hasAudio, hasVideo: hasVideo, of: client)
    }
    count += 1
    let stream = VonageStream(
      id: "s\(count)", connection: client.connection, name: name, hasAudio: hasAudio, hasVideo: hasVideo)
    client.send("published", [("publisher", .string(publisher)), ("stream", .string(stream.id))])
    session.publish(
      .init(
        publisher: publisher, stream: stream, fallsBack: fallsBack, isAnnounced: session.mode == .relayed),
      of: client)
  }

  private func subscribe(_ wanted: JSON, _ client: VonageClient, _ session: VonageServerSession) {
    guard let stream = wanted["stream"]?.string, let audio = wanted["audio"]?.flag, let video = wanted["video"]?.flag,
      let number = wanted["number"]?.integer, let socket = client.socket
    else { return environment.malformed("subscribe") }
    let isNew = !client.subscriptions.contains { $0.stream == stream }
    guard let publisher = session.publisher(of: stream) else {
      return refuse(1_604, "subscriber", stream: stream, socket)
    }
    if isNew, client.subscriptions.count >= limits.subscribers {
      return refuse(1_605, "subscriber", stream: stream, socket)
    }
    if isNew, session.mode == .relayed, publisher.socket == nil {
      return refuse(1_606, "subscriber", stream: stream, socket)
    }
    let subscription = VonageClient.Subscription(stream: stream, audio: audio, video: video, number: number)
    session.subscribe(client, subscription)
    if session.mode == .relayed { pass(subscription, to: publisher) }
  }

  private func pass(_ wish: VonageClient.Subscription, to publisher: VonageClient) {
    publisher.send(
      "subscribe",
      [
        ("stream", .string(wish.stream)), ("audio", .bool(wish.audio)), ("video", .bool(wish.video)),
        ("number", .integer(wish.number)),
      ])
  }

  /// Says again what the other client of a relayed session wants of a client that may have missed it.
  private func repeatWishes(for client: VonageClient, _ session: VonageServerSession) {
    let wishes = session.others(than: client).flatMap(\.subscriptions)
    for stream in client.published.map(\.stream.id) {
      if let wish = wishes.first(where: { $0.stream == stream }) {
        pass(wish, to: client)
      } else {
        client.send("unsubscribe", [("stream", .string(stream))])
      }
    }
  }

  private func unsubscribe(_ client: VonageClient, from stream: String, _ session: VonageServerSession) {
    session.unsubscribe(client, from: stream)
    if session.mode == .relayed {
      session.publisher(of: stream)?.send("unsubscribe", [("stream", .string(stream))])
    }
  }

  private func media(_ message: MessageContent, _ client: VonageClient, _ session: VonageServerSession) {
    guard let number = message["number"]?.integer, (1...1_000_000).contains(number) else {
      return environment.malformed("media")
    }
    if session.mode == .relayed {
      for other in session.others(than: client) {
        other.send(
          "media",
          [
            ("number", .integer(number)), ("from", .string(client.connection.id)),
            ("description", message["description"]), ("ice", message["ice"]),
          ])
      }
      return
    }
    guard !client.isIdle, let negotiator = client.seat(number, connections) else { return }
    if let ice = message["ice"] { negotiator.receive(ice: ice) }
    if let description = message["description"] {
      do throws(SessionError) { try negotiator.receive(description) } catch {
        environment.malformed("description of \(client.connection.user): \(error)")
        for published in client.published { reject(published.stream.id, "publisher", 1_610, client) }
        for subscription in client.subscriptions { reject(subscription.stream, "subscriber", 1_600, client) }
        return
      }
    }
    session.update()
  }

  private func reject(_ stream: String, _ domain: String, _ code: Int64, _ client: VonageClient) {
    if let socket = client.socket { refuse(code, domain, stream: stream, socket) }
  }

  // MARK: Signals and moderation

  private func signal(_ message: MessageContent, _ client: VonageClient, _ session: VonageServerSession) {
    guard let number = message["number"]?.integer, let type = message["name"]?.string,
      let data = message["data"]?.string
    else { return environment.malformed("signal") }
    let signal = VonageSignal(type: type, data: data, to: message["to"]?.string)
    var code = signal.problem.flatMap(Int64.init)
    let receivers = signal.to.map { to in session.clients.filter { $0.connection.id == to } } ?? session.clients
    if receivers.isEmpty || client.role == .subscriber { code = 1_550 }
    // A repeated one was delivered before.
    if code == nil, client.takes(signal: number) {
      for receiver in receivers {
        let isTaken = receiver.signal([
          ("name", .string(type)), ("data", .string(data)), ("from", .string(client.connection.user)),
        ])
        guard !isTaken else { continue }
        code = 1_550
        let user = receiver.connection.user
        environment.undeliverable(
          SignallingMessage(type: "signal", from: client.connection.user, to: user, text: data))
      }
    }
    client.send("signalConfirmed", [("number", .integer(number)), ("code", code.map(JSON.integer))])
  }

  private func moderate(_ message: MessageContent, _ client: VonageClient, _ session: VonageServerSession) {
    guard let request = message["request"]?.string, ["disconnect", "mute"].contains(request),
      let target = session.clients.first(where: { $0.connection.id == message["connection"]?.string }),
      let socket = client.socket
    else { return environment.malformed("moderate") }
    guard client.role == .moderator else {
      return refuse(request == "disconnect" ? 1_520 : 1_540, "request", socket)
    }
    if request == "mute" { return target.mute(by: client.connection.user) }
    expel(target, from: session, reason: "forceDisconnected")
  }

  // MARK: The REST API and the account

  private func requested(_ text: String, on socket: SignallingSocket) {
    OperatorRequests.answer(
      VonageWire.message(text), on: socket, environment, text: VonageWire.text, carryOut: problem(of:))
  }

  /// Carries a request out, or returns why not.
  private func problem(of request: MessageContent) -> String? {
    switch request["request"]?.string {
    case "create-session":
      guard let id = request["session"]?.string, Self.isValid(session: id) else { return "the session's id is invalid" }
      guard let mode = request["mode"]?.string.flatMap(VonageMode.init) else { return "there is no such mode" }
      guard !sessions.contains(where: { $0.id == id }) else { return "there is a session '\(id)' already" }
      sessions.append(VonageServerSession(id, mode: mode, environment))
    case "set-limit":
      guard let count = request["count"]?.integer, count >= 0 else { return "there is no such limit" }
      switch request["what"]?.string {
      case "connections": limits.connections = count
      case "subscribers": limits.subscribers = count
      default: return "there is no such limit"
      }
    case "invite":
      // In the product the app's own backend sends the push, and knows the session from the app.
      guard let id = request["session"]?.string, Self.isValid(session: id), let user = request["user"]?.string else {
        return "the session's id is invalid"
      }
      environment.push(["session": id], to: user)
    case "set-refusal": refusal = request["code"]?.string.flatMap { Int64($0) }
    default: return "there is no such request"
    }
    return nil
  }
}
