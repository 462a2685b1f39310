public import CallCore
public import SimNet

/// A participant's access to the simulated network: interfaces, datagram sockets and streams.
public final class PeerNetwork {
  package unowned let simulator: Simulator
  package let host: HostID
  private var datagramHandlers: [UDPSocket: (RawSpan, Path) -> Void] = [:]
  private var streams: [StreamID: PeerStream] = [:]
  private var acceptors: [UInt16: (PeerStream) -> Void] = [:]
  private var unreachable: [PeerStream] = []
  /// Called to request ``closeUnreachable()`` in an event of its own.
  var onUnreachable: (() -> Void)?

  package init(simulator: Simulator, host: HostID) {
    self.simulator = simulator
    self.host = host
  }

  /// Whether the process that used the network has ended: what it still says leaves nothing.
  private(set) var isProcessGone = false

  /// Closes all that a process had open, as its kernel does when the process is gone: datagram sockets without a word,
  /// streams with FIN after what they had queued.
  func endProcess(_ release: () -> Void) {
    isProcessGone = true
    release()
    for socket in datagramHandlers.keys.sorted(by: { $0.serial < $1.serial }) { simulator.close(socket) }
    datagramHandlers = [:]
    for (id, stream) in streams.sorted(by: { $0.value.number < $1.value.number }) {
      stream.onEvent = nil
      simulator.close(id, of: host)
    }
    streams = [:]
    unreachable = []
    isProcessGone = false
  }

  /// Forgets all who receive from the network, of whom any may hold it in return. The simulator is left as it is.
  func releaseReceivers() {
    acceptors = [:]
    datagramHandlers = [:]
    for stream in streams.values { stream.onEvent = nil }
    streams = [:]
    unreachable = []
    secured = [:]
  }

  /// The number of streams so far.
  private var streamCount = 0

  private func make(_ id: StreamID?, to remote: Endpoint, isOutgoing: Bool = false) -> PeerStream {
    streamCount += 1
    return PeerStream(id: id, remote: remote, network: self, isOutgoing: isOutgoing, number: streamCount)
  }

  /// The interface that the user prefers.
  private var preferred: String?

  /// The interfaces that are up, in order of preference.
  package var activeInterfaces: [NetworkInterface] {
    let active = simulator.interfaces(of: host).filter(\.isUp)
    return active.filter { $0.name == preferred } + active.filter { $0.name != preferred }
  }

  /// Makes an interface the preferred one, whether it is up or not.
  ///
  /// - Returns: False if the host has no interface of that name.
  package func prefer(_ name: String) -> Bool {
    guard simulator.interfaces(of: host).contains(where: { $0.name == name }) else { return false }
    preferred = name
    return true
  }

  /// Returns whether one of the interfaces that are up has `address`.
  public func hasAddress(_ address: IPAddress) -> Bool {
    activeInterfaces.contains { $0.addresses.contains(address) }
  }

  /// Notes that something could not reach the device for lack of an interface.
  func noteUnreachable() { simulator.noteUnreachable(host) }

  // MARK: Datagrams

  /// Opens a UDP socket on one of the host's addresses; returns nil if the address or the port is not available.
  package func openDatagramSocket(
    address: IPAddress?, port: UInt16 = 0, _ receive: @escaping (RawSpan, Path) -> Void
  ) -> UDPSocket? {
    guard let socket = try? simulator.bind(host, address: address, port: port) else { return nil }
    datagramHandlers[socket] = receive
    return socket
  }

  package func close(_ socket: UDPSocket) {
    datagramHandlers[socket] = nil
    simulator.close(socket)
  }

  func received(_ datagram: RawSpan, on socket: UDPSocket, path: Path) { datagramHandlers[socket]?(datagram, path) }

  // MARK: Streams

  /// Opens a stream to a server. It reports `connected` or `closed` later, never from within this call.
  ///
  /// - Parameter address: The local address, or nil for the source address that a datagram would have.
  public func connect(from address: IPAddress? = nil, to remote: Endpoint) -> PeerStream {
    do throws(StreamError) {
      let id = try simulator.connect(host, from: address, to: remote)
      let stream = make(id, to: remote, isOutgoing: true)
      streams[id] = stream
      stream.tls = secured[remote]?()
      return stream
    } catch {
      // Without a route the stream closes as refused, in an event of its own.
      let stream = make(nil, to: remote)
      unreachable.append(stream)
      onUnreachable?()
      return stream
    }
  }

  /// The servers that are reached by TLS, with a function that begins it on a new stream.
  private var secured: [Endpoint: () -> StreamTLS] = [:]

  /// Runs TLS on every stream to a server from now on; see ``PeerStream/Event``.
  func secure(_ server: Endpoint, with begin: @escaping () -> StreamTLS) { secured[server] = begin }

  /// Accepts streams at `port`.
  public func listen(on port: UInt16, _ accept: @escaping (PeerStream) -> Void) {
    acceptors[port] = accept
    do throws(StreamError) {
      try simulator.listen(host, port: port)
    } catch {
      preconditionFailure("port \(port) of a server is taken: \(error)")
    }
  }

  func accepted(_ id: StreamID, path: Path) {
    let stream = make(id, to: path.remote)
    streams[id] = stream
    acceptors[path.local.port]?(stream)
  }

  func owns(_ id: StreamID) -> Bool { streams[id] != nil }

