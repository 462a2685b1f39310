internal import CallCore
public import CallSession
internal import Codecs
public import ICE
public import SDP
internal import SimNet

/// Who a peer connection tells what happens.
public protocol PeerConnectionDelegate: AnyObject {
  /// Called from the run loop, never from within a call to the connection.
  func connection(_ connection: PeerConnection, did event: SessionEvent)
}

/// A W3C-shaped peer connection: the call session on the sockets, timers and audio of a virtual device.
public final class PeerConnection {
  public weak var delegate: (any PeerConnectionDelegate)?

  private var session: CallSession
  private let environment: ConnectionEnvironment
  private var sockets: [(interface: LocalInterface, socket: UDPSocket)] = []
  private let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: maximumDatagramSize)
  private var timer: PeerTimer?
  private var timerDeadline = Instant.zero
  private var pendingEvents: [SessionEvent] = []
  private var isClosed = false
  private var audio: AudioLoop?
  private var trace: ConnectionTrace

  init(configuration: SessionConfiguration, random: RandomSource, environment: ConnectionEnvironment) {
    self.environment = environment
    trace = environment.makeTrace()
    session = CallSession(configuration: configuration, random: random, at: environment.clock.now)
    updateInterfaces()
  }

  deinit { buffer.deallocate() }

  // MARK: State

  public var signalingState: SignalingState { session.signalingState }
  public var connectionState: ConnectionState { session.connectionState }
  public var iceConnectionState: ICEConnectionState { session.iceConnectionState }
  public var hasRemoteDescription: Bool { session.hasRemoteDescription }

  public func statistics() -> StatsReport { session.statistics(at: environment.clock.now) }

  // MARK: Negotiation

  /// Adds the microphone, and with it starts the device's audio unit.
  public func addAudio() {
    session.addAudioTransceiver()
    environment.device.startAudioUnit()
    let loop = AudioLoop(connection: self, environment: environment)
    audio = loop
    loop.start()
    drain()
  }

  public func createOffer() throws(SessionError) -> SessionDescriptionText { try session.createOffer() }

  public func createAnswer() throws(SessionError) -> SessionDescriptionText { try session.createAnswer() }

  public func setLocalDescription(_ description: SessionDescriptionText) throws(SessionError) {
    defer { drain() }
    try session.setLocalDescription(description, at: environment.clock.now)
  }

  public func setRemoteDescription(_ description: SessionDescriptionText) throws(SessionError) {
    defer { drain() }
    try session.setRemoteDescription(description, at: environment.clock.now)
  }

  /// Adds a remote candidate (`candidate:…`), or with nil says that there are no more.
  public func addICECandidate(_ candidate: String?, mid: String?, mLineIndex: Int?) throws(SessionError) {
    defer { drain() }
    try session.addICECandidate(candidate, mid: mid, mLineIndex: mLineIndex, at: environment.clock.now)
  }

  /// Makes the next offer restart ICE (W3C `restartIce`).
  public func restartICE() {
    session.restartICE()
    drain()
  }

  /// Enables or disables the microphone's track; disabled, silence is sent (W3C `track.enabled`).
  public func setAudioEnabled(_ enabled: Bool) { session.setAudioEnabled(enabled) }

  /// Closes everything. No event follows.
  public func close() {
    guard !isClosed else { return }
    isClosed = true
    delegate = nil
    session.close(at: environment.clock.now)
    drain()
    audio?.stop()
    audio = nil
    timer?.cancel()
    timer = nil
    for (_, socket) in sockets { environment.network.close(socket) }
    sockets = []
    environment.device.stopAudioUnit()
    environment.connectionClosed(self)
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
    session.setInterfaces(current.map(\.interface), at: environment.clock.now)
    drain()
  }

  private func open(
    _ address: IPAddress, of interface: NetworkInterface
  ) -> (interface: LocalInterface, socket: UDPSocket)? {
    let opened = environment.network.openDatagramSocket(address: address) { [unowned self] datagram, path in
      session.receive(datagram, on: path, at: environment.clock.now)
      drain()
    }
    guard let opened else { return nil }
    let local = Endpoint(address, port: environment.network.simulator.localEndpoint(of: opened).port)
    let description = LocalInterface(socket: local, name: interface.name, networkType: interface.type.rawValue)
    return (description, opened)
  }

  // MARK: Audio

  func sendAudio(_ samples: Span<Int16>) {
    session.sendAudio(samples, at: environment.clock.now)
    drain()
  }

  func sendAudio(_ level: AudioLevel, duration: Interval) {
    session.sendAudio(level, duration: duration, at: environment.clock.now)
    drain()
  }

  /// Pulls `count` samples from the jitter buffer; the result says how loud they are, nil when nothing plays yet.
  func playAudio(sampleCount count: Int, into output: inout OutputSpan<Int16>) -> AudioLevel? {
    session.playAudio(sampleCount: count, into: &output, at: environment.clock.now)
  }

  // MARK: Pump

  private func drain() {
    var output = OutputSpan<UInt8>(buffer: buffer, initializedCount: 0)
    let wake = pump(
      &session, buffer: &output,
      send: { datagram, path in
        if let index = sockets.firstIndex(where: { $0.interface.socket == path.local }) {
          environment.network.simulator.send(datagram, from: sockets[index].socket, to: path.remote, ecn: path.ecn)
        }
      },
      event: { pendingEvents.append($0) })
    _ = output.finalize(for: buffer)
    schedule(wake)
    deliverEvents()
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

  /// Traces events at once; tells the delegate from the run loop, so that it is never re-entered.
  private func deliverEvents() {
    guard !pendingEvents.isEmpty else { return }
    var forDelegate: [SessionEvent] = []
    for event in pendingEvents where trace.write(event) { forDelegate.append(event) }
    pendingEvents.removeAll(keepingCapacity: true)
    guard !forDelegate.isEmpty, delegate != nil else { return }
    environment.clock.schedule(after: .zero) { [weak self] in
      guard let self else { return }
      for event in forDelegate { delegate?.connection(self, did: event) }
    }
  }
}
