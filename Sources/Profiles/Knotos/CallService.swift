internal import CallCore
internal import ICE
internal import PeerSession
internal import SDP
internal import VirtualPeer
internal import Vocabulary

/// The sole owner of call transitions: one call at a time, from `idle` to `ended` and back.
final class CallService: PeerConnectionDelegate {
  private struct Settings {
    var ringTimeout: Interval
    var setupTimeout: Interval
    var audioSession: AudioSessionOrder
    var restartsICE: Bool
    var resetAfter: Interval
    var usesCallKit: Bool
    var resumesInForeground: Bool

    init(_ arguments: NamedValues) {
      ringTimeout = arguments.duration("ring-timeout") ?? .seconds(45)
      setupTimeout = arguments.duration("setup-timeout") ?? .seconds(30)
      audioSession = arguments.text("audio-session").flatMap(AudioSessionOrder.init) ?? .before
      restartsICE = arguments.flag("ice-restart") ?? false
      resetAfter = arguments.duration("reset-after") ?? .seconds(1)
      usesCallKit = arguments.flag("callkit") ?? false
      resumesInForeground = arguments.text("audio-resume") != "ended-event"
    }
  }

  let environment: PeerEnvironment
  private let socket: SocketIOClient
  private let settings: Settings
  var trace: PeerTrace { environment.trace }

  private(set) var call: Call?
  /// Whether the app takes the audio again when it is in the foreground, too.
  var resumesInForeground: Bool { settings.resumesInForeground }
  /// Whether the app performs an end action of CallKit.
  var isEndingForCallKit = false
  var usesCallKit: Bool { settings.usesCallKit }
  var configuresAudio: Bool { settings.audioSession != .never }
  private var callCount = 0
  /// The ids of ended calls: their late messages must not revive them.
  private var endedCalls: Set<String> = []
  /// Candidates that arrived before their offer.
  private var early = EarlyCandidates()

  init(environment: PeerEnvironment, socket: SocketIOClient) {
    self.environment = environment
    self.socket = socket
    settings = Settings(environment.settings)
  }

  var state: String { trace.state(of: "call.state") ?? "idle" }

  /// Moves the call state, or raises an error code if the transition is not allowed.
  @discardableResult
  private func enter(_ state: String, on event: String) -> Bool {
    let moved = trace.enter("call.state", state, on: event)
    if !moved { trace.raise("kn.illegal_transition") }
    return moved
  }

  // MARK: User actions

  func startCall(to callee: String) throws(ActionError) {
    guard state == "idle" else { throw ActionError("there is a call already") }
    guard callee != environment.userID else { throw ActionError("a user cannot call itself") }
    callCount = Defect.callIDsOfProcess.isPlanted ? CallsOfProcess.next() : callCount + 1
    // Somebody may have guessed the next id, and ended that call before it was placed.
    while endedCalls.contains(newID) { callCount += 1 }
    let call = Call(id: newID, peer: callee, isCaller: true)
    self.call = call
    trace.begin(call: call.id, with: call.peer)
    enter("calling", on: "startCall")
    trace.set(PeerEvents.accepted.name, true)
    open(call)
    if usesCallKit { environment.callKit.request(CallKitAction(.start, of: call.callKitID)) }
    startRinging(call)
    if socket.state == .connected { sendOffer(call) } else { call.wantsOffer = true }
  }

  /// An id that no earlier launch of the app has given.
  private var newID: String {
    let launch = environment.launchCount == 1 ? "" : ".\(environment.launchCount)"
    return "\(environment.name)\(launch)-\(callCount)"
  }

  func accept() throws(ActionError) {
    guard let call, state == "ringing" else { throw ActionError("nothing is ringing") }
    trace.set(PeerEvents.accepted.name, true)
    pickUp(call, on: "accept")
  }

  /// Connects the ringing call.
  private func pickUp(_ call: Call, on event: String) {
    guard let offer = call.pendingOffer else { return }
    call.timer?.cancel()
    enter("connecting", on: event)
    guard call.connection == nil else { return finishEarlySetup(call) }
    open(call)
    startSetupTimer(call)
    answer(call, offer: offer)
  }

  func decline() throws(ActionError) {
    guard let call, state == "ringing" else { throw ActionError("nothing is ringing") }
    send(.decline, call)
    trace.raise("kn.declined")
    end(.declined, code: "declined", on: "decline")
  }

