internal import CallCore
internal import CallSession
internal import Codecs
internal import ICE
internal import SDP

/// Our call session on the sockets, timers and audio of a virtual device.
final class SessionConnection: PeerConnection {
  weak var delegate: (any PeerConnectionDelegate)?

  private let environment: ConnectionEnvironment
  private let host: SimulatedSessionHost
  private let driver: SessionDriver<SimulatedSessionHost>
  private var isClosed = false
  private var audio: AudioLoop?

  init(configuration: SessionConfiguration, random: RandomSource, environment: ConnectionEnvironment) {
    self.environment = environment
    host = SimulatedSessionHost(environment)
    driver = SessionDriver(configuration: configuration, random: random, environment: host)
    host.connection = self
    host.onWake = { [unowned driver] in driver.advance() }
    updateInterfaces()
  }

  // MARK: State

  var signalingState: SignalingState { driver.session.signalingState }
  var connectionState: ConnectionState { driver.session.connectionState }
  var iceConnectionState: ICEConnectionState { driver.session.iceConnectionState }
  var hasRemoteDescription: Bool { driver.session.hasRemoteDescription }

  func statistics() -> StatsReport { driver.session.statistics(at: environment.clock.now) }

  // MARK: Negotiation

  /// All that are not stopped, in the order of their making (W3C `getTransceivers`).
  var transceivers: [Transceiver] { driver.session.transceivers }

  /// Adds a track of the microphone, and with the first starts the device's audio unit (W3C `addTrack`).
  @discardableResult
  func addAudio() throws(SessionError) -> Transceiver.ID {
    defer { driver.drain() }
    let sender = try driver.session.addTrack(.audio)
    startAudio()
    return sender
  }

  /// Adds a transceiver (W3C `addTransceiver`); one that receives plays what comes.
  @discardableResult
  func addAudioTransceiver(direction: MediaDirection) throws(SessionError) -> Transceiver.ID {
    defer { driver.drain() }
    let transceiver = try driver.session.addAudioTransceiver(direction: direction)
    startAudio()
    return transceiver
  }

  /// Ends a sender's track; its transceiver goes on to receive (W3C `removeTrack`).
  func removeAudio(_ sender: Transceiver.ID) throws(SessionError) {
    try driver.perform { session, _ throws(SessionError) in try session.removeTrack(sender) }
  }

  /// Holds or resumes, once negotiated (W3C `direction`).
  func setDirection(_ direction: MediaDirection, of transceiver: Transceiver.ID) throws(SessionError) {
    try driver.perform { session, _ throws(SessionError) in try session.setDirection(direction, of: transceiver) }
  }

  /// Ends a transceiver for good (W3C `stop`).
  func stop(_ transceiver: Transceiver.ID) throws(SessionError) {
    try driver.perform { session, _ throws(SessionError) in try session.stop(transceiver) }
  }

  private func startAudio() {
    guard audio == nil else { return }
    environment.device.startAudioUnit()
    let loop = AudioLoop(connection: self, environment: environment)
    audio = loop
    loop.start()
  }

  func createOffer() throws(SessionError) -> SessionDescriptionText { try driver.session.createOffer() }

  func createAnswer() throws(SessionError) -> SessionDescriptionText { try driver.session.createAnswer() }

  func setLocalDescription(_ description: SessionDescriptionText) throws(SessionError) {
    try driver.perform { session, now throws(SessionError) in
      try session.setLocalDescription(description, at: now)
    }
  }

  func setRemoteDescription(_ description: SessionDescriptionText) throws(SessionError) {
    try driver.perform { session, now throws(SessionError) in
      try session.setRemoteDescription(description, at: now)
    }
  }

  /// Adds a remote candidate (`candidate:…`), or with nil says that there are no more.
  func addICECandidate(_ candidate: String?, mid: String?, mLineIndex: Int?) throws(SessionError) {
    try driver.perform { session, now throws(SessionError) in
      try session.addICECandidate(candidate, mid: mid, mLineIndex: mLineIndex, at: now)
    }
  }

  /// Makes the next offer restart ICE (W3C `restartIce`).
  func restartICE() {
    driver.perform { session, _ in session.restartICE() }
  }

  /// Enables or disables a sender's track, or every one; disabled, silence is sent (W3C `track.enabled`).
  func setAudioEnabled(_ enabled: Bool, of sender: Transceiver.ID? = nil) {
    driver.session.setAudioEnabled(enabled, of: sender)
  }

  /// Closes everything. No event follows. Sockets stay until relays have been given back, a second at most.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    delegate = nil
    environment.keep(self)
    driver.close()
    host.close()
    audio?.stop()
    audio = nil
    environment.device.stopAudioUnit()
    environment.connectionClosed(self)
  }

  func updateInterfaces() { driver.setAddresses(host.addresses) }

  // MARK: Audio

  func sendAudio(_ samples: Span<Int16>) {
    driver.session.sendAudio(samples, at: environment.clock.now)
    noteRecorded()
    driver.drain()
  }

  func sendAudio(_ level: AudioLevel, duration: Interval) {
    driver.session.sendAudio(level, duration: duration, at: environment.clock.now)
    noteRecorded()
    driver.drain()
  }

  private func noteRecorded() {
    for position in driver.session.recordedPositions {
      environment.audioRecord.record(position, at: environment.clock.now)
    }
  }

  /// Pulls `count` samples from the jitter buffer; the result says how loud they are, nil when nothing plays yet.
  func playAudio(sampleCount count: Int, into output: inout OutputSpan<Int16>) -> AudioLevel? {
    let level = driver.session.playAudio(sampleCount: count, into: &output, at: environment.clock.now)
    environment.audioRecord.play(driver.session.playedPosition, at: environment.clock.now)
    return level
  }
}
