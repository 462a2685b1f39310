package import CallCore
internal import DTLS
internal import PeerSession
internal import SimNet

/// A listening port of a server, and its transport.
package struct ServerListener: Hashable, Sendable {
  package var transport: Path.Transport
  package var port: UInt16

  package init(_ transport: Path.Transport, port: UInt16) {
    self.transport = transport
    self.port = port
  }
}

/// Runs a sans-IO server on a host: its sockets, connections and timers, and the faults of its answers.
package class SocketServerHost<Machine: SansIO & ~Copyable> {
  let runtime: HostRuntime
  var machine: Machine
  /// Whether the server receives and sends nothing (`stun.silent`).
  package var isSilent = false
  /// The delay of every datagram that the server sends.
  private let delay: Interval
  private let listeners: [ServerListener]
  package let tls: TLSListener?
  private(set) var sockets: [(endpoint: Endpoint, socket: UDPSocket)] = []
  private var streams: [(path: Path, stream: TURNStream)] = []
  /// The number of datagrams ignored because the server was silent.
  package private(set) var unheardCount = 0
  package var streamCount: Int { streams.count }
  private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
  private var timer: PeerTimer?

  init(
    machine: consuming Machine, runtime: HostRuntime, listeners: [ServerListener], tls: TLSListener? = nil,
    delay: Interval
  ) {
    self.machine = machine
    self.runtime = runtime
    self.listeners = listeners
    self.tls = tls
    self.delay = delay
  }

  deinit { buffer.deallocate() }

  /// Listens on every address.
  package func start() {
    let addresses = runtime.network.activeInterfaces.flatMap(\.addresses)
    for listener in listeners {
      switch listener.transport {
      case .udp: for address in addresses { open(Endpoint(address, port: listener.port)) }
      case .tcp: runtime.network.listen(on: listener.port) { [unowned self] in accept($0, nil) }
      case .tls: runtime.network.listen(on: listener.port) { [unowned self] in accept($0, tls?.accept()) }
      }
    }
  }

  private func accept(_ accepted: PeerStream, _ tls: TLSConnection?) {
    guard let local = accepted.local else { return }
    let path = Path(local: local, remote: accepted.remote, transport: tls == nil ? .tcp : .tls)
    let bytes = SimulatedByteStream(accepted, isConnected: true)
    let stream = TURNStream(bytes, tls: tls) { [clock = runtime.clock] in clock.now }
    streams.append((path, stream))
    stream.onKeyLog = { [unowned self] line in learnt(keyLog: line) }
    if tls != nil { stream.onAnswered = { [unowned self] in self.tls?.certificateShown() } }
    stream.onSecured = { [unowned self] tls in streamSecured(path, tls) }
    stream.onMessage = { [unowned self] message in
      guard hears() else { return }
      receive(message, on: path)
      drain()
    }
    stream.onEnd = { [unowned self] end in
      streams.removeAll { $0.path == path }
      streamEnded(path, end)
      drain()
    }
  }

  /// Passes a datagram, or a message of a connection, to the server.
  func receive(_ message: RawSpan, on path: Path) { machine.receive(message, on: path, at: runtime.clock.now) }

  /// Handles a completed TLS handshake with a client.
  func streamSecured(_ path: Path, _ tls: TLSConnection) {}

  /// Handles the secrets that decrypt a client's connection.
  func learnt(keyLog line: String) {}

  /// Handles the end of a client's connection.
  func streamEnded(_ path: Path, _ end: TURNStream.End) {}

  /// Ends every client's connection with an RST.
  package func resetStreams() {
    let ended = streams
    streams = []
    for (path, stream) in ended {
      stream.abort()
      streamEnded(path, .closed)
    }
    drain()
  }

  @discardableResult
  func open(_ endpoint: Endpoint) -> Bool {
    let socket = runtime.network.openDatagramSocket(address: endpoint.address, port: endpoint.port) {
      [unowned self] datagram, path in
      guard hears() else { return }
      receive(datagram, on: path)
      drain()
    }
    guard let socket else { return false }
    sockets.append((endpoint, socket))
    return true
  }

  func close(_ endpoint: Endpoint) {
    for (known, socket) in sockets where known == endpoint { runtime.network.close(socket) }
    sockets.removeAll { $0.endpoint == endpoint }
  }

  package func shutDown() {
    timer?.cancel()
    timer = nil
    for (_, socket) in sockets { runtime.network.close(socket) }
    sockets = []
    for (_, stream) in streams { stream.abort() }
    streams = []
  }

  /// Handles an event of the server.
  func handle(_ event: Machine.Event) {}

  func drain() {
    var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
    var events: [Machine.Event] = []
    let wake = pump(
      &machine, buffer: &output, send: { datagram, path in send(datagram, path) }, event: { events.append($0) })
    _ = output.finalize(for: buffer)
    timer?.cancel()
    timer = wake.deadline.map { deadline in
      runtime.clock.schedule(at: deadline) { [unowned self] in
        timer = nil
        machine.advance(to: runtime.clock.now)
        drain()
      }
    }
    guard !events.isEmpty else { return }
    for event in events { handle(event) }
    drain()
  }

  /// Returns whether a received message is heard, and counts it if it is not.
  private func hears() -> Bool {
    if isSilent { unheardCount += 1 }
    return !isSilent
  }

  private func send(_ message: RawSpan, _ path: Path) {
    guard !isSilent else { return }
    guard delay > .zero else { return sendNow(message, path) }
    let bytes = message.copied
    runtime.clock.schedule(after: delay) { [unowned self] in sendNow(bytes.span.bytes, path) }
  }

  private func sendNow(_ message: RawSpan, _ path: Path) {
    switch path.transport {
    case .udp:
      guard let socket = sockets.first(where: { $0.endpoint == path.local })?.socket else { return }
      runtime.network.simulator.send(message, from: socket, to: path.remote, ecn: path.ecn)
    case .tcp, .tls: streams.first { $0.path == path.unmarked }?.stream.send(message)
    }
  }
}