  func hangUp() throws(ActionError) {
    guard let call, state != "ended" else { throw ActionError("there is no call") }
    guard !requests(.end, of: call) else { return }
    if state == "ringing" {
      try decline()
      return
    }
    send(.hangup(reason: nil), call)
    let blamesOther = state == "connecting" && Defect.hangupBlamedOnOther.isPlanted
    end(.localHangup, code: blamesOther ? "remote-hangup" : "local-hangup", on: "hangup")
  }

  func setMuted(_ muted: Bool) throws(ActionError) {
    guard let call, call.connection != nil else { throw ActionError("there is no call") }
    if !requests(.setMuted(muted), of: call) { mute(call, muted) }
  }

  func mute(_ call: Call, _ muted: Bool) {
    call.isMuted = muted
    if call.connection?.connectionState == .connected || !Defect.muteCompletesLate.isPlanted {
      call.connection?.setTrackEnabled(!muted && !call.isHeld, of: call.microphone)
    }
    trace.set("mic.muted", muted)
  }

  func send(digits: String) throws(ActionError) {
    guard let call, state == "connected", let connection = call.connection, let microphone = call.microphone else {
      throw ActionError("no connected call")
    }
    do throws(SessionError) {
      try connection.insertDTMF(digits, of: microphone)
    } catch {
      throw ActionError("\(error)")
    }
  }

  /// Stops or resumes sending the camera's pictures; black ones go on meanwhile.
  func setCameraOff(_ isOff: Bool) throws(ActionError) {
    guard let call, call.connection != nil else { throw ActionError("there is no call") }
    guard call.camera != nil else { throw ActionError("this call sends no camera") }
    turnCamera(off: isOff, call)
  }

  private func turnCamera(off isOff: Bool, _ call: Call) {
    guard let camera = call.camera else { return }
    call.isCameraOff = isOff
    call.connection?.setTrackEnabled(!isOff, of: camera)
    trace.set("camera.off", isOff)
  }

  func restartICE() throws(ActionError) {
    guard let call, state == "connected", call.connection != nil else { throw ActionError("no connected call") }
    beginRestart(call)
  }

  // MARK: Signalling

  func received(_ message: KnotosMessage) {
    guard Defect.endedCallRevived.isPlanted || !endedCalls.contains(message.callID) else {
      reject(message, "call is over")
      // The end of the call may have been lost, and its partner goes on.
      if case .offer = message.body, let sender = message.sender {
        reply(.hangup(reason: nil), callID: message.callID, to: sender)
      }
      return
    }
    guard let sender = message.sender else { return reject(message, "no sender") }
    if case .offer(let sdp, _) = message.body { return receivedOffer(sdp, from: sender, message) }
    guard let call, call.id == message.callID else { return receivedEarly(message, from: sender) }
    guard sender == call.peer || Defect.strangersObeyed.isPlanted else { return reject(message, "wrong sender") }
    switch message.body {
    case .offer: break
    case .answer where Defect.callersAnswerObeyed.isPlanted && state == "ringing": pickUp(call, on: "call_answer")
    case .answer(let sdp): receivedAnswer(sdp, call, message)
    case .candidate(let text, let mid, let index):
      call.pass { [trace] in
        call.addRemoteCandidate(.init(text: text, mid: mid, mLineIndex: index)) { trace.raise("kn.bad_event") }
        trace.backlog("candidates", call.waitingCandidates.count)
      }
    case .decline, .busy:
      guard call.isCaller ? state == "calling" : Defect.refusalObeyedByCallee.isPlanted else {
        return reject(message, "unexpected message")
      }
      let isBusy = message.body == .busy
      trace.raise(isBusy ? "kn.busy" : "kn.declined")
      end(.declined, code: isBusy ? "busy" : "declined", on: message.name)
    case .hangup(let reason?)
    where Self.failureCodes.contains(reason) && ["calling", "connecting", "connected"].contains(state):
      end(.failed, code: reason, on: "call_hangup")
    case .hangup:
      if state == "ringing" {
        end(.missed, code: "cancelled", on: "call_hangup")
      } else if state != "ended" {
        end(.remoteHangup, code: "remote-hangup", on: "call_hangup")
      }
    }
  }

