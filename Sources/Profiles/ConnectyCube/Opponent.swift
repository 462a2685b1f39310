internal import CallCore
internal import ICE
internal import PeerSession
internal import SDP
internal import VirtualPeer
internal import Vocabulary

/// Another user of a session, and the peer connection to it.
final class Opponent: PeerConnectionDelegate {
  /// The states of a connection to an opponent, in the product's words.
  enum State: String, CaseIterable {
    case unknown, new, pending, connecting, checking, connected, disconnected, closed
    case disconnectTimeout, noAnswer, rejected, hangUp, failed
  }

  let id: String
  unowned let session: ConnectyCubeSession
  let trace: PeerTrace
  private(set) var state: State
  private(set) var connection: (any PeerConnection)?
  /// The offer of this user, until the session is accepted.
  var pendingOffer: String?
  /// The answer to it, where a planted defect set the connection up while the call rings.
  var earlyAnswer: SessionDescriptionText?
  /// The offer that is repeated until it is answered.
  private(set) var dialledOffer: String?
  /// The time until the next repetition.
  var dialling: PeerTimer? { didSet { oldValue?.cancel() } }
  /// The end of the time for an answer, for connecting, or for a lost connection to come back.
  var limit: PeerTimer? { didSet { oldValue?.cancel() } }
  private var camera: Transceiver.ID?
  private var microphone: Transceiver.ID?
  /// Local candidates that wait until the signalling state is stable.
  private var localCandidates: [CallSignal.Candidate] = []
  /// Remote candidates that wait for a remote description.
  private var remoteCandidates: [CallSignal.Candidate] = []
  private var wasConnected = false
  /// The reports of the statistics; nil before the connection stands, and where the app wants none.
  private var reporter: StatsReporter? { didSet { oldValue?.stop() } }
  /// The loudness of the user's voice in the last report.
  private(set) var audioReceivedOutputLevel = 0

  /// The limit on stored candidates: more than a correct client sends before its description arrives.
  static let candidateLimit = 100

  init(_ id: String, of session: ConnectyCubeSession, _ trace: PeerTrace) {
    self.id = id
    self.session = session
    self.trace = trace
    state = .unknown
    trace.set("opponent.session.id", session.id)
    trace.set("remote-audio.muted", false)
    trace.set("user-info", "none")
    enter(.new, on: "session")
  }

  /// Writes the state of the session with this user, which is over for who has left.
  func entered(_ state: ConnectyCubeSession.State, on event: String) {
    trace.enter("opponent.session.state", state.rawValue, on: event)
  }

  var isClosed: Bool { state == .closed }
  /// Whether the connection ended by itself, and the user may be in the call still.
  private(set) var isLost = false
  /// Whether the user has taken part: a connection was made with its description.
  var isConnecting: Bool { [.connecting, .checking, .connected, .disconnected].contains(state) }

  func enter(_ state: State, on event: String) {
    guard state != self.state, trace.enter("opponent.state", state.rawValue, on: event) else { return }
    self.state = state
  }

  func notify(_ callback: SessionCallback) { session.notify(callback, of: self) }

  // MARK: Tracks

  func open() throws(SessionError) -> any PeerConnection {
    let connection = session.environment.connections.make(to: id, dtls: session.usesDTLS ? .offered : .off)
    connection.delegate = self
    self.connection = connection
    microphone = try connection.addTrack()
    if session.isVideo, session.environment.device.settings.hasVideo {
      if session.environment.device.settings.camera != nil {
        camera = try connection.addTrack(.camera)
      } else if pendingOffer == nil {
        _ = try connection.addTransceiver(.video, TransceiverInit(direction: .recvonly))
      }
    }
    apply(session.tracks)
    if isRemoteAudioMuted { try connection.setReceivedAudioEnabled(false) }
    return connection
  }

  /// Whether the user's audio is not played here.
  private(set) var isRemoteAudioMuted = false

  /// Disables or enables the remote audio track: here alone, and whatever the user sends.
  func setRemoteAudioMuted(_ isMuted: Bool) throws(SessionError) {
    try connection?.setReceivedAudioEnabled(!isMuted)
    isRemoteAudioMuted = isMuted
    trace.set("remote-audio.muted", isMuted)
  }

  private var audioSink: AudioSink?

