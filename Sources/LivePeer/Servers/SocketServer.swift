package import CallCore
package import DTLS
internal import LibC
internal import PeerSession

/// Runs a sans-IO server on real sockets: datagrams and connections at its addresses, and its timers.
package class SocketServer<Machine: SansIO & ~Copyable> {
  let loop: SocketLoop
  var machine: Machine
  private var sockets: [Endpoint: any LiveSocket] = [:]
  /// The machine's addresses, listed once: the kernel may block, and every client would wait.
  private let addresses: [InterfaceAddress]
  private var listeners: [StreamListener] = []
  private var tls: TLSContext?
  private var streams = StreamConnections()
  private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
  private var timer = LoopTimer {}
  private var idleTimer = LoopTimer {}

  init(machine: consuming Machine, loop: SocketLoop) {
    self.machine = machine
    self.loop = loop
    addresses = loop.addresses
    timer = loop.makeTimer { [unowned self] in advance() }
    idleTimer = loop.makeTimer { [unowned self] in closeIdleStreams() }
    idleTimer.deadline = loop.now + StreamConnections.sweepPeriod
  }

  deinit {
    buffer.deallocate()
    for timer in [timer, idleTimer] { loop.remove(timer) }
    streams.closeAll()
    // Sockets remove their watches from the loop, and this may hold its last reference: release them first.
    for (_, socket) in sockets { socket.close() }
    sockets = [:]
    listeners = []
    streams = StreamConnections()
  }

  /// The limit of attempts to find a UDP port that is free for TCP too.
  private static var portAttempts: Int { 16 }

  /// Serves an address by UDP and TCP, at the same port; for port 0 the kernel chooses it.
  ///
  /// Binds one socket for each local address instead of a wildcard: a response must have the request's destination as
  /// its source (RFC 8489 section 6.3.1.3), and a wildcard socket would use the route's preferred source.
  ///
  /// - Returns: the endpoints that are served.
  @discardableResult
  package func listen(on endpoint: Endpoint) throws(SystemError) -> [Endpoint] {
    guard endpoint.address.isUnspecified else { return [try listen(at: endpoint)] }
    var served: [Endpoint] = []
    for address in addresses.map(\.address) where address.isIPv6 == endpoint.address.isIPv6 {
      served.append(try listen(at: Endpoint(address, port: endpoint.port)))
    }
    guard !served.isEmpty else { throw SystemError("listen on \(endpoint)", code: EADDRNOTAVAIL) }
    return served
  }

  /// Serves an address by TLS only; a wildcard and port 0 are handled as in ``listen(on:)``.
  ///
  /// - Parameter context: the server's certificate and key.
  @discardableResult
  package func listen(on endpoint: Endpoint, over context: TLSContext) throws(SystemError) -> [Endpoint] {
    tls = context
    let isWildcard = endpoint.address.isUnspecified
    let wanted =
      isWildcard ? addresses.map(\.address).filter { $0.isIPv6 == endpoint.address.isIPv6 } : [endpoint.address]
    var served: [Endpoint] = []
    for address in wanted {
      let listener = try StreamListener(
        at: Endpoint(address, port: endpoint.port), of: interface(at: address), transport: .tls, loop: loop
      ) { [unowned self] in accept($0, $1) }
      listeners.append(listener)
      served.append(listener.local)
    }
    guard !served.isEmpty else { throw SystemError("listen on \(endpoint)", code: EADDRNOTAVAIL) }
    return served
  }

  private func listen(at endpoint: Endpoint) throws(SystemError) -> Endpoint {
    var attempt = 1
    while true {
      let local = try open(endpoint)
      do throws(SystemError) {
        let interface = interface(at: local.address)
        listeners.append(
          try StreamListener(at: local, of: interface, loop: loop) { [unowned self] in accept($0, $1) })
        return local
      } catch {
        close(local)
        guard endpoint.port == 0, attempt < Self.portAttempts else { throw error }
        attempt += 1
      }
    }
  }

  /// - Returns: the endpoint of the socket.
  @discardableResult
  func open(_ endpoint: Endpoint) throws(SystemError) -> Endpoint {
    let interface = interface(at: endpoint.address)
    let socket = try loop.openSocket(on: interface, ports: endpoint.port...endpoint.port) {
      [unowned self] datagram, path in
      machine.receive(datagram, on: path, at: loop.now)
      drain()
    }
    sockets[socket.local] = socket
    return socket.local
  }

  /// Returns the interface of an address, without a name if no interface has the address.
  private func interface(at address: IPAddress) -> InterfaceAddress {
    addresses.first { $0.address == address } ?? InterfaceAddress(name: "", address: address, index: 0)
  }

  func close(_ endpoint: Endpoint) { sockets.removeValue(forKey: endpoint)?.close() }

  /// Handles an event of the machine.
  func handle(_ event: Machine.Event) {}

  /// Handles the end of a client's connection.
  func streamEnded(_ path: Path, _ end: TURNStream.End) {}

  /// Returns whether an idle connection must stay open.
  func needsStream(_ path: Path) -> Bool { false }

  // MARK: Connections

  private func accept(_ accepted: any ByteStream, _ path: Path) {
    // The kernel has reused this path, so its old connection has ended, though its end has not been read yet.
    if let gone = streams[path] {
      gone.close()
      streams.remove(path)
      streamEnded(path, .closed)
    }
    guard streams.makeRoom(for: path, isNeeded: { needsStream($0) }) else { return accepted.close() }
    let secured = path.transport == .tls ? tls.map { TLSConnection(server: $0, entropy: .system) } : nil
    let stream = TURNStream(accepted, tls: secured, now: { [loop] in loop.now })
    streams.insert(stream, on: path, at: loop.now)
    stream.onMessage = { [unowned self] message in
      machine.receive(message, on: path, at: loop.now)
      drain()
    }
    stream.onEnd = { [unowned self] end in
      streams.remove(path)
      streamEnded(path, end)
      drain()
    }
  }

  private func closeIdleStreams() {
    idleTimer.deadline = loop.now + StreamConnections.sweepPeriod
    streams.closeIdle(at: loop.now) { needsStream($0) }
  }

  // MARK: Pump

  private func advance() {
    machine.advance(to: loop.now)
    drain()
  }

  func drain() {
    var events: [Machine.Event] = []
    repeat {
      events.removeAll(keepingCapacity: true)
      var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
      let wake = pump(
        &machine, buffer: &output, send: { message, path in send(message, path) }, event: { events.append($0) })
      _ = output.finalize(for: buffer)
      timer.deadline = wake.deadline
      for event in events { handle(event) }
    } while !events.isEmpty
  }

  private func send(_ message: RawSpan, _ path: Path) {
    switch path.transport {
    case .udp: sockets[path.local]?.send(message, to: path.remote, ecn: path.ecn)
    case .tcp, .tls: streams[path.unmarked]?.send(message)
    }
  }
}