  /// Handles a message of an unknown call, perhaps because it arrived before its offer.
  private func receivedEarly(_ message: KnotosMessage, from sender: String) {
    switch message.body {
    case .candidate(let text, let mid, let index):
      early.add(.init(text: text, mid: mid, mLineIndex: index), to: message.callID, from: sender)
    case .hangup:
      // The call's offer must not ring if it arrives later.
      if !Defect.earlyHangupForgotten.isPlanted { endedCalls.insert(message.callID) }
      reject(message, "unknown call")
    case .offer, .answer, .decline, .busy: reject(message, "unknown call")
    }
  }

  private func adoptEarlyCandidates(_ call: Call) {
    for candidate in early.take(call.id, from: call.peer) {
      call.addRemoteCandidate(candidate) { trace.raise("kn.bad_event") }
    }
  }

  private func receivedOffer(_ sdp: String, from caller: String, _ message: KnotosMessage) {
    guard let call, state != "idle", state != "ended" else {
      guard state == "idle" else { return reply(.busy, callID: message.callID) }
      ring(callID: message.callID, caller: caller, sdp: sdp)
      return
    }
    if Defect.participantJoinsRinging.isPlanted, state == "ringing", joins(call, caller, message) {
      pickUp(call, on: "call_offer")
    } else if Defect.updateAppliedWhileRinging.isPlanted, state == "ringing", call.id == message.callID {
      open(call)
      answer(call, offer: sdp)
    } else if call.id == message.callID {
      guard state == "connected", call.peer == caller else { return reject(message, "duplicate offer") }
      renegotiate(call, sdp)
    } else if state == "calling", call.peer == caller {
      resolveGlare(call, callID: message.callID, sdp: sdp)
    } else {
      reply(.busy, callID: message.callID)
    }
  }

  private func ring(callID: String, caller: String, sdp: String) {
    let call = Call(id: callID, peer: caller, isCaller: false)
    call.pendingOffer = sdp
    self.call = call
    trace.begin(call: call.id, with: call.peer)
    adoptEarlyCandidates(call)
    trace.set(PeerEvents.accepted.name, false)
    enter("ringing", on: "call_offer")
    if !Defect.ringTimerForgotten.isPlanted { startRinging(call) }
    if usesCallKit { reportIncoming(call) }
    if Defect.earlyCandidatesConnect.isPlanted { setUpEarly(call, withholding: true) }
    if Defect.addressesRevealedWhileRinging.isPlanted { setUpEarly(call, withholding: false) }
  }

  /// Resolves a glare: the user with the lower id is polite, drops its own call and answers the other's.
  private func resolveGlare(_ own: Call, callID: String, sdp: String) {
    guard environment.userID < own.peer else {
      endedCalls.insert(callID)
      trace.event("glare", "outcome", "ignored-theirs")
      return sendAgainIfLost(own)
    }
    trace.event("glare", "outcome", "yielded")
    endedCalls.insert(own.id)
    // If our offer arrives late, when the other user is free again, it must not ring.
    send(.hangup(reason: nil), own)
    let call = Call(id: callID, peer: own.peer, isCaller: false)
    call.pendingOffer = sdp
    (call.callKitID, call.isHeld) = (own.callKitID, own.isHeld)
    if Defect.yieldedCallKeptOpen.isPlanted { call.yielded = own } else { own.close() }
    self.call = call
    trace.begin(call: call.id, with: call.peer)
    adoptEarlyCandidates(call)
    enter("connecting", on: "call_offer")
    open(call)
    // The user who muted the call that both have placed muted this one.
    if own.isMuted || own.isHeld { mute(call, own.isMuted) }
    if own.isCameraOff { turnCamera(off: true, call) }
    startSetupTimer(call)
    answer(call, offer: sdp)
  }

  private func receivedAnswer(_ sdp: String, _ call: Call, _ message: KnotosMessage) {
    guard let connection = call.connection, connection.signalingState == .haveLocalOffer,
      call.isCaller || call.isRestarting
    else { return reject(message, "unexpected message") }
    let isSetup = state == "calling"
    guard isSetup || state == "connected" else { return reject(message, "unexpected message") }
    if isSetup {
      call.timer?.cancel()
      enter("connecting", on: "call_answer")
      startSetupTimer(call)
    }
    endRestart(call)
    apply(call) { () throws(SessionError) in
      let answer = SessionDescriptionText(.answer, sdp: sdp)
      try connection.setRemoteDescription(answer)
      guard !answer.rejectsEverything else { throw .noCommonCodec }
      call.flushRemoteCandidates { trace.raise("kn.bad_event") }
    }
  }

