internal import CallCore
internal import CallSession
internal import Codecs
internal import DTLS
internal import ICE
internal import SDP
internal import SimNet

/// Our call session on the sockets, timers and audio of a virtual device.
final class SessionConnection: PeerConnection {
  weak var delegate: (any PeerConnectionDelegate)?

  private var session: CallSession
  private let environment: ConnectionEnvironment
  private let random: RandomSource
  private let tlsConfiguration: TLSClientConfiguration
  private lazy var tls = TLSContext(client: tlsConfiguration)
  private var tlsCount = 0
  private var sockets: [(interface: LocalInterface, socket: UDPSocket)] = []
  /// Further sockets: of ICE restarts, and those that TURN servers are asked from.
  private var furtherSockets: [(local: Endpoint, socket: UDPSocket)] = []
  /// Connections to TURN servers, by the paths that the session knows them by.
  private var streams: [(path: Path, stream: TURNStream)] = []
  private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
  private var timer: PeerTimer?
  private var timerDeadline = Instant.zero
  private var isClosed = false
  private var audio: AudioLoop?
  private var events: ConnectionEvents

  init(configuration: SessionConfiguration, random: RandomSource, environment: ConnectionEnvironment) {
    self.environment = environment
    self.random = random
    tlsConfiguration = configuration.tls
    events = environment.makeEvents()
    session = CallSession(configuration: configuration, random: random, at: environment.clock.now)
    updateInterfaces()
  }

  deinit { buffer.deallocate() }

  // MARK: State

  var signalingState: SignalingState { session.signalingState }
  var connectionState: ConnectionState { session.connectionState }
  var iceConnectionState: ICEConnectionState { session.iceConnectionState }
  var hasRemoteDescription: Bool { session.hasRemoteDescription }

  func statistics() -> StatsReport { session.statistics(at: environment.clock.now) }

  // MARK: Negotiation

  /// All that are not stopped, in the order of their making (W3C `getTransceivers`).
  var transceivers: [Transceiver] { session.transceivers }

  /// Adds a track of the microphone, and with the first starts the device's audio unit (W3C `addTrack`).
  @discardableResult
  func addAudio() throws(SessionError) -> Transceiver.ID {
    defer { drain() }
    let sender = try session.addTrack(.audio)
    startAudio()
    return sender
  }

  /// Adds a transceiver (W3C `addTransceiver`); one that receives plays what comes.
  @discardableResult
  func addAudioTransceiver(direction: MediaDirection) throws(SessionError) -> Transceiver.ID {
    defer { drain() }
    let transceiver = try session.addAudioTransceiver(direction: direction)
    startAudio()
    return transceiver
  }

  /// Ends a sender's track; its transceiver goes on to receive (W3C `removeTrack`).
  func removeAudio(_ sender: Transceiver.ID) throws(SessionError) {
    defer { drain() }
    try session.removeTrack(sender)
  }

  /// Holds or resumes, once negotiated (W3C `direction`).
  func setDirection(_ direction: MediaDirection, of transceiver: Transceiver.ID) throws(SessionError) {
    defer { drain() }
    try session.setDirection(direction, of: transceiver)
  }

  /// Ends a transceiver for good (W3C `stop`).
  func stop(_ transceiver: Transceiver.ID) throws(SessionError) {
    defer { drain() }
    try session.stop(transceiver)
  }

  private func startAudio() {
    guard audio == nil else { return }
    environment.device.startAudioUnit()
    let loop = AudioLoop(connection: self, environment: environment)
    audio = loop
    loop.start()
  }

  func createOffer() throws(SessionError) -> SessionDescriptionText { try session.createOffer() }

  func createAnswer() throws(SessionError) -> SessionDescriptionText { try session.createAnswer() }

  func setLocalDescription(_ description: SessionDescriptionText) throws(SessionError) {
    defer { drain() }
    try session.setLocalDescription(description, at: environment.clock.now)
  }

