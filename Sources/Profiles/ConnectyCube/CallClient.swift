internal import CallCore
internal import Digests
public import VirtualPeer
internal import Vocabulary

/// The product's client of calls: it owns the sessions, and passes signals between them and the chat.
///
/// An app has one session, or where its settings say so several, with different users. It shows the newest.
/// ``ConnectyCubeApp`` is written on it, and an app of your own may be: it declares the product's vocabulary
/// (`ProfileVocabulary.app`), and what happens reaches the trace from here.
public final class CallClient {
  let environment: PeerEnvironment
  let settings: ConnectyCubeSettings
  private let chat: ChatClient
  /// The sessions that are open, the oldest first.
  private var sessions: [ConnectyCubeSession] = []
  private var isInitialized = false
  private var random: RandomStream
  /// The ids of sessions that have ended: their late signals must not revive them.
  private var ended: Set<String> = []
  /// Those of them that this user refused.
  private var refused: Set<String> = []
  /// The rejections and hangUps that came before the call itself, by the session and the user; not those of a hangUp that
  /// names its sender as who placed the call.
  private var leftEarly: [String: [String: CallSignal]] = [:]
  private static let earlyLimit = 100
  private var hasInitializedAudio = false
  /// The audio session of the SDK.
  public let audio: CallAudioSession
  /// Who is told what happens, in the order in which they were added.
  private var delegates: [WeakDelegate] = []
  private let callbacks: CallbackQueue
  /// Whether the network changed while the chat was not connected.
  private var wantsRestart = false
  /// The app's use of CallKit; nil without.
  private(set) var callKit: CallKitUse?
  /// The recorders of closed sessions that still write their files.
  private var recorders: [CallRecorder] = []
  private var isMuted = false
  private var isHeld = false
  private var isCameraOff = false

  private var trace: PeerTrace { environment.trace }

  /// Creates the client of a device; it does nothing before ``connectToChat()``.
  public init(environment: PeerEnvironment) {
    self.environment = environment
    chat = ChatClient(environment: environment)
    settings = ConnectyCubeSettings(environment.settings)
    audio = CallAudioSession(environment.device, settings)
    callbacks = CallbackQueue(environment.clock)
    random = environment.random.stream("session-ids")
    if let use = settings.callKit { callKit = CallKitUse(use, of: self) }
  }

  /// The session that the app shows.
  var session: ConnectyCubeSession? { sessions.last }

  /// Connects to the chat, by which signals go, and again after each loss.
  public func connectToChat() {
    chat.onState = { [weak self] state in
      self?.trace.enter("chat.state", state.rawValue, on: "chat")
      self?.resumeRestart()
    }
    chat.onMalformed = { [trace] in trace.raise("cc.bad_signal") }
    chat.onStanza = { [weak self] in self?.received($0) }
    chat.connect()
  }

  /// Adds a delegate, which is not retained; one that is there already is not added again.
  public func addDelegate(_ delegate: any CallClientDelegate) {
    delegates.removeAll { $0.delegate == nil }
    guard !delegates.contains(where: { $0.delegate === delegate }) else { return }
    delegates.append(WeakDelegate(delegate: delegate))
  }

  /// Removes a delegate, which is told nothing any more.
  public func removeDelegate(_ delegate: any CallClientDelegate) {
    delegates.removeAll { $0.delegate === delegate }
  }

  /// Calls a callback of every delegate.
  func tell(_ callback: SessionCallback, of session: ConnectyCubeSession, about user: String) {
    callbacks.post { [weak self] in
      for delegate in self?.delegates.compactMap(\.delegate) ?? [] { callback.call(delegate, session, user) }
    }
  }

  func entered(_ state: ConnectyCubeSession.State, of session: ConnectyCubeSession, on event: String) {
    if session === self.session { trace.enter("session.state", state.rawValue, on: event) }
  }

  /// Says which session it is that something happens to: the harness asks for the consent to each.
  private func tell(_ session: ConnectyCubeSession) {
    let others = sessions.filter { $0 !== session }.map(\.id)
    trace.begin(call: session.id, with: session.opponents.map(\.id), beside: others)
  }

