package import CallCore
internal import CallSession
package import DTLS
internal import LibC

/// Runs a sans-IO server on real sockets: datagrams and connections at its addresses, and its timers.
package class SocketServer<Machine: SansIO & ~Copyable> {
  let loop: SocketLoop
  var machine: Machine
  private var sockets: [Endpoint: any LiveSocket] = [:]
  /// Asked for once: the kernel may take its time, and every client would wait for it.
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
    // Sockets take their watches off the loop when they go, and this may be the last to hold it: they go first.
    for (_, socket) in sockets { socket.close() }
    sockets = [:]
    listeners = []
    streams = StreamConnections()
  }

  /// How often a port that UDP gave is tried for TCP, where somebody may have it.
  private static var portAttempts: Int { 16 }

  /// Serves an address by UDP and TCP, at the same port; the kernel chooses it where 0 was asked for.
  ///
  /// A wildcard stands for each address of its family that the machine has: an answer has to come from where its request
  /// went (RFC 8489 section 6.3.1.3), and a socket for all of them sends from where the route begins.
  ///
  /// - Returns: where it serves.
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

  /// Serves an address by TLS alone; a wildcard and port 0 are as for ``listen(on:)``.
  ///
  /// - Parameter context: as whom.
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

  /// - Returns: where the socket is.
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

  /// Nameless for an address that no interface has.
  private func interface(at address: IPAddress) -> InterfaceAddress {
    addresses.first { $0.address == address } ?? InterfaceAddress(name: "", address: address, index: 0)
  }

  func close(_ endpoint: Endpoint) { sockets.removeValue(forKey: endpoint)?.close() }

  /// What the server asks of its sockets.
  func handle(_ event: Machine.Event) {}

  /// A client's connection is gone.
  func streamEnded(_ path: Path, _ end: TURNStream.End) {}

  /// Whether a silent connection is to stay.
  func needsStream(_ path: Path) -> Bool { false }

  // MARK: Connections

  private func accept(_ accepted: any ByteStream, _ path: Path) {
    // The kernel has given this place away: the connection that had it is gone, though nobody has read of it yet.
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
