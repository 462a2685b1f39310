internal import CallCore
public import VirtualPeer
internal import Vocabulary

/// The app's Socket.IO connection: connects, answers pings, detects loss, reconnects.
///
/// Events emitted while it is down are lost, as in the product's client. ``KnotosApp`` is written on it, and an app of your
/// own may be.
public final class SocketIOClient {
  /// The states of the connection, as the value `socket.state` has them.
  public enum State: String, Sendable {
    /// There is none; the next attempt comes by itself.
    case disconnected
    /// The first answer of the server is awaited.
    case connecting
    /// Events go both ways.
    case connected
  }

  /// The time from a loss to the next attempt.
  static let reconnectDelay = Interval.seconds(10)

  /// Called for each event of the server.
  public var onEvent: ((_ name: String, _ arguments: [JSON]) -> Void)?
  /// Called when the state is another.
  public var onState: ((State) -> Void)?
  var onMalformed: (() -> Void)?
  /// Called when packets go by another transport from now on; nil is none.
  var onTransport: ((EngineIOChannel.Transport?) -> Void)?
  var onProblem: ((EngineIOChannel.Problem) -> Void)?
  /// The present state.
  public private(set) var state = State.disconnected {
    didSet { if state != oldValue { onState?(state) } }
  }

  private let environment: PeerEnvironment
  private var channel: EngineIOChannel?
  private var connectionCount = 0
  private var liveness: PeerTimer?
  private var retry: PeerTimer?
  /// The longest time without a ping from the server (pingInterval + pingTimeout).
  private var silenceLimit = Interval.seconds(45)

  private let transports: EngineIOChannel.Transports

  /// Creates the client of a device; it does nothing before ``connect()``.
  public init(environment: PeerEnvironment) {
    self.environment = environment
    transports = environment.settings.text("socket-transports").flatMap { .init(rawValue: $0) } ?? .websocket
  }

  /// Connects to the server, and again after each loss.
  public func connect() {
    retry?.cancel()
    retry = nil
    connectionCount += 1
    state = .connecting
    let server = environment.endpoint(of: ServerDeclaration.signalling.name)
    let channel = EngineIOChannel(
      to: server, on: environment.network, transports: transports, path: KnotosServer.path,
      random: environment.random.stream("websocket/\(connectionCount)"))
    self.channel = channel
    channel.onText = { [weak self] text in self?.received(text) }
    channel.onTransport = { [weak self] transport in self?.onTransport?(transport) }
    channel.onProblem = { [weak self] problem in self?.onProblem?(problem) }
    channel.onClose = { [weak self] in self?.lost() }
    watchLiveness()
  }

  /// Emits an event with one object.
  ///
  /// - Returns: false if the socket is down and the event is lost.
  @discardableResult
  public func emit(_ name: String, _ members: [JSON.Member]) -> Bool {
    emit(.event(name: name, arguments: [.object(members)], acknowledgement: nil))
  }

  /// Emits an event.
  ///
  /// - Returns: false if the socket is down and the event is lost.
  @discardableResult
  func emit(_ packet: SocketIOPacket) -> Bool {
    guard state == .connected, let channel else { return false }
    channel.send(EngineIOPacket(.message, packet.text).text)
    return true
  }

  /// Handles a change of the interfaces: a connection from a removed address is dead, and the OS reports it.
  public func networkChanged() {
    guard let channel else {
      if retry != nil { connect() }
      return
    }
    guard !channel.isLocalAddressAlive else { return }
    drop(channel)
    connect()
  }

  /// Disconnects, and calls nothing any more.
  public func shutDown() {
    retry?.cancel()
    retry = nil
    liveness?.cancel()
    (onState, onTransport, onProblem) = (nil, nil, nil)
    if let channel {
      if state == .connected { channel.send(EngineIOPacket(.message, SocketIOPacket.disconnect.text).text) }
      channel.onClose = nil
      channel.close()
    }
    channel = nil
  }

  private func watchLiveness() {
    liveness?.cancel()
    liveness = environment.clock.schedule(after: silenceLimit) { [weak self] in
      guard let self, let channel else { return }
      drop(channel)
      lost()
    }
  }

  private func drop(_ channel: EngineIOChannel) {
    channel.onClose = nil
    channel.onText = nil
    channel.abort()
    self.channel = nil
    onTransport?(nil)
  }

  private func lost() {
    if channel != nil { onTransport?(nil) }
    channel = nil
    liveness?.cancel()
    state = .disconnected
    retry?.cancel()
    retry = environment.clock.schedule(after: Self.reconnectDelay) { [weak self] in self?.connect() }
  }

  private func received(_ text: String) {
    guard let packet = EngineIOPacket(parsing: text) else {
      onMalformed?()
      return
    }
    watchLiveness()
    switch packet.kind {
    case .open:
      guard let body = try? JSON(parsing: packet.payload.utf8),
        let interval = body["pingInterval"]?.integer, let timeout = body["pingTimeout"]?.integer,
        (1...3_600_000).contains(interval), (1...3_600_000).contains(timeout)
      else {
        onMalformed?()
        return
      }
      silenceLimit = .milliseconds(interval + timeout)
      watchLiveness()
      let user: JSON = ["userId": .string(environment.userID)]
      channel?.send(EngineIOPacket(.message, SocketIOPacket.connect(user).text).text)
    case .ping: channel?.send(EngineIOPacket(.pong, packet.payload).text)
    case .close: channel?.close()
    case .message: handle(packet.payload)
    case .pong, .upgrade, .noop: break
    }
  }

  private func handle(_ payload: String) {
    do {
      switch try SocketIOPacket(parsing: payload) {
      case .connect: state = .connected
      case .event(let name, let arguments, _): onEvent?(name, arguments)
      case .disconnect, .connectError: channel?.close()
      case .acknowledgement: break
      }
    } catch {
      onMalformed?()
    }
  }
}