  /// Returns whether one user id is higher than another: as numbers where both are.
  func isHigher(_ one: String, than other: String) -> Bool {
    if let one = Int64(one), let other = Int64(other) { one > other } else { one > other }
  }

  /// The ids of all users of a session.
  func members(of session: ConnectyCubeSession) -> [String] { [environment.userID] + session.opponents.map(\.id) }

  // MARK: User actions

  /// Initializes the SDK, once before it is used (`initializeRTC`).
  public func initialize() { isInitialized = true }

  /// Creates the session of a call, which is started next.
  ///
  /// - Throws: if the SDK is not initialized, the chat not connected, there is a call already, or there are too many users.
  public func createNewSession(with users: [String], video: Bool) throws(ActionError) -> ConnectyCubeSession {
    guard isInitialized else { throw refuse("cc.not_initialized", "the SDK is not initialized") }
    guard mayBegin(with: users) else { throw ActionError("there is a call already") }
    guard chat.state == .connected else { throw refuse("cc.not_connected_to_chat", "the chat is not connected") }
    guard users.count <= ConnectyCubeSettings.opponentLimit else {
      throw refuse("cc.too_many_participants", "a call has at most four participants")
    }
    guard !users.contains(environment.userID) else { throw ActionError("a user cannot call itself") }
    hurryRecorders(of: users)
    let session = ConnectyCubeSession(
      id: newID(), initiator: environment.userID, others: users, isVideo: video, of: self)
    begin(session, on: "createNewSession")
    // After its name: the consent is one to this call, and not to the one before.
    trace.set(PeerEvents.accepted.name, true)
    return session
  }

  private func refuse(_ code: String, _ reason: String) -> ActionError {
    trace.raise(code)
    return ActionError(reason)
  }

  /// Returns whether a session may begin now: the only one, or where the app keeps several, one with other users beside
  /// those that this user has accepted.
  private func mayBegin(with users: [String]) -> Bool {
    guard !sessions.isEmpty else { return true }
    let isApart = sessions.allSatisfy { session in !users.contains(where: session.isIn) }
    return settings.keepsSeveralSessions && isApart && sessions.allSatisfy(\.isAccepted)
  }

  func ringing() throws(ActionError) -> ConnectyCubeSession {
    guard let session, !session.isAccepted else { throw ActionError("nothing is ringing") }
    return session
  }

  func current() throws(ActionError) -> ConnectyCubeSession {
    guard let session else { throw ActionError("there is no call") }
    return session
  }

  /// - Parameter user: A user of the session that is meant; nil for the one that is shown.
  func hangUp(with user: String?, _ userInfo: [JSON.Member]) throws(ActionError) {
    let session = if let user { try self.session(with: user) } else { try current() }
    if let callKit, callKit.requestsEnd(of: session, userInfo) { return }
    end(session, userInfo)
  }

  private func session(with user: String) throws(ActionError) -> ConnectyCubeSession {
    let shared = sessions.filter { $0.opponent(user) != nil }
    guard let session = shared.first(where: { $0.isIn(user) }) ?? shared.first else {
      throw ActionError("there is no session with \(user)")
    }
    return session
  }

  func end(_ session: ConnectyCubeSession, _ userInfo: [JSON.Member]) {
    if session.isAccepted { session.hangUp(userInfo) } else { session.rejectCall(userInfo) }
  }

  func userMuted(_ isMuted: Bool) throws(ActionError) {
    let session = try current()
    if let callKit, callKit.requestsMute(of: session, isMuted) { return }
    setMuted(isMuted)
  }

  /// Mutes or unmutes the audio of an opponent on this device.
  func setRemoteAudioMuted(_ isMuted: Bool, of user: String) throws(ActionError) {
    guard let opponent = try session(with: user).opponent(user), !opponent.isClosed else {
      throw ActionError("no connection to \(user)")
    }
    do { try opponent.setRemoteAudioMuted(isMuted) } catch { throw ActionError("\(error)") }
  }

  func setMuted(_ isMuted: Bool) {
    self.isMuted = isMuted
    updateMicrophone()
    trace.set("mic.muted", isMuted)
  }

  func setHeld(_ isHeld: Bool) {
    self.isHeld = isHeld
    updateMicrophone()
  }

  private func updateMicrophone() {
    for session in sessions { session.setTracks { $0.isAudioEnabled = !isMuted && !isHeld } }
  }

