public import CallCore
internal import Formats

/// The client's end of an Engine.IO v4 session: packets as text, by HTTP long-polling, by WebSocket, or by the one and
/// then the other.
public final class EngineIOChannel {
  /// The transports that a client uses.
  public enum Transports: String, CaseIterable, Sendable {
    case polling, websocket
    /// Polling, and WebSocket as soon as it is proved to work.
    case both
  }

  /// The transport in use.
  public enum Transport: String, CaseIterable, Sendable { case polling, websocket }

  /// An error of the transport.
  public enum Problem: Hashable, Sendable {
    /// The server does not know the session (400 with code 1).
    case unknownSession
    /// The server refused a request with this status.
    case refused(status: Int)
    /// A response was not HTTP, or no packets were in it.
    case malformed
    /// WebSocket was not proved to work; polling goes on.
    case probeFailed
    /// TLS failed, for this reason: the certificate of the server for example.
    case tls(String)
  }

  /// Called for each packet.
  public var onText: ((String) -> Void)?
  /// Called when packets go by this transport from now on.
  public var onTransport: ((Transport) -> Void)?
  /// Called for an error of the transport; before `onClose`, if the session ends with it.
  public var onProblem: ((Problem) -> Void)?
  /// Called once, however the session ended, unless this end ended it.
  public var onClose: (() -> Void)?

  private let server: Endpoint
  private let network: PeerNetwork
  private let transports: Transports
  private let path: String
  private var random: RandomStream?
  private let polls: HTTPClientConnection
  private let posts: HTTPClientConnection
  private var webSocket: WebSocketChannel?
  private var probe: WebSocketChannel?
  private var hasTriedUpgrade = false
  /// Whether WebSocket is proved to work, and the last requests are awaited.
  private var isPausing = false
  private var session: (id: String, maxPayload: Int)?
  /// The packets that wait for a request.
  private var queue: [String] = []
  private var receivedCount = 0
  private var isOver = false

  /// Begins a session.
  ///
  /// - Parameters:
  ///   - path: The path of every request.
  ///   - random: The source for the keys of the session's WebSocket.
  public init(
    to server: Endpoint, on network: PeerNetwork, transports: Transports, path: String, random: consuming RandomStream
  ) {
    self.server = server
    self.network = network
    self.transports = transports
    self.path = path
    self.random = .some(random)
    polls = HTTPClientConnection(to: server, on: network)
    posts = HTTPClientConnection(to: server, on: network)
    if transports == .websocket {
      let channel = makeWebSocket()
      channel.onOpen = { [weak self] _ in self?.onTransport?(.websocket) }
      take(channel)
    } else {
      poll()
    }
  }

  /// The identity of a frame: both ends know the session and number the packets to the client alike.
  static func identity(ofFrame number: Int, in session: String) -> UInt64 { FNV1a.hash(of: "\(session) \(number)") }

  /// Whether the device still has the local address of the connection.
  public var isLocalAddressAlive: Bool {
    webSocket?.isLocalAddressAlive ?? polls.isLocalAddressAlive ?? posts.isLocalAddressAlive ?? true
  }

  /// Sends a packet.
  public func send(_ text: String) {
    guard !isOver else { return }
    if let webSocket { return webSocket.send(text) }
    queue.append(text)
    post()
  }

  /// Sends what waits and ends the session.
  public func close() {
    guard !isOver else { return }
    isOver = true
    if let probe { silence(probe).close() }
    if let webSocket { return silence(webSocket).close() }
    if session != nil {
      let last = EngineIOPacket.body(of: queue + [EngineIOPacket(.close).text])
      posts.close(with: request("POST", last))
    } else {
      posts.close()
    }
    polls.close()
  }

  /// Drops every connection at once.
  public func abort() {
    isOver = true
    for case let channel? in [webSocket, probe] { silence(channel).abort() }
    polls.abort()
    posts.abort()
  }

  private func silence(_ channel: WebSocketChannel) -> WebSocketChannel {
    (channel.onOpen, channel.onText, channel.onClose) = (nil, nil, nil)
    return channel
  }

  /// Ends the session because of the server or the network.
  private func end(_ problem: Problem? = nil) {
    guard !isOver else { return }
    abort()
    if let problem { onProblem?(problem) }
    let report = onClose
    (onText, onTransport, onProblem, onClose) = (nil, nil, nil, nil)
    report?()
  }

  // MARK: Polling

  private func target(_ transport: Transport) -> String {
    "\(path)?EIO=4&transport=\(transport.rawValue)" + (session.map { "&sid=\($0.id)" } ?? "")
  }