  func setRemoteDescription(_ description: SessionDescriptionText) throws(SessionError) {
    defer { drain() }
    try session.setRemoteDescription(description, at: environment.clock.now)
  }

  /// Adds a remote candidate (`candidate:…`), or with nil says that there are no more.
  func addICECandidate(_ candidate: String?, mid: String?, mLineIndex: Int?) throws(SessionError) {
    defer { drain() }
    try session.addICECandidate(candidate, mid: mid, mLineIndex: mLineIndex, at: environment.clock.now)
  }

  /// Makes the next offer restart ICE (W3C `restartIce`).
  func restartICE() {
    session.restartICE()
    drain()
  }

  /// Enables or disables a sender's track, or every one; disabled, silence is sent (W3C `track.enabled`).
  func setAudioEnabled(_ enabled: Bool, of sender: Transceiver.ID? = nil) {
    session.setAudioEnabled(enabled, of: sender)
  }

  /// Closes everything. No event follows. Sockets stay until relays have been given back, a second at most.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    delegate = nil
    environment.keep(self)
    session.close(at: environment.clock.now)
    drain()
    events.close()
    audio?.stop()
    audio = nil
    environment.device.stopAudioUnit()
    environment.connectionClosed(self)
  }

  /// The closed session has said all it had to say.
  private func letGo() {
    for (_, socket) in sockets { environment.network.close(socket) }
    sockets = []
    closeFurtherSockets { _ in true }
    for (_, stream) in streams { stream.close() }
    streams = []
    environment.release(self)
  }

  // MARK: Interfaces

  /// Opens a socket on each new address, and drops those whose address is gone.
  func updateInterfaces() {
    guard !isClosed else { return }
    var current: [(interface: LocalInterface, socket: UDPSocket)] = []
    for interface in environment.network.activeInterfaces {
      for address in interface.addresses where !address.isLoopback {
        if let known = sockets.firstIndex(where: { $0.interface.socket.address == address }) {
          current.append(sockets.remove(at: known))
        } else if let opened = open(address, of: interface) {
          current.append(opened)
        }
      }
    }
    for (_, socket) in sockets { environment.network.close(socket) }
    sockets = current
    closeFurtherSockets { further in !current.contains { $0.interface.socket.address == further.address } }
    session.setInterfaces(current.map(\.interface), at: environment.clock.now)
    drain()
  }

  private func open(
    _ address: IPAddress, of interface: NetworkInterface
  ) -> (interface: LocalInterface, socket: UDPSocket)? {
    guard let (local, socket) = open(address) else { return nil }
    let description = LocalInterface(socket: local, name: interface.name, networkType: interface.type.rawValue)
    return (description, socket)
  }

  private func open(_ address: IPAddress) -> (local: Endpoint, socket: UDPSocket)? {
    let opened = environment.network.openDatagramSocket(address: address) { [unowned self] datagram, path in
      session.receive(datagram, on: path, at: environment.clock.now)
      drain()
    }
    guard let opened else { return nil }
    return (Endpoint(address, port: environment.network.simulator.localEndpoint(of: opened).port), opened)
  }

  private func openFurtherSocket(beside base: Endpoint) -> Endpoint? {
    guard let opened = open(base.address) else { return nil }
    furtherSockets.append(opened)
    return opened.local
  }

  private func closeFurtherSockets(where isUnneeded: (Endpoint) -> Bool) {
    for (local, socket) in furtherSockets where isUnneeded(local) { environment.network.close(socket) }
    furtherSockets.removeAll { isUnneeded($0.local) }
  }

  // MARK: Audio

  func sendAudio(_ samples: Span<Int16>) {
    session.sendAudio(samples, at: environment.clock.now)
    noteRecorded()
    drain()
  }

  func sendAudio(_ level: AudioLevel, duration: Interval) {
    session.sendAudio(level, duration: duration, at: environment.clock.now)
    noteRecorded()
    drain()
  }

  private func noteRecorded() {
    for position in session.recordedPositions { environment.audioRecord.record(position, at: environment.clock.now) }
  }

  /// Pulls `count` samples from the jitter buffer; the result says how loud they are, nil when nothing plays yet.
  func playAudio(sampleCount count: Int, into output: inout OutputSpan<Int16>) -> AudioLevel? {
    let level = session.playAudio(sampleCount: count, into: &output, at: environment.clock.now)
    environment.audioRecord.play(session.playedPosition, at: environment.clock.now)
    return level
  }

  // MARK: Pump

  private func drain() {
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
        case .streamUnneeded(let path): closeStream(path)
        case .socketNeeded(let base): bases.append(base)
        case .socketUnneeded(let local): closeFurtherSockets { $0 == local }
        default: events.append(event)
        }
      })
    _ = output.finalize(for: buffer)
    for (message, path) in firsts { send(message.span.bytes, path) }
    for base in bases { session.supply(openFurtherSocket(beside: base), for: base, at: environment.clock.now) }
    guard bases.isEmpty else { return drain() }
    schedule(wake)
    events.deliver(from: self)
    if isClosed, wake == .never { letGo() }
  }

  private func send(_ message: RawSpan, _ path: Path) {
    switch path.transport {
    case .udp:
      guard let socket = socket(at: path.local) else { return environment.traceUnsent("no-socket") }
      environment.network.simulator.send(message, from: socket, to: path.remote, ecn: path.ecn)
    case .tcp, .tls:
      guard socket(at: path.local) != nil else {
        return environment.traceUnsent("no-interface")
      }
      if !stream(on: path.unmarked).send(message) { environment.traceUnsent("no-room") }
    }
  }

  private func socket(at local: Endpoint) -> UDPSocket? {
    sockets.first { $0.interface.socket == local }?.socket ?? furtherSockets.first { $0.local == local }?.socket
  }

  /// The connection that the session calls `path`, opened when there is none.
  private func stream(on path: Path) -> TURNStream {
    if let known = streams.first(where: { $0.path == path }) { return known.stream }
    let stream = TURNStream(
      environment.network.connect(from: path.local.address, to: path.remote),
      tls: path.transport == .tls ? makeTLS(on: path) : nil, clock: environment.clock)
    streams.append((path, stream))
    stream.onKeyLog = { [unowned self] line in environment.learn(keyLog: line) }
    stream.onSecured = { [unowned self] tls in environment.tlsTrace.established(tls, with: path.remote) }
    stream.onMessage = { [unowned self] message in
      session.receive(message, on: path, at: environment.clock.now)
      drain()
    }
    stream.onEnd = { [unowned self] end in
      streams.removeAll { $0.path == path }
      var reason: String?
      if case .failed(let failure) = end {
        environment.tlsTrace.failed(failure, with: path.remote)
        reason = "\(failure)"
      }
      session.streamClosed(path, isMalformed: end == .malformed, reason: reason, at: environment.clock.now)
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
    environment.tlsConnectionCount += 1
    return TLSConnection(
      client: tls, serverName: session.serverName(on: path), entropy: Entropy(random, stream: "tls/\(tlsCount)"),
      wallClock: environment.clock.wallClock, at: environment.clock.now)
  }

  private func closeStream(_ path: Path) {
    streams.first { $0.path == path }?.stream.close()
    streams.removeAll { $0.path == path }
  }

  /// Keeps a timer for the session's deadline. One that is early is left alone: deadlines move back with every packet,
  /// and asking the session once too often costs less than a new timer each time.
  private func schedule(_ wake: Wake) {
    guard let deadline = wake.deadline else {
      timer?.cancel()
      timer = nil
      return
    }
    guard timer == nil || deadline < timerDeadline else { return }
    timer?.cancel()
    timerDeadline = deadline
    timer = environment.clock.schedule(at: deadline) { [unowned self] in
      timer = nil
      session.advance(to: environment.clock.now)
      drain()
    }
  }
}
