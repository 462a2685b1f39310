internal import CallCore
internal import DTLS
internal import PeerSession

/// The environment of a live call session: sockets, TCP connections, `.local` names on the link, and time.
final class LiveSessionHost: SessionEnvironment {
  private enum Notice {
    case event(SessionEvent)
    case observation(SessionObservation)
  }

  var onEvent: ((SessionEvent) -> Void)?
  var onObservation: ((SessionObservation) -> Void)?
  var onPicture: ((RenderedVideoFrame) -> Void)?
  var onWake: () -> Void = {}
  var onTrack: () -> Void = {}
  var onSilence: () -> Void = {}
  private let world: any LiveWorld
  private let configuration: LiveConfiguration
  private var names: RandomStream
  private var addresses: [InterfaceAddress] = []
  private var refusals: [SystemError] = []
  private var wakeTimer = LoopTimer {}
  private var eventTimer = LoopTimer {}
  private var pending: [Notice] = []
  private var isQuiet = false

  init(_ configuration: LiveConfiguration, world: any LiveWorld) {
    self.world = world
    self.configuration = configuration
    names = configuration.random.stream("concealed-names")
    wakeTimer = world.makeTimer { [unowned self] in onWake() }
    eventTimer = world.makeTimer { [unowned self] in deliver() }
  }

  /// Removes the timers from the world.
  func end() {
    for timer in [wakeTimer, eventTimer] { world.remove(timer) }
  }

  /// Stops the delivery of events and observations.
  func fallSilent() {
    isQuiet = true
    onEvent = nil
    onObservation = nil
    onPicture = nil
    eventTimer.deadline = nil
  }

  var now: Instant { world.now }
  var wallClock: WallClock { configuration.session.wallClock }

  // MARK: Sockets

  /// Calls `open`, which may open sockets on these addresses.
  ///
  /// - Returns: the errors of sockets that could not be opened.
  func trying(_ addresses: [InterfaceAddress], _ open: () -> Void) -> [SystemError] {
    self.addresses = addresses
    refusals = []
    open()
    return refusals
  }

  func openSocket(
    on address: IPAddress, beside base: Endpoint?, receive: @escaping (RawSpan, Path) -> Void
  ) -> (socket: any LiveSocket, local: Endpoint)? {
    guard let address = interface(at: address) else { return nil }
    do throws(SystemError) {
      let socket = try world.openSocket(on: address, ports: configuration.ports) { [unowned self] datagram, path in
        configuration.tap?.received(datagram, on: path, unixNanoseconds: unixNanoseconds)
        receive(datagram, path)
      }
      return (socket, socket.local)
    } catch {
      refusals.append(error)
      return nil
    }
  }

  private func interface(at address: IPAddress) -> InterfaceAddress? { addresses.first { $0.address == address } }

  func close(_ socket: any LiveSocket) { socket.close() }

  func send(_ datagram: RawSpan, from socket: any LiveSocket, on path: Path) {
    configuration.tap?.sent(datagram, on: path, unixNanoseconds: unixNanoseconds)
    socket.send(datagram, to: path.remote, ecn: path.ecn)
  }

  private var unixNanoseconds: Int64 { wallClock.unixNanoseconds(at: world.now) }

  func openStream(on path: Path) -> (any ByteStream)? {
    interface(at: path.local.address).map { world.openStream(from: $0, to: path.remote) }
  }

  // MARK: Names

  func resolve(_ name: String, _ answer: @escaping (IPAddress) -> Void) {
    world.resolve(multicastName: name, answer)
  }

  func obfuscate(_ address: IPAddress) -> String? {
    guard configuration.obfuscatesAddresses, !address.isLoopback, let address = interface(at: address) else {
      return nil
    }
    let name = names.mdnsName()
    world.announce(multicastName: name, of: address)
    return name
  }

  func withdraw(_ name: String) { world.withdraw(multicastName: name) }

  // MARK: Events

  func happened(_ event: SessionEvent) {
    if case .track = event { onTrack() }
    post(.event(event))
  }

  func observed(_ observation: SessionObservation) {
    switch observation {
    case .mediaSent, .mediaReceived, .mediaRecovered: return
    case .keyLog(let line): configuration.tap?.learnt(keyLog: line)
    case .remoteBye, .digitReceived, .packetDiscarded, .iceRestart, .checkFailed, .consentExpired,
      .remoteCandidateRefused, .turnAllocated, .bandwidthEstimate:
      break
    }
    post(.observation(observation))
  }

  func rendered(_ frame: RenderedVideoFrame) { onPicture?(frame) }

  private func post(_ notice: Notice) {
    guard !isQuiet else { return }
    pending.append(notice)
    eventTimer.deadline = .zero
  }

  private func deliver() {
    let all = pending
    pending = []
    for notice in all {
      switch notice {
      case .event(let event): onEvent?(event)
      case .observation(let observation): onObservation?(observation)
      }
    }
  }

  func settled(_ wake: Wake) { wakeTimer.deadline = wake.deadline }

  func fellSilent() {
    wakeTimer.deadline = nil
    onSilence()
  }
}