  /// Returns the recorder of the session that is shown, and the opponent.
  func recorder() throws(ActionError) -> (CallRecorder, Opponent?) {
    let session = try current()
    guard let recorder = session.recorder else {
      throw refuse(
        "cc.recorder_unavailable",
        settings.isLowPerformance ? "the device has no recorder" : "a session of more than two users has no recorder")
    }
    return (recorder, session.opponents.first)
  }

  /// Gives the buffers of an opponent's audio to a sink, or to none.
  func setAudioSink(_ isOn: Bool, for user: String) throws(ActionError) {
    guard let opponent = try session(with: user).opponent(user), !opponent.isClosed else {
      throw ActionError("no connection to \(user)")
    }
    do { try opponent.setAudioSink(isOn) } catch { throw ActionError("\(error)") }
  }

  func requireVideo() throws(ActionError) {
    _ = try current()
    guard environment.device.settings.hasVideo, sessions.contains(where: \.isVideo) else {
      throw ActionError("this call has no video")
    }
  }

  func userTurnedCamera(isOff: Bool) throws(ActionError) {
    try requireVideo()
    isCameraOff = isOff
    updateCamera()
    trace.set("camera.off", isOff)
  }

  private func updateCamera() {
    for session in sessions { session.setTracks { $0.isVideoEnabled = !isCameraOff } }
  }

  /// Makes the screen the source of the video track, whose capturer the SDK lets an app replace.
  func shareScreen(at fps: Int64?, adapts: Bool) throws(ActionError) {
    try requireVideo()
    let rate = Int(clamping: fps ?? Int64(ScreenCapture.frameRates.upperBound))
    guard ScreenCapture.frameRates.contains(rate) else {
      throw ActionError("the system gives 1 to 60 pictures of a screen in a second")
    }
    guard environment.connections.sendsPicturesOfDevice else {
      throw ActionError("the program in place of the stack sends its own pictures")
    }
    guard environment.device.settings.camera != nil else { throw ActionError("this device sends no video") }
    guard !environment.device.isInBackground else { throw ActionError("an app shares its screen in the foreground") }
    let limit = adapts ? ConnectyCubeSettings.screenFrameRateLimit : nil
    environment.device.captureScreen(ScreenCapture(frameRate: rate, adaptedFrameRate: limit))
    trace.set("screen.shared", true)
  }

  /// Makes the camera the source again, and returns whether the screen was.
  @discardableResult
  func stopScreenShare() -> Bool {
    guard environment.device.screenCapture != nil else { return false }
    environment.device.captureScreen(nil)
    trace.set("screen.shared", false)
    return true
  }

  /// Whether a session of this id has ended here.
  func isOver(_ id: String) -> Bool { ended.contains(id) }

  private func begin(_ session: ConnectyCubeSession, on event: String) {
    if sessions.isEmpty {
      // What was answered in the system's call UI may have been muted and held there, before its session came.
      if callKit?.isAnswered(session.id) != true { (isMuted, isHeld) = (false, false) }
      (wantsRestart, isCameraOff) = (false, false)
      trace.set("mic.muted", isMuted)
      trace.set("camera.off", false)
      trace.set("screen.shared", false)
    }
    sessions.append(session)
    updateMicrophone()
    updateCamera()
    tell(session)
    showSpeaker()
    session.enter(.new, on: event)
  }

  /// Shows the opponent whose voice is the loudest in the last reports.
  func showSpeaker() {
    guard settings.statsReportInterval != nil else { return }
    let loudest = sessions.flatMap(\.opponents).filter { $0.audioReceivedOutputLevel > 0 }
      .max { $0.audioReceivedOutputLevel < $1.audioReceivedOutputLevel }
    trace.set("active-speaker", users: loudest.map { [$0.id] } ?? [])
  }