  private func request(_ method: String, _ body: [UInt8]? = nil) -> HTTPMessage {
    HTTPMessage(method, target(.polling), host: "\(server)", body: body)
  }

  private func poll() {
    polls.send(request("GET")) { [weak self] result in
      guard let self, let response = take(result) else { return }
      received(response.body)
      guard !isOver else { return }
      if isPausing { goOver() } else { poll() }
    }
  }

  /// Returns a successful response; ends the session without one.
  private func take(_ result: Result<HTTPMessage, HTTPClientConnection.Failure>) -> HTTPMessage? {
    switch result {
    case .success(let response):
      guard let status = response.status, status != 200 else { return response }
      let code = (try? JSON(parsing: response.body))?["code"]?.integer
      end(status == 400 && code == 1 ? .unknownSession : .refused(status: status))
    case .failure(.malformed): end(.malformed)
    case .failure(.tls(let reason)): end(.tls(reason))
    case .failure(.closed): end()
    }
    return nil
  }

  private func received(_ body: [UInt8]) {
    guard let text = String(validating: body, as: UTF8.self) else { return end(.malformed) }
    for text in EngineIOPacket.texts(inBody: text) where !isOver {
      if text == EngineIOPacket(.close).text { return end() }
      if session == nil { begin(with: text) }
      received(text) { polls.traceArrival(ofFrame: $0) }
    }
    if session == nil { end(.malformed) }
  }

  /// Reads the open packet.
  private func begin(with text: String) {
    guard let packet = EngineIOPacket(parsing: text), packet.kind == .open,
      let body = try? JSON(parsing: packet.payload.utf8), let id = body["sid"]?.string, !id.isEmpty,
      id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "&") })
    else { return }
    session = (id, body["maxPayload"]?.integer.map { Int(clamping: $0) } ?? .max)
    onTransport?(.polling)
    let upgrades = body["upgrades"]?.array?.compactMap(\.string) ?? []
    if transports == .both, upgrades.contains(Transport.websocket.rawValue) { tryWebSocket() }
  }

  private func received(_ text: String, _ trace: (UInt64) -> Void) {
    if let session, text != EngineIOPacket(.noop).text {
      receivedCount += 1
      trace(Self.identity(ofFrame: receivedCount, in: session.id))
    }
    onText?(text)
  }

  /// Sends the packets that wait, as many as the server takes in one request.
  private func post() {
    guard let session, !isOver, !isPausing, !posts.isBusy, !queue.isEmpty else { return }
    var size = queue[0].utf8.count
    var count = 1
    while count < queue.count, size + 1 + queue[count].utf8.count <= session.maxPayload {
      size += 1 + queue[count].utf8.count
      count += 1
    }
    let body = EngineIOPacket.body(of: queue[..<count])
    queue.removeFirst(count)
    posts.send(request("POST", body)) { [weak self] result in
      guard let self, take(result) != nil else { return }
      if isPausing { goOver() } else { post() }
    }
  }

  // MARK: WebSocket

  private func makeWebSocket() -> WebSocketChannel {
    WebSocketChannel(
      stream: network.connect(to: server),
      socket: WebSocket(
        .client, host: "\(server)", path: target(.websocket), random: random.take()!))
  }

  private func take(_ channel: WebSocketChannel) {
    webSocket = channel
    channel.onText = { [weak self, unowned channel] text in
      guard let self else { return }
      if channel.tracesArrivals { onText?(text) } else { received(text) { channel.traceArrival(ofFrame: $0) } }
    }
    channel.onClose = { [weak self, unowned channel] in self?.end(channel.tlsFailure.map { .tls($0) }) }
  }

  private func tryWebSocket() {
    let channel = makeWebSocket()
    channel.tracesArrivals = false
    probe = channel
    channel.onOpen = { [unowned channel] _ in channel.send(EngineIOPacket(.ping, "probe").text) }
    channel.onText = { [weak self, unowned channel] text in
      guard let self else { return }
      guard text == EngineIOPacket(.pong, "probe").text else { return channel.close() }
      isPausing = true
      goOver()
    }
    channel.onClose = { [weak self] in self?.probeFailed() }
  }

  private func probeFailed() {
    probe = nil
    onProblem?(.probeFailed)
    guard isPausing else { return }
    isPausing = false
    if !polls.isBusy { poll() }
    post()
  }

  /// Goes over to WebSocket, once no request is open.
  private func goOver() {
    guard isPausing, let channel = probe, !polls.isBusy, !posts.isBusy else { return }
    (isPausing, probe) = (false, nil)
    take(channel)
    channel.send(EngineIOPacket(.upgrade).text)
    polls.close()
    posts.close()
    onTransport?(.websocket)
    for text in queue { channel.send(text) }
    queue = []
  }
}