  /// Gives the buffers of the remote audio track to a sink of the app, or to none.
  func setAudioSink(_ isOn: Bool) throws(SessionError) {
    guard let connection else { throw .invalidState("there is no track yet") }
    audioSink?.tell()
    audioSink = nil
    guard isOn else { return try connection.setAudioSink(nil) }
    let sink = AudioSink(trace, at: session.environment.clock.now)
    try connection.setAudioSink { sink.take($0) }
    audioSink = sink
  }

  /// Enables or disables the local tracks: a disabled one sends silence, or black pictures.
  func apply(_ tracks: ConnectyCubeSession.Tracks) {
    if let microphone, connection?.connectionState == .connected || !Defect.muteCompletesLate.isPlanted {
      connection?.setTrackEnabled(tracks.isAudioEnabled, of: microphone)
    }
    if let camera { connection?.setTrackEnabled(tracks.isVideoEnabled, of: camera) }
  }

  // MARK: Negotiation

  /// Creates the offer and returns it.
  func offer() throws(SessionError) -> String {
    let connection = try open()
    let offer = try connection.createOffer()
    let sdp = session.limited(offer.sdp)
    dialledOffer = sdp
    enter(.pending, on: "startCall")
    try connection.setLocalDescription(offer)
    return sdp
  }

  /// Answers the pending offer and returns the answer.
  func answer() throws(SessionError) -> String {
    guard let sdp = pendingOffer else { throw .invalidState("no offer of \(id)") }
    if let answer = earlyAnswer { return finishEarlySetup(sdp, answer) }
    let connection = try open()
    pendingOffer = nil
    let offer = SessionDescriptionText(.offer, sdp: session.limited(sdp))
    startConnecting(with: offer)
    try connection.setRemoteDescription(offer)
    let answer = try connection.createAnswer()
    guard !answer.rejectsEverything else { throw .noCommonCodec }
    try connection.setLocalDescription(answer)
    addRemoteCandidates()
    return session.limited(answer.sdp)
  }

  /// Takes the user's answer to the dialled offer.
  func answered(_ sdp: String) throws(SessionError) {
    (dialling, dialledOffer) = (nil, nil)
    let answer = SessionDescriptionText(.answer, sdp: session.limited(sdp))
    startConnecting(with: answer)
    try connection?.setRemoteDescription(answer)
    guard !answer.rejectsEverything else { throw .noCommonCodec }
    addRemoteCandidates()
    sendLocalCandidates()
  }

  /// - Parameter description: That of the user.
  func startConnecting(with description: SessionDescriptionText) {
    enter(.connecting, on: "accept")
    session.startSetupLimit(of: self, agreesOnDTLS: description.hasFingerprint == session.usesDTLS)
    notify(.startedConnectingToUser)
  }

  // MARK: ICE restart

  func offerRestart() throws(SessionError) -> String? {
    guard let connection, dialledOffer == nil else { return nil }
    // A restart that was not answered may be lost.
    if connection.signalingState == .haveLocalOffer {
      try connection.setLocalDescription(SessionDescriptionText(.rollback, sdp: ""))
    }
    guard connection.signalingState == .stable else { return nil }
    connection.restartICE()
    let offer = try connection.createOffer()
    try connection.setLocalDescription(offer)
    return session.limited(offer.sdp)
  }

  func answerRestart(_ sdp: String) throws(SessionError) -> String? {
    guard let connection, connection.signalingState == .stable, isConnecting else { return nil }
    try connection.setRemoteDescription(SessionDescriptionText(.offer, sdp: session.limited(sdp)))
    if Defect.muteLostInRenegotiation.isPlanted { connection.setTrackEnabled(true) }
    let answer = try connection.createAnswer()
    try connection.setLocalDescription(answer)
    return session.limited(answer.sdp)
  }

  func restartAnswered(_ sdp: String) throws(SessionError) {
    guard let connection, connection.signalingState == .haveLocalOffer, dialledOffer == nil else { return }
    try connection.setRemoteDescription(SessionDescriptionText(.answer, sdp: session.limited(sdp)))
    sendLocalCandidates()
  }

  // MARK: Candidates

  func add(_ candidate: CallSignal.Candidate) {
    guard let connection, connection.hasRemoteDescription else {
      if remoteCandidates.count < Self.candidateLimit || Defect.waitingCandidatesUnbounded.isPlanted {
        remoteCandidates.append(candidate)
      }
      trace.backlog("candidates", remoteCandidates.count)
      return
    }
    do throws(SessionError) {
      try connection.addICECandidate(candidate.text, mid: candidate.mid, mLineIndex: candidate.mLineIndex)
    } catch {
      trace.event(PeerEvents.messageRejected.name, "reason", "candidate: \(error)")
    }
  }

