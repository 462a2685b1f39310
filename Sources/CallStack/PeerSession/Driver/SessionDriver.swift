public import CallCore
internal import DTLS

/// An address of the device on which a socket is opened.
public struct DeviceAddress: Hashable, Sendable {
  /// The interface's IP address.
  public var address: IPAddress
  /// The interface's name.
  public var name: String
  /// The kind of network, as in W3C `RTCNetworkType`: `wifi`, `cellular`, `ethernet`, …
  public var networkType: String

  /// Makes the address of an interface.
  public init(_ address: IPAddress, name: String, networkType: String) {
    self.address = address
    self.name = name
    self.networkType = networkType
  }
}

/// Runs a ``CallSession`` in an environment: opens and closes its sockets and its connections to TURN servers, resolves
/// names, carries datagrams both ways, and reports events in order.
///
/// What changes the session may make datagrams and events. ``perform(_:)`` changes it and then sends and reports them;
/// reading the session and creating a description need no more than ``session``.
public final class SessionDriver<Environment: SessionEnvironment> {
  /// The session. Change it in ``perform(_:)``.
  public let session: CallSession
  /// The environment that the session runs in.
  public let environment: Environment

  private struct Further {
    let local: Endpoint
    let socket: Environment.Socket
  }

  private let random: RandomSource
  private let tlsConfiguration: TLSClientConfiguration
  private lazy var tls = TLSContext(client: tlsConfiguration)
  private var tlsCount = 0
  /// The interfaces that the session gathers on, one for each address.
  package private(set) var interfaces: [LocalInterface] = []
  /// The sockets of ``interfaces``, in the same order.
  private var sockets: [Environment.Socket] = []
  /// Further sockets: for ICE restarts, and for additional TURN allocations.
  private var furtherSockets: [Further] = []
  /// Connections to TURN servers, by the session's paths.
  private var streams: [(path: Path, stream: TURNStream)] = []
  private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
  /// Whether the session was closed.
  public private(set) var isClosed = false
  /// Whether a closed session has sent its last messages and closed its sockets.
  public private(set) var isSilent = false

  /// Makes a session and its driver. The driver opens no socket before ``setAddresses(_:)``.
  public init(configuration: SessionConfiguration, random: RandomSource, environment: Environment) {
    self.environment = environment
    self.random = random
    tlsConfiguration = configuration.tls
    session = CallSession(configuration: configuration, random: random, at: environment.now)
  }

  deinit { buffer.deallocate() }

  // MARK: The session

  /// Changes the session, and drains its output.
  public func perform<Result, Failure: Error>(
    _ change: (CallSession, Instant) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { drain() }
    return try change(session, environment.now)
  }

  /// Takes a datagram from an environment whose sockets report to it instead of to the driver.
  public func receive(_ datagram: RawSpan, on path: Path) {
    session.receive(datagram, on: path, at: environment.now)
    drain()
  }

  /// Advances the session to the current time. Called at the deadline of ``SessionEnvironment/settled(_:)``.
  public func advance() {
    session.advance(to: environment.now)
    drain()
  }