  private func reject(_ message: KnotosMessage, _ reason: String) {
    trace.event(PeerEvents.messageRejected.name, "reason", "\(message.name): \(reason)")
    if reason == "unexpected message" { trace.raise("kn.illegal_transition") }
  }

  private func send(_ body: KnotosMessage.Body, _ call: Call) {
    reply(body, callID: call.id, to: call.peer)
  }

  private func reply(_ body: KnotosMessage.Body, callID: String, to peer: String? = nil) {
    let message = KnotosMessage(body, callID: callID)
    let delivered = socket.emit(message.packet)
    trace.signalSent(type: message.name, to: peer ?? "server", isLost: !delivered)
  }

  func socketChanged(isConnected: Bool) {
    guard let call else { return }
    if isConnected, call.wantsOffer, state == "calling" {
      call.wantsOffer = false
      sendOffer(call)
    }
    if isConnected, state == "connected" { resumeRestart(call) }
    guard state == "connecting" else { return }
    if isConnected {
      call.socketTimer = nil
    } else if call.socketTimer == nil {
      // The setup timer would end the call anyway; the socket may reconnect once first, regardless of its state
      // meanwhile.
      let timeout = SocketIOClient.reconnectDelay + .seconds(5)
      call.socketTimer = environment.clock.schedule(after: timeout) { [weak self, weak call] in
        guard let self, let call, self.call === call, state == "connecting" else { return }
        trace.raise("kn.socket_lost_in_setup")
        end(.failed, code: "signalling-failure", on: "socket lost")
      }
    }
  }

  // MARK: Connection

  /// Creates the peer connection, and configures the audio session at the time that the setting selects.
  private func open(_ call: Call) {
    if usesCallKit { environment.device.setManualAudio(true) }
    if settings.audioSession == .before { configureAudio() }
    let connection = environment.connections.make()
    connection.delegate = self
    call.connection = connection
    trace.set("mic.muted", false)
    apply(call) { () throws(SessionError) in
      call.microphone = try connection.addTrack()
      if hasVideo(call) { try addVideo(call, connection) }
    }
    if settings.audioSession == .after { configureAudio() }
  }

  /// Whether a call has video: the caller's device decides, and the callee's must have it too.
  private func hasVideo(_ call: Call) -> Bool {
    guard environment.device.settings.hasVideo else { return false }
    return call.isCaller || SessionDescriptionText(.offer, sdp: call.pendingOffer ?? "").has(.video)
  }

  /// Sends the camera. A caller without one offers to receive; a callee's section follows from the offer.
  private func addVideo(_ call: Call, _ connection: any PeerConnection) throws(SessionError) {
    if environment.device.settings.camera != nil {
      call.camera = try connection.addTrack(.camera)
      trace.set("camera.off", false)
    } else if call.isCaller {
      _ = try connection.addTransceiver(.video, TransceiverInit(direction: .recvonly))
    }
  }

  func configureAudio() {
    environment.device.configureAudioSession(
      category: .playAndRecord, mode: .voiceChat, options: [.allowBluetooth, .allowBluetoothA2DP])
    // With CallKit the system activates it.
    if !usesCallKit { environment.device.setAudioSessionActive(true) }
  }

  /// Takes the audio again for a call that had it before an interruption.
  func resumeAudio() {
    guard call?.connection != nil, settings.audioSession != .never, !usesCallKit else { return }
    environment.device.resumeAudioSession()
  }

  private func sendOffer(_ call: Call) {
    guard let connection = call.connection else { return }
    call.offeredAt = environment.clock.now
    apply(call) { () throws(SessionError) in
      let offer = try connection.createOffer()
      send(.offer(sdp: offer.sdp, callee: call.peer), call)
      try connection.setLocalDescription(offer)
    }
  }

  func answer(_ call: Call, offer: String) {
    guard let connection = call.connection else { return }
    apply(call) { () throws(SessionError) in
      try connection.setRemoteDescription(SessionDescriptionText(.offer, sdp: offer))
      let answer = try connection.createAnswer()
      guard !answer.rejectsEverything else { throw .noCommonCodec }
      send(.answer(sdp: answer.sdp), call)
      try connection.setLocalDescription(answer)
      call.flushRemoteCandidates { trace.raise("kn.bad_event") }
    }
  }

