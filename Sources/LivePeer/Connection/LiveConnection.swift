package import CallCore
package import DTLS
package import ICE
package import PeerSession
package import SDP
package import Statistics

/// The configuration of a live connection.
package struct LiveConfiguration {
  package var session: SessionConfiguration
  package var interfaces = InterfaceFilter()
  /// Whether candidates have `.local` names instead of addresses (RFC 8828 section 5.2). Loopback addresses reveal
  /// nothing and stay.
  package var obfuscatesAddresses = false
  /// The ports for sockets; 0 lets the system choose.
  package var ports: ClosedRange<UInt16> = 0...0
  package var random: RandomSource
  /// A tap that sees every datagram.
  package var tap: (any LiveTap)?
  /// A sink for log lines.
  package var log: (String) -> Void = { _ in }
  /// The pictures of a video track.
  package var camera = CameraSettings()
  /// The delay from the first track to the first recorded frame.
  package var audioPhase = Interval.zero

  package init(session: SessionConfiguration, random: RandomSource) {
    self.session = session
    self.random = random
  }
}

/// The call session on real sockets: the live counterpart of the simulator's peer connection.
package final class LiveConnection {
  /// A handler for every event, called on the world's thread and never within a call to the connection.
  package var onEvent: ((SessionEvent) -> Void)? {
    get { host.onEvent }
    set { host.onEvent = newValue }
  }
  /// A handler for every observation that does not concern a single media packet, called in order with the events.
  package var onObservation: ((SessionObservation) -> Void)? {
    get { host.onObservation }
    set { host.onObservation = newValue }
  }
  /// A handler for played audio: 48 kHz, mono.
  package var onAudio: ((Span<Int16>) -> Void)?
  package var microphone = AudioSource.silence
  /// A handler for each picture of a remote track when it is shown. It may not call the connection.
  package var onPicture: ((RenderedVideoFrame) -> Void)? {
    get { host.onPicture }
    set { host.onPicture = newValue }
  }

  private let world: any LiveWorld
  private let configuration: LiveConfiguration
  private let host: LiveSessionHost
  let driver: SessionDriver<LiveSessionHost>
  private var interfaceTimer = LoopTimer {}
  private var audio: AudioDevice?
  private var camera: CameraDevice?
  /// The addresses that have a socket.
  private var addresses: [InterfaceAddress] = []
  /// The errors for addresses on which no socket could be opened.
  package private(set) var refusals: [SystemError] = []
  /// A reference to itself, which keeps a closed connection alive until its relays are released.
  private var lingering: LiveConnection?

  private static let interfaceCheckPeriod = Interval.seconds(2)

  package init(_ configuration: LiveConfiguration, world: any LiveWorld) {
    self.world = world
    self.configuration = configuration
    host = LiveSessionHost(configuration, world: world)
    driver = SessionDriver(configuration: configuration.session, random: configuration.random, environment: host)
    interfaceTimer = world.makeTimer { [unowned self] in
      self.world.listAddresses { [weak self] found in self?.use(found) }
    }
    host.onWake = { [unowned driver] in driver.advance() }
    host.onTrack = { [unowned self] in startAudio() }
    host.onSilence = { [unowned self] in lingering = nil }
    use(world.addresses)
  }

  deinit {
    // Sockets do not keep the world alive, so they must close first.
    driver.closeEverything()
    host.end()
    world.remove(interfaceTimer)
  }

  // MARK: State

  package var signalingState: SignalingState { driver.session.signalingState }
  package var connectionState: ConnectionState { driver.session.connectionState }
  package var iceConnectionState: ICEConnectionState { driver.session.iceConnectionState }
  package var dtlsState: DTLSTransportState { driver.session.dtlsState }
  package var iceGatheringState: ICEGatheringState { driver.session.iceGatheringState }
  /// The local description with the candidates found so far (W3C `localDescription`).
  package var localDescription: SessionDescriptionText? { driver.session.localDescription }
  package var interfaces: [LocalInterface] { driver.interfaces }

  package func statistics() -> StatsReport { driver.session.statistics(at: world.now) }

  package var isClosed: Bool { driver.isClosed }
  /// Whether a closed connection has sent its last messages and closed its sockets.
  package var isSilent: Bool { driver.isSilent }

  // MARK: Negotiation

  /// Sends a track, and plays received audio.
  @discardableResult
  package func addTrack(_ track: MediaStreamTrack = .microphone) throws(SessionError) -> Transceiver.ID {
    defer { driver.drain() }
    let sender = try driver.session.addTrack(track)
    switch track.kind {
    case .audio: startAudio()
    case .video: startCamera()
    }
    return sender
  }

  private func startCamera() {
    guard camera == nil, !isClosed, let video = configuration.session.video else { return }
    camera = CameraDevice(connection: self, world: world, settings: video, camera: configuration.camera)
  }

  /// Starts the device at the first track, local or remote, because it both records and plays.
  private func startAudio() {
    guard audio == nil, !isClosed else { return }
    audio = AudioDevice(connection: self, world: world, firstFrame: world.now + configuration.audioPhase)
  }

  package func removeTrack(_ sender: Transceiver.ID) throws(SessionError) {
    try driver.perform { session, _ throws(SessionError) in try session.removeTrack(sender) }
  }

  /// Holds or resumes media with the next negotiation (W3C `direction`).
  package func setDirection(_ direction: MediaDirection, of transceiver: Transceiver.ID) throws(SessionError) {
    try driver.perform { session, _ throws(SessionError) in try session.setDirection(direction, of: transceiver) }
  }

  package func setTrackEnabled(_ enabled: Bool, of sender: Transceiver.ID) {
    // A sender has one kind of media: the other call changes nothing.
    driver.session.setAudioEnabled(enabled, of: sender)
    driver.session.setVideoEnabled(enabled, of: sender)
  }

  /// The codecs that this side can negotiate for a kind of media, helpers such as RTX included.
  package func codecs(for kind: MediaKind) -> [CodecCapability] { driver.session.codecs(for: kind) }

  package func setCodecPreferences(
    _ codecs: [CodecCapability], of transceiver: Transceiver.ID
  ) throws(SessionError) {
    try driver.session.setCodecPreferences(codecs, of: transceiver)
  }

  package func createOffer() throws(SessionError) -> SessionDescriptionText {
    try driver.perform { session, _ throws(SessionError) in try session.createOffer() }
  }

  package func createAnswer() throws(SessionError) -> SessionDescriptionText {
    try driver.perform { session, _ throws(SessionError) in try session.createAnswer() }
  }

  package func setLocalDescription(_ description: SessionDescriptionText) throws(SessionError) {
    try driver.perform { session, now throws(SessionError) in
      try session.setLocalDescription(description, at: now)
    }
  }

  package func setRemoteDescription(_ description: SessionDescriptionText) throws(SessionError) {
    try driver.perform { session, now throws(SessionError) in
      try session.setRemoteDescription(description, at: now)
    }
  }

  /// Adds a remote candidate (`candidate:…`); nil or empty text is the end of candidates.
  package func addICECandidate(_ candidate: String?, mid: String?, mLineIndex: Int?) throws(SessionError) {
    try driver.perform { session, now throws(SessionError) in
      try session.addICECandidate(candidate, mid: mid, mLineIndex: mLineIndex, at: now)
    }
  }

  /// Makes the next offer restart ICE (W3C `restartIce`).
  package func restartICE() {
    driver.perform { session, _ in session.restartICE() }
  }

  /// Sends BYE and closes everything. No event follows. Sockets stay open until relays are released, at most a second:
  /// then ``isSilent`` is true.
  package func close() {
    guard !isClosed else { return }
    lingering = self
    host.fallSilent()
    audio?.stop()
    audio = nil
    camera?.stop()
    camera = nil
    interfaceTimer.deadline = nil
    driver.close()
  }

  // MARK: Interfaces

  /// Opens a socket on each new address, and closes the sockets of addresses that are gone.
  private func use(_ all: [InterfaceAddress]?) {
    guard !isClosed else { return }
    interfaceTimer.deadline = world.now + Self.interfaceCheckPeriod
    guard let all else { return }
    let found = configuration.interfaces.select(from: all)
    guard found != addresses else { return }
    let refused = host.trying(found) {
      driver.setAddresses(found.map { DeviceAddress($0.address, name: $0.name, networkType: $0.networkType) })
    }
    for error in refused where !refusals.contains(error) { configuration.log("\(error)") }
    refusals = refused
    // Addresses without a socket are tried again: duplicate detection takes a second, and a port may become free.
    addresses = found.filter { address in interfaces.contains { $0.socket.address == address.address } }
  }

  // MARK: Media

  func sendVideo(_ input: VideoInput) { driver.sendVideo(input) }

  func sendAudio(_ samples: Span<Int16>) {
    driver.sendAudio(samples) { _ in }
  }

  func playAudio(_ count: Int, into output: inout OutputSpan<Int16>) {
    _ = driver.playAudio(sampleCount: count, into: &output)
  }
}