  /// A UUID of version 4 (RFC 9562).
  private func newID() -> String {
    if Defect.callIDsOfProcess.isPlanted { return "\(CallsOfProcess.next())" }
    var bytes = random.bytes(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { Hexadecimal.encode(Array(bytes[$0])) }.joined(separator: "-")
  }

  // MARK: Audio

  func initializeAudio() {
    // A session that begins beside another one has its audio.
    guard !settings.keepsSeveralSessions || !audio.isInitialized else { return }
    switch settings.audioSession {
    case .never: return
    case .firstCall where hasInitializedAudio: return
    case .firstCall, .everyCall: break
    }
    hasInitializedAudio = true
    audio.initialize()
  }

  /// Takes the audio again for a call that had it before an interruption.
  func resumeAudio() { if isInCall { audio.resume() } }

  /// Whether there is a session that this user placed or accepted.
  var isInCall: Bool { sessions.contains(where: \.isAccepted) }

  // MARK: Signals

  func send(_ signal: CallSignal, to user: String) {
    let isSent = chat.send(SignalStanza.stanza(of: signal.content(to: user)))
    trace.signalSent(type: signal.kind.rawValue, to: user, isLost: !isSent)
  }

  func received(_ stanza: XMLElement) {
    guard stanza["type"] != "error" else {
      // It may hold the signal that it answers (RFC 6120 section 8.3.1), which is one of this user.
      let condition = stanza.first("error", XMPP.stanzas)?.elements.first { $0.namespace == XMPP.stanzaErrors }?.name
      return trace.event(PeerEvents.messageRejected.name, "reason", "error: \(condition ?? "undefined-condition")")
    }
    guard let content = SignalStanza.content(of: stanza) else { return trace.raise("cc.bad_signal") }
    trace.signalReceived(type: content.type, from: content["from"]?.string ?? "server")
    guard let signal = CallSignal(content), let sender = signal.sender else { return trace.raise("cc.bad_signal") }
    guard sender != environment.userID else { return ignore(signal, "own echo") }
    guard let session = sessions.first(where: { $0.id == signal.sessionID }) else {
      return receivedUnknown(signal, from: sender)
    }
    guard let opponent = session.opponent(sender) ?? session.obeyedFor(sender) else {
      return ignore(signal, "\(sender) is not in the call")
    }
    session.received(signal, from: opponent)
  }

  private func ignore(_ signal: CallSignal, _ reason: String) {
    trace.event(PeerEvents.messageRejected.name, "reason", "\(signal.kind.rawValue): \(reason)")
  }

  private func receivedUnknown(_ signal: CallSignal, from sender: String) {
    // What its initiator has ended must not ring when its call comes late.
    if signal.kind == .hangUp, !Defect.earlyHangupForgotten.isPlanted {
      if sender == signal.initiator {
        ended.insert(signal.sessionID)
        callKit?.gave(up: signal.sessionID, .remoteEnded)
      } else {
        keepEarly(signal, from: sender)
      }
    }
    if signal.kind == .reject { keepEarly(signal, from: sender) }
    guard signal.kind == .call, let initiator = signal.initiator, let sdp = signal.sdp else {
      return ignore(signal, "unknown session")
    }
    if leftEarly[signal.sessionID]?[initiator]?.kind == .hangUp {
      leftEarly[signal.sessionID] = nil
      ended.insert(signal.sessionID)
    }
    // Who did not hear of it goes on calling.
    if refused.contains(signal.sessionID) { return refuse(signal, to: [sender]) }
    guard !ended.contains(signal.sessionID) || Defect.endedCallRevived.isPlanted else {
      return ignore(signal, "session is over")
    }
    let members = ([initiator] + signal.opponents).inOrderOfAppearance
    // Only its initiator opens a session: callees call each other in one that rings already.
    guard sender == initiator, members.contains(environment.userID), initiator != environment.userID else {
      return ignore(signal, "not of this user")
    }
    guard isInitialized, members.count <= ConnectyCubeSettings.opponentLimit + 1 else {
      trace.raise(isInitialized ? "cc.too_many_participants" : "cc.not_initialized")
      return
    }
    let others = members.filter { $0 != environment.userID }
    if let callKit, callKit.isDeclined(signal.sessionID) {
      return refuse(signal, to: others)
    }
    guard mayBegin(with: others) else {
      trace.set("callback.session", signal.sessionID)
      trace.notify(SessionCallback.didReceiveNewSession.rawValue)
      trace.raise("cc.busy")
      callKit?.gave(up: signal.sessionID, .failed)
      return refuse(signal, to: others)
    }
    hurryRecorders(of: others)
    let session = ConnectyCubeSession(
      id: signal.sessionID, initiator: initiator, others: others, isVideo: signal.isVideo ?? false, of: self)
    begin(session, on: "didReceiveNewSession")
    trace.set(PeerEvents.accepted.name, false)
    session.notify(.didReceiveNewSession)
    session.enter(.pending, on: "ringing")
    guard let caller = session.opponent(sender) else { return }
    if !signal.userInfo.isEmpty { caller.trace.set("user-info", signal.info) }
    session.received(call: sdp, from: caller)
    for (user, early) in (leftEarly.removeValue(forKey: session.id) ?? [:]).sorted(by: { $0.key < $1.key }) {
      if let opponent = session.opponent(user) { session.received(early, from: opponent) }
    }
    callKit?.incoming(session)
  }

  private func keepEarly(_ signal: CallSignal, from sender: String) {
    guard leftEarly[signal.sessionID] != nil || leftEarly.count < Self.earlyLimit else { return }
    leftEarly[signal.sessionID, default: [:]][sender] = signal
  }

  private func refuse(_ signal: CallSignal, to users: [String]) {
    ended.insert(signal.sessionID)
    refused.insert(signal.sessionID)
    var refusal = CallSignal(.reject, sessionID: signal.sessionID)
    refusal.initiator = signal.initiator
    refusal.isVideo = signal.isVideo
    refusal.opponents = signal.opponents
    for user in users { send(refusal, to: user) }
  }

  // MARK: The end

  func closed(_ session: ConnectyCubeSession, code: String, on event: String) {
    guard let index = sessions.firstIndex(where: { $0 === session }) else { return }
    if sessions.count > 1 { tell(session) }
    ended.insert(session.id)
    if session.wasRejected { refused.insert(session.id) }
    session.enter(.closed, on: event)
    sessions.remove(at: index)
    if let recorder = session.recorder { close(recorder) }
    if !sessions.contains(where: \.isVideo) { stopScreenShare() }
    showSpeaker()
    session.notify(.sessionDidClose)
    trace.end(code)
    callKit?.closed(session, code)
    if let next = self.session { goBack(to: next) }
  }

  private func close(_ recorder: CallRecorder) {
    recorders.append(recorder)
    recorder.onGone = { [weak self, unowned recorder] in self?.recorders.removeAll { $0 === recorder } }
    recorder.sessionClosed()
  }

  /// Ends what a closed session with one of the users still records: the next one has a recorder of its own.
  private func hurryRecorders(of users: [String]) {
    for recorder in recorders where users.contains(recorder.user) { recorder.hurry() }
  }

  /// Shows the session that goes on after another one has ended.
  private func goBack(to session: ConnectyCubeSession) {
    tell(session)
    trace.set(PeerEvents.accepted.name, session.isAccepted)
    guard trace.state(of: "session.state") != session.state.rawValue else { return }
    trace.enter("session.state", session.state.rawValue, on: "the session before")
  }

  /// The network of the device has changed.
  public func networkChanged() {
    chat.networkChanged()
    guard settings.restartsICE, !sessions.isEmpty else { return }
    wantsRestart = true
    resumeRestart()
  }

  /// Restarts ICE if that had to wait for the chat.
  func resumeRestart() {
    guard wantsRestart, chat.state == .connected else { return }
    wantsRestart = false
    _ = try? restartICE()
  }

  /// Returns whether there is a connection that this user has offered.
  func restartICE() throws(ActionError) -> Bool {
    _ = try current()
    return sessions.reduce(false) { isAny, session in session.restartICE() || isAny }
  }

  /// Ends every session, and calls no delegate any more.
  public func shutDown() {
    callbacks.shutDown()
    callKit?.shutDown()
    for session in sessions {
      session.shutDown()
      session.recorder?.hurry()
    }
    sessions = []
    for recorder in recorders { recorder.hurry() }
    stopScreenShare()
    audio.deinitialize()
    chat.shutDown()
  }
}

extension CallSignal {
  /// What the sender's app added, as one text.
  var info: String { userInfo.map { $0.value.string ?? $0.value.description }.joined(separator: ", ") }
}

private struct WeakDelegate {
  weak var delegate: (any CallClientDelegate)?
}