  /// Sends BYE and close_notify, and closes the session. No event follows; sockets stay open until relays are released,
  /// a second at most.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    session.close(at: environment.now)
    drain()
  }

  // MARK: Sockets

  /// Opens a socket on each new address, and closes the sockets of removed ones. An address whose socket could not be
  /// opened is tried again on the next call.
  public func setAddresses(_ addresses: [DeviceAddress]) {
    guard !isClosed else { return }
    var (current, opened): ([LocalInterface], [Environment.Socket]) = ([], [])
    for wanted in addresses {
      if let known = interfaces.firstIndex(where: { $0.socket.address == wanted.address }) {
        current.append(interfaces.remove(at: known))
        opened.append(sockets.remove(at: known))
      } else if let (socket, local) = open(wanted.address, beside: nil) {
        current.append(
          LocalInterface(
            socket: local, name: wanted.name, networkType: wanted.networkType,
            mdnsName: environment.obfuscate(wanted.address)))
        opened.append(socket)
      }
    }
    closeSockets()
    (interfaces, sockets) = (current, opened)
    closeFurtherSockets { further in !current.contains { $0.socket.address == further.address } }
    session.setInterfaces(current, at: environment.now)
    drain()
  }

  private func open(_ address: IPAddress, beside base: Endpoint?) -> (socket: Environment.Socket, local: Endpoint)? {
    environment.openSocket(on: address, beside: base) { [unowned self] datagram, path in receive(datagram, on: path) }
  }

  private func closeSockets() {
    for socket in sockets { environment.close(socket) }
    for case let name? in interfaces.map(\.mdnsName) { environment.withdraw(name) }
    (interfaces, sockets) = ([], [])
  }

  private func openFurtherSocket(beside base: Endpoint) -> Endpoint? {
    guard let (socket, local) = open(base.address, beside: base) else { return nil }
    furtherSockets.append(Further(local: local, socket: socket))
    return local
  }

  private func closeFurtherSockets(where isUnneeded: (Endpoint) -> Bool) {
    guard !furtherSockets.isEmpty else { return }
    for further in furtherSockets where isUnneeded(further.local) { environment.close(further.socket) }
    furtherSockets.removeAll { isUnneeded($0.local) }
  }

  /// Closes all sockets and connections without sending anything.
  package func closeEverything() {
    closeSockets()
    closeFurtherSockets { _ in true }
    for (_, stream) in streams { stream.close() }
    streams = []
  }

  // MARK: Pump

  /// Work that must wait until the pump has returned the session.
  private struct Postponed {
    var messages: [(bytes: [UInt8], path: Path)] = []
    var bases: [Endpoint] = []
    var names: [String] = []
  }

  /// Sends the session's datagrams, executes its commands, and reports its events.
  package func drain() {
    guard !isSilent else { return }
    var wake: Wake
    var isDone: Bool
    repeat {
      var postponed = Postponed()
      wake = pump(&postponed)
      for (message, path) in postponed.messages { send(message.span.bytes, path) }
      for base in postponed.bases { session.supply(openFurtherSocket(beside: base), for: base, at: environment.now) }
      for name in postponed.names { resolve(name) }
      isDone = postponed.bases.isEmpty
    } while !isDone
    environment.settled(wake)
    guard isClosed, wake == .never, !isSilent else { return }
    isSilent = true
    closeEverything()
    environment.fellSilent()
  }

  private func pump(_ postponed: inout Postponed) -> Wake {
    var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
    var session = session
    let wake = CallCore.pump(
      &session, buffer: &output,
      send: { message, path in
        if needsName(path) { postponed.messages.append((message.copied, path)) } else { send(message, path) }
      },
      event: { output in
        switch output {
        case .observation(let observation): environment.observed(observation)
        case .event(let event): environment.happened(event)
        case .video(let frame): environment.rendered(frame)
        case .packet(let packet): environment.received(packet)
        case .command(.streamUnneeded(let path)): closeStream(path)
        case .command(.socketUnneeded(let local)): closeFurtherSockets { $0 == local }
        case .command(.socketNeeded(let base)): postponed.bases.append(base)
        case .command(.nameResolutionNeeded(let name)): postponed.names.append(name)
        case .command(.keyFrameNeeded(let sender, let encoding)):
          environment.keyFrameNeeded(of: sender, encoding: encoding)
        }
      })
    _ = output.finalize(for: buffer)
    return wake
  }

  private func resolve(_ name: String) {
    environment.resolve(name) { [weak self] address in
      guard let self, !isClosed else { return }
      session.nameResolved(name, to: address, at: environment.now)
      drain()
    }
  }

  private func send(_ message: RawSpan, _ path: Path) {
    guard path.transport == .udp else { return send(message, onStream: path.unmarked) }
    if let index = interfaces.firstIndex(where: { $0.socket == path.local }) {
      environment.send(message, from: sockets[index], on: path)
    } else if let further = furtherSockets.first(where: { $0.local == path.local }) {
      environment.send(message, from: further.socket, on: path)
    } else {
      environment.unsent(.noSocket)
    }
  }

  // MARK: Streams

  private func send(_ message: RawSpan, onStream path: Path) {
    guard ownsSocket(at: path.local), let stream = stream(on: path) else { return environment.unsent(.noInterface) }
    if !stream.send(message) { environment.unsent(.noRoom) }
  }

  private func ownsSocket(at local: Endpoint) -> Bool {
    interfaces.contains { $0.socket == local } || furtherSockets.contains { $0.local == local }
  }

  /// Returns the connection for `path`, and opens it if there is none.
  private func stream(on path: Path) -> TURNStream? {
    if let known = streams.first(where: { $0.path == path }) { return known.stream }
    guard let bytes = environment.openStream(on: path) else { return nil }
    let needsTLS = path.transport == .tls && !bytes.isSecured
    let stream = TURNStream(bytes, tls: needsTLS ? makeTLS(on: path) : nil) { [environment] in environment.now }
    streams.append((path, stream))
    stream.onKeyLog = { [unowned self] line in environment.observed(.keyLog(line)) }
    stream.onSecured = { [unowned self] tls in environment.secured(tls, with: path.remote) }
    stream.onMessage = { [unowned self] message in receive(message, on: path) }
    stream.onEnd = { [unowned self] end in streamEnded(path, end) }
    return stream
  }

  private func streamEnded(_ path: Path, _ end: TURNStream.End) {
    streams.removeAll { $0.path == path }
    var reason: String?
    if case .failed(let failure) = end {
      environment.refused(failure, by: path.remote)
      reason = "\(failure)"
    }
    session.streamClosed(path, isMalformed: end == .malformed, reason: reason, at: environment.now)
    drain()
  }

  /// Whether a message opens a connection over TLS. Only the session knows the server's name, and it cannot be asked
  /// while it is in the pump.
  private func needsName(_ path: Path) -> Bool {
    path.transport == .tls && !streams.contains { $0.path == path.unmarked }
  }

  private func makeTLS(on path: Path) -> TLSConnection {
    tlsCount += 1
    return TLSConnection(
      client: tls, serverName: session.serverName(on: path), entropy: Entropy(random, stream: "tls/\(tlsCount)"),
      wallClock: environment.wallClock, at: environment.now)
  }

  private func closeStream(_ path: Path) {
    streams.first { $0.path == path }?.stream.close()
    streams.removeAll { $0.path == path }
  }
}
