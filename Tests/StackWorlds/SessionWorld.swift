import CallCore
import PeerSession

/// One side's environment: addresses without NATs, and connections on which whole messages are delivered.
final class SessionWorld: SessionEnvironment {
  final class Socket {
    let local: Endpoint
    let receive: (RawSpan, Path) -> Void

    init(_ local: Endpoint, _ receive: @escaping (RawSpan, Path) -> Void) {
      self.local = local
      self.receive = receive
    }
  }

  weak var pair: SessionPair?
  var nextSocket: (Endpoint) -> Endpoint? = { Endpoint($0.address, port: $0.port + 1) }
  var events: [SessionEvent] = []
  var observations: [SessionObservation] = []
  var candidates: [(text: String?, mid: String, index: Int)] = []
  var shown: [RenderedVideoFrame] = []
  private(set) var namesAsked: [String] = []
  private(set) var furtherSockets: [Socket] = []
  private(set) var socketsAsked = 0
  private(set) var streamsClosed: [Path] = []
  private var lastFurtherSocket: Endpoint?
  private var interfaceSockets: [Socket] = []
  private var streams: [MessageStream] = []

  var now: Instant { pair?.now ?? .zero }
  let wallClock = WallClock()

  func openSocket(
    on address: IPAddress, beside base: Endpoint?, receive: @escaping (RawSpan, Path) -> Void
  ) -> (socket: Socket, local: Endpoint)? {
    guard let base else {
      interfaceSockets.append(Socket(Endpoint(address, port: 5_000), receive))
      return (interfaceSockets[interfaceSockets.count - 1], Endpoint(address, port: 5_000))
    }
    socketsAsked += 1
    let last = lastFurtherSocket.flatMap { $0.address == address ? $0 : nil }
    guard let local = nextSocket(last ?? base) else { return nil }
    lastFurtherSocket = local
    let socket = Socket(local, receive)
    furtherSockets.append(socket)
    return (socket, local)
  }

  func close(_ socket: Socket) {
    interfaceSockets.removeAll { $0 === socket }
    furtherSockets.removeAll { $0 === socket }
  }

  func send(_ datagram: RawSpan, from socket: Socket, on path: Path) {
    pair?.carry(datagram.copied, on: path, of: self)
  }

  func rendered(_ frame: RenderedVideoFrame) { shown.append(frame) }

  func openStream(on path: Path) -> (any ByteStream)? {
    let stream = MessageStream(path, world: self)
    streams.append(stream)
    return stream
  }

  func resolve(_ name: String, _ answer: @escaping (IPAddress) -> Void) { namesAsked.append(name) }

  func happened(_ event: SessionEvent) {
    if case .iceCandidate(let text, let mid, let index) = event { candidates.append((text, mid, index)) }
    events.append(event)
  }

  func observed(_ observation: SessionObservation) { observations.append(observation) }

  func settled(_ wake: Wake) {}

  // MARK: From the network

  /// - Returns: false when nobody here has that address.
  func take(_ bytes: [UInt8], on path: Path) -> Bool {
    guard let socket = (interfaceSockets + furtherSockets).first(where: { $0.local == path.local }) else {
      return false
    }
    if path.transport == .udp {
      socket.receive(bytes.span.bytes, path)
    } else {
      streams.first { $0.path == path.unmarked }?.onBytes?(bytes.span.bytes)
    }
    return true
  }

  var openPaths: [Path] { streams.map(\.path) }

  func endStream(_ path: Path) {
    let ended = streams.first { $0.path == path }
    streams.removeAll { $0.path == path }
    ended?.onEnd?()
  }

  /// A connection on which each message arrives whole, and TLS is somebody else's affair.
  final class MessageStream: ByteStream {
    let path: Path
    let isConnected = true
    let isSecured = true
    var onConnect: (() -> Void)?
    var onBytes: ((RawSpan) -> Void)?
    var onEnd: (() -> Void)?
    let unsentByteCount = 0
    private unowned let world: SessionWorld

    init(_ path: Path, world: SessionWorld) {
      self.path = path
      self.world = world
    }

    func send(_ bytes: RawSpan) -> Bool {
      world.pair?.carry(bytes.copied, on: path, of: world)
      return true
    }

    func close() {
      world.streams.removeAll { $0 === self }
      world.streamsClosed.append(path)
    }

    func abort() { close() }
  }
}