  private func addRemoteCandidates() {
    let waiting = remoteCandidates
    remoteCandidates = []
    for candidate in waiting { add(candidate) }
  }

  private func sendLocalCandidates() {
    guard connection?.signalingState == .stable, !localCandidates.isEmpty else { return }
    session.send(candidates: localCandidates, to: self)
    localCandidates = []
  }

  // MARK: Statistics

  private func startReports() {
    guard reporter == nil, let connection, let interval = session.statsReportInterval else { return }
    reporter = StatsReporter(connection, every: interval, by: session.environment.clock) { [weak self] report in
      self?.reported(report)
    }
  }

  /// Shows what an app reads from the text of a report.
  private func reported(_ report: ConnectionReport) {
    do throws(StatsStringError) {
      trace.set(try StatsString(parsing: "\(report.text)"))
    } catch {
      session.environment.trace.raise("cc.bad_stats_string")
    }
    audioReceivedOutputLevel = report.audioReceivedOutputLevel
    trace.set("report.audioReceivedOutputLevel", audioReceivedOutputLevel)
    notify(.updatedStatsReport)
    session.levelsChanged()
  }

  // MARK: The end

  /// Closes the connection after the states and callbacks of its cause.
  func close(after cause: State? = nil, callbacks: [SessionCallback], on event: String) {
    guard !isClosed else { return }
    isLost = cause == .failed || cause == .disconnectTimeout
    if let cause { enter(cause, on: event) }
    release()
    enter(.closed, on: event)
    entered(.closed, on: event)
    for callback in callbacks + [.connectionClosedForUser] { notify(callback) }
  }

  /// Releases timers and the peer connection without a word.
  func release() {
    (dialling, reporter) = (nil, nil)
    if !Defect.lossTimerLeaks.isPlanted { limit = nil }
    if audioReceivedOutputLevel > 0 {
      audioReceivedOutputLevel = 0
      session.levelsChanged()
    }
    (pendingOffer, dialledOffer) = (nil, nil)
    audioSink?.tell()
    audioSink = nil
    if !wasConnected, Defect.captureOutlivesSetup.isPlanted { closeLate() } else { connection?.close() }
    connection = nil
  }

  // MARK: PeerConnectionDelegate

  func connection(_ connection: any PeerConnection, did event: SessionEvent) {
    guard connection === self.connection else { return }
    switch event {
    case .iceCandidate(let text?, let mid, let index):
      localCandidates.append(CallSignal.Candidate(text: text, mid: mid, mLineIndex: index))
      sendLocalCandidates()
    case .signalingStateChange: sendLocalCandidates()
    case .iceConnectionStateChange(.checking) where state == .connecting: enter(.checking, on: "ICE checks")
    case .track(_, let kind): notify(kind == .audio ? .receivedRemoteAudioTrack : .receivedRemoteVideoTrack)
    case .connectionStateChange(let state): changed(to: state)
    // The end of candidates is not sent; the app decides itself when to negotiate, and has no data channels.
    case .iceCandidate(nil, _, _), .iceServerError, .iceCandidatesRemoved, .iceGatheringStateChange,
      .iceConnectionStateChange, .selectedCandidatePairChange, .dtlsStateChange, .dtlsFailed, .negotiationNeeded,
      .removeTrack, .mute, .unmute, .ended, .toneChange, .sctpStateChange, .dataChannel, .dataChannelStateChange,
      .dataChannelMessage, .dataChannelBufferedAmountLow, .dataChannelError, .forwardingChange:
      break
    }
  }

  private func changed(to connectionState: ConnectionState) {
    switch connectionState {
    case .connected where state != .connected:
      limit = nil
      wasConnected = true
      startReports()
      enter(.connected, on: "ICE and DTLS")
      notify(.connectedToUser)
      session.connected(self)
      if Defect.muteCompletesLate.isPlanted { completeMute() }
    case .disconnected where state == .connected:
      enter(.disconnected, on: "ICE disconnected")
      notify(.disconnectedFromUser)
      session.disconnected(self)
    case .failed: session.failed(self, wasConnected: wasConnected)
    case .new, .connecting, .connected, .disconnected, .closed: break
    }
  }
}