  /// Runs a negotiation step; an unusable description ends the call.
  func apply(_ call: Call, _ step: () throws(SessionError) -> Void) {
    do throws(SessionError) {
      try step()
    } catch {
      trace.raise("kn.sdp_rejected")
      trace.event("sdp-rejected", "reason", "\(error)")
      fail(error == .noCommonCodec ? "codec-mismatch" : "protocol-violation", on: "description refused")
    }
  }

  // MARK: ICE restart

  /// The longest time between two offers that cross each other.
  private static let crossingTime = Interval.seconds(2)

  /// Offers again when an offer of the other side cannot have crossed ours, which was lost.
  private func sendAgainIfLost(_ call: Call) {
    if let offeredAt = call.offeredAt, environment.clock.now - offeredAt > Self.crossingTime { sendOffer(call) }
  }

  private func beginRestart(_ call: Call) {
    guard let connection = call.connection, connection.signalingState == .stable else { return }
    call.isRestarting = true
    connection.restartICE()
    sendOffer(call)
    startRestartTimer(call)
  }

  /// Ends a restart that was answered, or gave way to the peer's. Where the call is connected meanwhile, its limit ends too.
  private func endRestart(_ call: Call) {
    call.isRestarting = false
    if call.connection?.connectionState == .connected { call.timer?.cancel() }
  }

  /// Resumes after a reconnection: restarts ICE if that had to wait, or if the offer or its answer may be lost.
  private func resumeRestart(_ call: Call) {
    let isUnanswered = call.isRestarting && call.connection?.signalingState == .haveLocalOffer
    guard call.wantsRestart || isUnanswered else { return }
    call.wantsRestart = false
    if isUnanswered {
      apply(call) { () throws(SessionError) in
        try call.connection?.setLocalDescription(SessionDescriptionText(.rollback, sdp: ""))
      }
    }
    beginRestart(call)
  }

  /// Answers the peer's restart at once; the polite side rolls back its own pending offer.
  private func renegotiate(_ call: Call, _ sdp: String) {
    guard let connection = call.connection else { return }
    if connection.signalingState == .haveLocalOffer {
      guard environment.userID < call.peer, !Defect.restartGlareIgnoredByBoth.isPlanted else {
        trace.event("glare", "outcome", "ignored-theirs")
        return sendAgainIfLost(call)
      }
      trace.event("glare", "outcome", "yielded")
      apply(call) { () throws(SessionError) in
        try connection.setLocalDescription(SessionDescriptionText(.rollback, sdp: ""))
      }
      endRestart(call)
    }
    if Defect.muteLostInRenegotiation.isPlanted { connection.setTrackEnabled(true) }
    answer(call, offer: sdp)
  }

  func networkChanged() {
    guard settings.restartsICE, let call, state == "connected" else { return }
    if socket.state == .connected { beginRestart(call) } else { call.wantsRestart = true }
  }

  // MARK: Timers

  private func startRinging(_ call: Call) {
    call.timer = environment.clock.schedule(after: settings.ringTimeout) { [weak self, weak call] in
      guard let self, let call, self.call === call, state == "calling" || state == "ringing" else { return }
      trace.raise("kn.offer_timeout")
      if call.isCaller { send(.hangup(reason: nil), call) }
      end(.missed, code: "ring-timeout", on: "ring timer")
    }
  }

  func startSetupTimer(_ call: Call) {
    call.timer = environment.clock.schedule(after: settings.setupTimeout) { [weak self, weak call] in
      guard let self, let call, self.call === call, state == "connecting" else { return }
      trace.raise("kn.ice_timeout")
      fail("setup-timeout", on: "setup timer")
    }
  }

  // MARK: Ending

  /// The codes with which a call fails, on either side.
  private static let failureCodes = [
    "setup-timeout", "ice-failed", "turn-auth", "dtls-failed", "fingerprint-mismatch", "codec-mismatch",
    "protocol-violation",
  ]

  /// Ends a call that cannot continue, and sends the reason to the other side.
  private func fail(_ code: String, on event: String) {
    if let call { send(.hangup(reason: code), call) }
    end(.failed, code: code, on: event)
  }

