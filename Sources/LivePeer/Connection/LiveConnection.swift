package import CallCore
package import CallSession
package import DTLS
package import ICE
package import SDP

/// How a live connection is made.
package struct LiveConfiguration {
  package var session: SessionConfiguration
  package var interfaces = InterfaceFilter()
  /// Tells `.local` names instead of addresses (RFC 8828 section 5.2). A loopback address tells nothing as it is.
  package var concealsAddresses = false
  /// Ports that sockets are bound to; 0 lets the system choose.
  package var ports: ClosedRange<UInt16> = 0...0
  package var random: RandomSource
  /// Sees every datagram.
  package var tap: (any LiveTap)?
  /// Gets lines for people.
  package var log: (String) -> Void = { _ in }
  /// How long after the first track the first frame is recorded.
  package var audioPhase = Interval.zero

  package init(session: SessionConfiguration, random: RandomSource) {
    self.session = session
    self.random = random
  }
}

/// The call session on real sockets: the live counterpart of the simulator's peer connection.
package final class LiveConnection {
  /// Gets every event that is not about a single packet, from the world's thread, never from within a call to the
  /// connection.
  package var onEvent: ((SessionEvent) -> Void)?
  /// Gets what the speaker plays: 48 kHz mono.
  package var onAudio: ((Span<Int16>) -> Void)?
  package var microphone = AudioSource.silence

  private let world: any LiveWorld
  private let configuration: LiveConfiguration
  private var session: CallSession
  private var sockets: [(interface: LocalInterface, socket: any LiveSocket)] = []
  /// Further sockets: of ICE restarts, and those that TURN servers are asked from.
  private var furtherSockets: [any LiveSocket] = []
  /// Connections to TURN servers, by the paths that the session knows them by.
  private var streams: [(path: Path, stream: TURNStream)] = []
  private lazy var tls = TLSContext(client: configuration.session.tls)
  private var tlsCount = 0
  private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
  private var sessionTimer = LoopTimer {}
  private var eventTimer = LoopTimer {}
  private var interfaceTimer = LoopTimer {}
  private var names: RandomStream
  private var audio: AudioDevice?
  private var pendingEvents: [SessionEvent] = []
  private var addresses: [InterfaceAddress] = []
  /// Why the addresses that have no socket have none.
  package private(set) var refusals: [SystemError] = []
  package private(set) var isClosed = false
  /// Whether a closed connection has said all it had to say, and holds no socket any more.
  package private(set) var isSilent = false
  /// Itself, while it is closed and still has something to say.
  private var lingering: LiveConnection?

  private static let interfaceCheckPeriod = Interval.seconds(2)

  package init(_ configuration: LiveConfiguration, world: any LiveWorld) {
    self.world = world
    self.configuration = configuration
    names = configuration.random.stream("concealed-names")
    session = CallSession(configuration: configuration.session, random: configuration.random, at: world.now)
    sessionTimer = world.makeTimer { [unowned self] in advance() }
    eventTimer = world.makeTimer { [unowned self] in deliverEvents() }
    interfaceTimer = world.makeTimer { [unowned self] in
      self.world.listAddresses { [weak self] found in self?.use(found) }
    }
    use(world.addresses)
  }

  deinit {
    buffer.deallocate()
    // Before the world, which sockets do not keep alive.
    closeEverything()
    for timer in [sessionTimer, eventTimer, interfaceTimer] { world.remove(timer) }
  }

  // MARK: State

  package var signalingState: SignalingState { session.signalingState }
  package var connectionState: ConnectionState { session.connectionState }
  package var iceConnectionState: ICEConnectionState { session.iceConnectionState }
  package var dtlsState: DTLSTransportState { session.dtlsState }
  package var iceGatheringState: ICEGatheringState { session.iceGatheringState }
  /// The local description with the candidates found so far (W3C `localDescription`).
  package var localDescription: SessionDescriptionText? { session.localDescription }
  package var interfaces: [LocalInterface] { sockets.map(\.interface) }

  package func statistics() -> StatsReport { session.statistics(at: world.now) }

  // MARK: Negotiation

  /// Sends the microphone in a track, and plays what the far side sends.
  @discardableResult
  package func addAudio() throws(SessionError) -> Transceiver.ID {
    defer { drain() }
    let sender = try session.addTrack(.audio)
    startAudio()
    return sender
  }

  /// The device both records and plays: it runs from the first track on, ours or theirs.
  private func startAudio() {
    guard audio == nil, !isClosed else { return }
    audio = AudioDevice(connection: self, world: world, firstFrame: world.now + configuration.audioPhase)
  }

  package func removeAudio(_ sender: Transceiver.ID) throws(SessionError) {
    defer { drain() }
    try session.removeTrack(sender)
  }

  /// Holds or resumes, once negotiated (W3C `direction`).
  package func setDirection(_ direction: MediaDirection, of transceiver: Transceiver.ID) throws(SessionError) {
    defer { drain() }
    try session.setDirection(direction, of: transceiver)
  }

  package func setAudioEnabled(_ enabled: Bool, of sender: Transceiver.ID) {
    session.setAudioEnabled(enabled, of: sender)
  }

  package func createOffer() throws(SessionError) -> SessionDescriptionText {
    defer { drain() }
    return try session.createOffer()
  }

  package func createAnswer() throws(SessionError) -> SessionDescriptionText {
    defer { drain() }
    return try session.createAnswer()
  }

  package func setLocalDescription(_ description: SessionDescriptionText) throws(SessionError) {
    defer { drain() }
    try session.setLocalDescription(description, at: world.now)
  }

  package func setRemoteDescription(_ description: SessionDescriptionText) throws(SessionError) {
    defer { drain() }
    try session.setRemoteDescription(description, at: world.now)
  }

  /// Adds a remote candidate (`candidate:…`); nil or empty text is the end of candidates.
  package func addICECandidate(_ candidate: String?, mid: String?, mLineIndex: Int?) throws(SessionError) {
    defer { drain() }
    try session.addICECandidate(candidate, mid: mid, mLineIndex: mLineIndex, at: world.now)
  }

  private func resolve(_ name: String) {
    world.resolve(multicastName: name) { [weak self] address in
      guard let self, !isClosed else { return }
      session.nameResolved(name, to: address, at: world.now)
      drain()
    }
  }

  /// Makes the next offer restart ICE (W3C `restartIce`).
  package func restartICE() {
    session.restartICE()
    drain()
  }

  /// Says goodbye and closes everything. No event follows. Sockets stay until relays have been given back, a second at
  /// most: then ``isSilent``.
  package func close() {
    guard !isClosed else { return }
    isClosed = true
    lingering = self
    onEvent = nil
    audio?.stop()
    audio = nil
    eventTimer.deadline = nil
    interfaceTimer.deadline = nil
    session.close(at: world.now)
    drain()
  }

  private func fallSilent() {
    isSilent = true
    sessionTimer.deadline = nil
    closeEverything()
    lingering = nil
  }

  private func closeEverything() {
    closeSockets()
    closeFurtherSockets { _ in true }
    for (_, stream) in streams { stream.close() }
    streams = []
  }

  // MARK: Interfaces

  /// Opens a socket on each new address, and drops those whose address is gone.
  private func use(_ all: [InterfaceAddress]?) {
    guard !isClosed else { return }
    interfaceTimer.deadline = world.now + Self.interfaceCheckPeriod
    guard let all else { return }
    let found = configuration.interfaces.select(from: all)
    guard found != addresses else { return }
    let known = interfaces
    var current: [(interface: LocalInterface, socket: any LiveSocket)] = []
    var refused: [SystemError] = []
    for address in found {
      if let index = sockets.firstIndex(where: { $0.interface.socket.address == address.address }) {
        current.append(sockets.remove(at: index))
        continue
      }
      do throws(SystemError) {
        let socket = try open(address)
        current.append((describe(address, socket), socket))
      } catch {
        refused.append(error)
      }
    }
    for error in refused where !refusals.contains(error) { configuration.log("\(error)") }
    refusals = refused
    closeSockets()
    sockets = current
    // Those without a socket are tried again: duplicate detection takes a second, and a port may become free.
    addresses = found.filter { address in current.contains { $0.interface.socket.address == address.address } }
    guard interfaces != known else { return }
    closeFurtherSockets { further in !current.contains { $0.interface.socket.address == further.address } }
    session.setInterfaces(current.map(\.interface), at: world.now)
    drain()
  }

  private func describe(_ address: InterfaceAddress, _ socket: any LiveSocket) -> LocalInterface {
    var interface = LocalInterface(socket: socket.local, name: address.name, networkType: address.networkType)
    if configuration.concealsAddresses, !address.address.isLoopback {
      let name = names.concealedName()
      interface.concealment = name
      world.announce(multicastName: name, of: address)
    }
    return interface
  }

  private func closeSockets() {
    for (interface, socket) in sockets {
      socket.close()
      if let name = interface.concealment { world.withdraw(multicastName: name) }
    }
    sockets = []
  }

  private func openFurtherSocket(beside base: Endpoint) -> Endpoint? {
    guard let address = addresses.first(where: { $0.address == base.address }), let opened = try? open(address) else {
      return nil
    }
    furtherSockets.append(opened)
    return opened.local
  }

  private func closeFurtherSockets(where isUnneeded: (Endpoint) -> Bool) {
    for socket in furtherSockets where isUnneeded(socket.local) { socket.close() }
    furtherSockets.removeAll { isUnneeded($0.local) }
  }

  private func open(_ address: InterfaceAddress) throws(SystemError) -> any LiveSocket {
    try world.openSocket(on: address, ports: configuration.ports) { [unowned self] datagram, path in
      configuration.tap?.received(datagram, on: path, unixNanoseconds: unixNanoseconds)
      session.receive(datagram, on: path, at: world.now)
      drain()
    }
  }

  private var unixNanoseconds: Int64 { configuration.session.wallClock.unixNanoseconds(at: world.now) }

  // MARK: Audio

  func sendAudio(_ samples: Span<Int16>) {
    session.sendAudio(samples, at: world.now)
    drain()
  }

  func playAudio(_ count: Int, into output: inout OutputSpan<Int16>) {
    _ = session.playAudio(sampleCount: count, into: &output, at: world.now)
  }

  // MARK: Pump

  private func advance() {
    session.advance(to: world.now)
    drain()
  }

  private func drain() {
    guard !isSilent else { return }
    var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
    var bases: [Endpoint] = []
    var firsts: [(message: [UInt8], path: Path)] = []
    let wake = pump(
      &session, buffer: &output,
      send: { message, path in
        if needsName(path) { firsts.append((message.copied, path)) } else { send(message, path) }
      },
      event: { event in
        switch event {
        case .mediaSent, .mediaReceived: break
        case .streamUnneeded(let path): closeStream(path)
        case .socketNeeded(let base): bases.append(base)
        case .socketUnneeded(let local): closeFurtherSockets { $0 == local }
        case .nameResolutionNeeded(let name): resolve(name)
        default:
          if case .keyLog(let line) = event { configuration.tap?.learnt(keyLog: line) }
          if case .track = event { startAudio() }
          pendingEvents.append(event)
          if !isClosed { eventTimer.deadline = .zero }
        }
      })
    _ = output.finalize(for: buffer)
    for (message, path) in firsts { send(message.span.bytes, path) }
    for base in bases { session.supply(openFurtherSocket(beside: base), for: base, at: world.now) }
    guard bases.isEmpty else { return drain() }
    sessionTimer.deadline = wake.deadline
    if isClosed, wake == .never { fallSilent() }
  }

  private func send(_ message: RawSpan, _ path: Path) {
    switch path.transport {
    case .udp:
      guard let socket = socket(at: path.local) else { return }
      configuration.tap?.sent(message, on: path, unixNanoseconds: unixNanoseconds)
      socket.send(message, to: path.remote, ecn: path.ecn)
    case .tcp, .tls: stream(on: path.unmarked)?.send(message)
    }
  }

  private func socket(at local: Endpoint) -> (any LiveSocket)? {
    sockets.first { $0.interface.socket == local }?.socket ?? furtherSockets.first { $0.local == local }
  }

  /// The connection that the session calls `path`, opened when there is none.
  private func stream(on path: Path) -> TURNStream? {
    if let known = streams.first(where: { $0.path == path }) { return known.stream }
    guard let address = addresses.first(where: { $0.address == path.local.address }) else { return nil }
    let stream = TURNStream(
      world.openStream(from: address, to: path.remote), tls: path.transport == .tls ? makeTLS(on: path) : nil,
      now: { [world] in world.now })
    streams.append((path, stream))
    stream.onKeyLog = { [unowned self] line in learn(keyLog: line) }
    stream.begin()
    stream.onMessage = { [unowned self] message in
      session.receive(message, on: path, at: world.now)
      drain()
    }
    stream.onEnd = { [unowned self] end in
      streams.removeAll { $0.path == path }
      var reason: String?
      if case .failed(let failure) = end { reason = "\(failure)" }
      session.streamClosed(path, isMalformed: end == .malformed, reason: reason, at: world.now)
      drain()
    }
    return stream
  }

  /// Whether a message opens a connection over TLS: the session, which knows whom with, cannot be asked while it is
  /// pumped.
  private func needsName(_ path: Path) -> Bool {
    path.transport == .tls && !streams.contains { $0.path == path.unmarked }
  }

  private func makeTLS(on path: Path) -> TLSConnection {
    tlsCount += 1
    return TLSConnection(
      client: tls, serverName: session.serverName(on: path),
      entropy: Entropy(configuration.random, stream: "tls/\(tlsCount)"), wallClock: configuration.session.wallClock,
      at: world.now)
  }

  private func learn(keyLog line: String) {
    configuration.tap?.learnt(keyLog: line)
    pendingEvents.append(.keyLog(line))
    if !isClosed { eventTimer.deadline = .zero }
  }

  private func closeStream(_ path: Path) {
    streams.first { $0.path == path }?.stream.close()
    streams.removeAll { $0.path == path }
  }

  private func deliverEvents() {
    let events = pendingEvents
    pendingEvents = []
    for event in events { onEvent?(event) }
  }
}