  func streamEvent(_ event: StreamEvent, on id: StreamID) {
    guard let stream = streams[id] else { return }
    switch event {
    case .connected: stream.deliver(.connected)
    case .data(let bytes): stream.deliver(.received(bytes))
    case .peerClosed: stream.close()
    case .closed(let reason):
      streams[id] = nil
      stream.deliver(.closed(reason))
    }
  }

  /// The number of streams that their owner has not released, and that have not ended.
  var openStreamCount: Int { streams.values.count { !$0.isReleased } }

  /// Closes the streams that never had a route.
  func closeUnreachable() {
    let waiting = unreachable
    unreachable = []
    for stream in waiting { stream.deliver(.closed(.refused)) }
  }

  fileprivate func forget(_ id: StreamID) { streams[id] = nil }
}

/// A reliable byte stream over the simulated network, with the delays and losses of TCP.
public final class PeerStream {
  /// An event of a stream.
  public enum Event {
    case connected
    case received([UInt8])
    case closed(StreamCloseReason)
  }

  /// Called for each event.
  public var onEvent: ((Event) -> Void)?
  /// The remote endpoint.
  public let remote: Endpoint
  /// Whether this end has closed the stream.
  private(set) var isReleased = false
  private let id: StreamID?
  private unowned let network: PeerNetwork
  /// Whether this end opened the stream.
  private let isOutgoing: Bool
  /// The place in the order in which the network's streams were made.
  fileprivate let number: Int

  fileprivate init(id: StreamID?, remote: Endpoint, network: PeerNetwork, isOutgoing: Bool, number: Int) {
    self.number = number
    self.id = id
    self.remote = remote
    self.network = network
    self.isOutgoing = isOutgoing
  }

  /// Writes that a text frame of a server has arrived.
  func traceArrival(ofFrame frame: UInt64) {
    guard isOutgoing else { return }
    let (trace, host) = (network.simulator.trace, network.simulator.name(of: network.host))
    trace.write(HarnessEvents.frameArrived, trace.subject(host), frame)
  }

  /// Whether the host still has the local address of this stream.
  public var isLocalAddressAlive: Bool {
    local.map { network.hasAddress($0.address) } ?? false
  }

  /// The local endpoint; nil when the stream is over.
  public var local: Endpoint? { id.flatMap { network.simulator.path(of: $0, of: network.host)?.local } }

  /// The number of bytes sent and not yet acknowledged.
  public var queuedByteCount: Int { id.map { network.simulator.queuedByteCount(of: $0, of: network.host) } ?? 0 }

  /// TLS on the stream; nil without it.
  var tls: StreamTLS?

  /// The reason why TLS failed, and the stream with it; nil if it did not.
  public var tlsFailure: String? { tls?.failure.map { "\($0)" } }

  /// Delays each send, in order; nil sends immediately.
  var postpone: ((_ leave: @escaping () -> Void) -> Void)?

  /// Queues bytes. Bytes that exceed the send buffer, or come after the end, are lost.
  public func send(_ bytes: [UInt8]) {
    guard let tls else { return sendPlain(bytes) }
    for record in tls.encrypt(bytes) { sendPlain(record) }
  }

  private func sendPlain(_ bytes: [UInt8]) {
    guard let postpone else { return sendNow(bytes) }
    postpone { [self] in sendNow(bytes) }
  }

  private func sendNow(_ bytes: [UInt8]) {
    if let id, !network.isProcessGone { try? network.simulator.send(bytes, on: id, of: network.host) }
  }

  /// Sends one whole message of a framed protocol: packet rules may drop it.
  ///
  /// - Returns: Whether the message was not dropped.
  @discardableResult
  func send(message: RawSpan) -> Bool {
    guard let id, !network.isProcessGone else { return true }
    return (try? network.simulator.send(message: message, on: id, of: network.host)) ?? true
  }

  /// Sends the queued bytes, then FIN.
  public func close() {
    isReleased = true
    for record in tls?.close() ?? [] { sendPlain(record) }
    guard let postpone else { return closeNow() }
    postpone { [self] in closeNow() }
  }

  private func closeNow() {
    if let id, !network.isProcessGone { network.simulator.close(id, of: network.host) }
  }

  /// Sends RST and forgets the stream immediately.
  public func abort() {
    isReleased = true
    onEvent = nil
    guard let id, !network.isProcessGone else { return }
    network.simulator.abort(id, of: network.host)
    network.forget(id)
  }

  fileprivate func deliver(_ event: Event) {
    guard let tls else {
      onEvent?(event)
      return
    }
    switch event {
    case .connected: for record in tls.takeOutput() { sendPlain(record) }
    case .received(let bytes): received(bytes, in: tls)
    case .closed:
      tls.transportEnded()
      onEvent?(event)
    }
  }

  /// Passes on what TLS makes of the bytes: the stream is connected once its handshake is done.
  private func received(_ bytes: [UInt8], in tls: StreamTLS) {
    let content = tls.decrypt(bytes)
    for record in tls.takeOutput() { sendPlain(record) }
    if content.isFirst, isOutgoing { onEvent?(.connected) }
    if !content.plain.isEmpty { onEvent?(.received(content.plain)) }
    guard content.isOver, !isReleased else { return }
    close()
    guard tls.failure != nil else { return }
    let report = onEvent
    onEvent = nil
    report?(.closed(.reset))
  }
}