  private func end(_ reason: EndReason, code: String, on event: String) {
    guard let call else { return }
    endedCalls.insert(call.id)
    if state != "connecting" || !Defect.captureOutlivesSetup.isPlanted { call.close() }
    releaseAudio(of: call, reason)
    guard enter("ended", on: event) else { return }
    trace.set("call.reason", reason.rawValue)
    trace.end(code)
    call.timer = environment.clock.schedule(after: settings.resetAfter) { [weak self] in
      if Defect.captureOutlivesSetup.isPlanted { self?.call?.close() }
      self?.call = nil
      self?.enter("idle", on: "reset")
    }
  }

  private func releaseAudio(of call: Call, _ reason: EndReason) {
    if usesCallKit { return endForCallKit(call, reason) }
    if settings.audioSession != .never { environment.device.setAudioSessionActive(false) }
  }

  func shutDown() {
    if usesCallKit { takeDownAudio() }
    guard let call else { return }
    self.call = nil
    guard state != "ended" else { return call.close() }
    send(state == "ringing" ? .decline : .hangup(reason: nil), call)
    call.close()
    releaseAudio(of: call, .localHangup)
  }

  // MARK: PeerConnectionDelegate

  func connection(_ connection: any PeerConnection, did event: SessionEvent) {
    guard let call, call.connection === connection else { return }
    switch event {
    case .iceCandidate(let text?, let mid, let index):
      call.pass { [self] in send(.candidate(text: text, mid: mid, mLineIndex: index), call) }
    case .iceConnectionStateChange(.connected) where Defect.earlyCandidatesConnect.isPlanted && state == "ringing":
      startMicrophone(call)
    case .iceServerError(_, _, let code, _) where code == 401 || code == 441:
      call.wasRefusedByTURN = true
      trace.raise("kn.turn_401")
    case .dtlsFailed(let reason):
      guard state == "connecting" || state == "connected" else { return }
      fail(reason == "fingerprint-mismatch" ? reason : "dtls-failed", on: "DTLS failed")
    case .connectionStateChange(let state): connectionChanged(to: state, call)
    // The end of candidates is not sent, the app itself decides when to negotiate, a single track needs no handling,
    // and the app has no data channels.
    case .iceCandidate(nil, _, _), .iceServerError, .iceCandidatesRemoved, .signalingStateChange,
      .iceGatheringStateChange, .iceConnectionStateChange, .selectedCandidatePairChange, .dtlsStateChange,
      .negotiationNeeded, .track, .removeTrack, .mute, .unmute, .ended, .toneChange, .sctpStateChange, .dataChannel,
      .dataChannelStateChange, .dataChannelMessage, .dataChannelBufferedAmountLow, .dataChannelError, .forwardingChange:
      break
    }
  }

  func connectionChanged(to connectionState: ConnectionState, _ call: Call) {
    switch connectionState {
    case .connected where state == "connecting":
      call.timer?.cancel()
      call.socketTimer?.cancel()
      enter("connected", on: "ICE and DTLS")
      // Of glare it may be the call that this user has begun.
      environment.callKit.reportOutgoingCallConnected(call.callKitID)
      if Defect.muteCompletesLate.isPlanted { completeMute(call) }
    case .connected where state == "connected":
      // A restart has succeeded: cancel its timer.
      call.timer?.cancel()
    case .failed where state == "connected" && settings.restartsICE && !call.hasRestartedAfterFailure:
      call.hasRestartedAfterFailure = true
      beginRestart(call)
    case .failed where state == "connecting" || state == "connected":
      trace.raise("kn.ice_failed")
      fail(call.wasRefusedByTURN ? "turn-auth" : "ice-failed", on: "ICE failed")
    default: break
    }
  }

  /// Limits a restart to the setup timeout; if the call has no connection then, it ends.
  private func startRestartTimer(_ call: Call) {
    call.timer = environment.clock.schedule(after: settings.setupTimeout) { [weak self, weak call] in
      guard let self, let call, self.call === call, state == "connected",
        let connection = call.connection
      else { return }
      guard connection.connectionState != .connected else {
        // The path may still be lost before the answer comes.
        if call.isRestarting { startRestartTimer(call) }
        return
      }
      trace.raise("kn.ice_failed")
      fail("ice-failed", on: "ICE restart failed")
    }
  }
}
