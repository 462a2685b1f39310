internal import CallCore
internal import VirtualPeer
internal import Vocabulary

/// The app's use of CallKit and PushKit, in the order that the product's guide asks for.
///
/// The id of a session is that of its call at CallKit. A push is sent with the first signal of a call, and may launch the
/// app: the call rings then before its session comes with the next repetition of that signal.
final class CallKitUse {
  /// The time in which a session must come whose call was answered: twice the longest usual dialling interval, a harness
  /// default.
  static let sessionLimit = Interval.seconds(10)

  private unowned let client: CallClient
  private let settings: CallKitSettings
  private let environment: PeerEnvironment
  private var callKit: CallKit { environment.callKit }
  private var device: Device { environment.device }
  /// The calls that were reported for a push and whose session has not come, with the end of their time.
  private var awaited: [String: PeerTimer] = [:]
  /// Those of them that the user has answered, and those that the user has declined.
  private var answered: Set<String> = []
  private var declined: Set<String> = []
  /// What the user says with the start or the end of a call.
  private var userInfo: [JSON.Member] = []
  /// Whether the app performs an end action.
  private var isEnding = false

  init(_ settings: CallKitSettings, of client: CallClient) {
    self.settings = settings
    self.client = client
    environment = client.environment
  }

  // MARK: The user in the app

  func start(_ session: ConnectyCubeSession, _ userInfo: [JSON.Member]) {
    self.userInfo = userInfo
    setUpAudio()
    if settings.manualAudio == .afterReport { device.setManualAudio(true) }
    callKit.request(CallKitAction(.start, of: session.id))
  }

  /// Returns whether CallKit has the call and asks the app to end it.
  func requestsEnd(of session: ConnectyCubeSession, _ userInfo: [JSON.Member]) -> Bool {
    guard callKit.has(session.id) else { return false }
    self.userInfo = userInfo
    callKit.request(CallKitAction(.end, of: session.id))
    return true
  }

  /// Returns whether CallKit has the call and asks the app to mute it.
  func requestsMute(of session: ConnectyCubeSession, _ isMuted: Bool) -> Bool {
    guard callKit.has(session.id) else { return false }
    callKit.request(CallKitAction(.setMuted(isMuted), of: session.id))
    return true
  }

  // MARK: Incoming calls

  func received(_ push: VoIPPush) {
    if settings.pushReport != .never, let id = push.payload["sessionID"] {
      report(id, from: push.payload["callerID"])
      if settings.pushReport == .twice { report(id, from: nil) }
    }
    push.complete()
  }

  private func report(_ id: String, from caller: String?) {
    let isOther = client.session.map { $0.id != id } ?? false
    if !callKit.has(id), !isOther {
      if let caller { environment.trace.begin(call: id, with: caller) }
      setUpAudio()
    }
    let error = callKit.reportNewIncomingCall(id)
    if settings.manualAudio == .afterReport { device.setManualAudio(true) }
    guard error == nil else {
      if error != .callUUIDAlreadyExists { refuse(id) }
      return
    }
    guard client.session?.id != id else { return }
    guard client.session == nil, !client.isOver(id) else {
      // The app has another call, or this one is over.
      return callKit.reportCall(id, endedWith: client.isOver(id) ? .remoteEnded : .failed)
    }
    startAwaiting(id, for: client.settings.answerInterval, .unanswered)
  }

  /// A call that the system does not show neither rings nor connects.
  private func refuse(_ id: String) {
    declined.insert(id)
    takeDownAudio()
  }

  private func startAwaiting(_ id: String, for time: Interval, _ reason: CallKit.EndedReason) {
    awaited.removeValue(forKey: id)?.cancel()
    awaited[id] = environment.clock.schedule(after: time) { [weak self] in
      guard let self else { return }
      awaited[id] = nil
      answered.remove(id)
      callKit.reportCall(id, endedWith: reason)
      if !callKit.isAudioActive { takeDownAudio() }
    }
  }

  /// Ends a call that rings, and whose session does not come any more.
  func gave(up id: String, _ reason: CallKit.EndedReason) {
    guard let timer = awaited.removeValue(forKey: id) else { return }
    timer.cancel()
    answered.remove(id)
    callKit.reportCall(id, endedWith: reason)
    if !callKit.hasCall, !callKit.isAudioActive { takeDownAudio() }
  }

  /// Whether the user has answered a call whose session has not come.
  func isAnswered(_ id: String) -> Bool { answered.contains(id) }

  func isDeclined(_ id: String) -> Bool { declined.contains(id) }

  /// Takes a session that has come: it was announced by a push, or is reported now.
  func incoming(_ session: ConnectyCubeSession) {
    guard client.session === session else { return }
    awaited.removeValue(forKey: session.id)?.cancel()
    if !callKit.has(session.id) {
      report(session.id, from: nil)
      if isDeclined(session.id) { session.rejectCall([]) }
    } else if answered.remove(session.id) != nil {
      accept(session)
    }
  }

  private func accept(_ session: ConnectyCubeSession) {
    session.acceptCall()
  }

  // MARK: CallKit

  func perform(_ action: CallKitAction) -> Bool {
    let session = client.session.flatMap { $0.id == action.callID ? $0 : nil }
    switch action.kind {
    case .start:
      guard let session else { return false }
      session.startCall(takeUserInfo())
    case .answer:
      if settings.audioEnabling == .answerAction { device.setAudioEnabled(true) }
      if let session, !session.isAccepted {
        accept(session)
      } else {
        guard awaited[action.callID] != nil else { return false }
        answered.insert(action.callID)
        client.setMuted(false)
        client.setHeld(false)
        startAwaiting(action.callID, for: Self.sessionLimit, .failed)
      }
    case .end: end(session, action.callID)
    case .setHeld(let isHeld): client.setHeld(isHeld)
    case .setMuted(let isMuted): client.setMuted(isMuted)
    }
    return true
  }

  private func takeUserInfo() -> [JSON.Member] {
    defer { userInfo = [] }
    return userInfo
  }

  private func end(_ session: ConnectyCubeSession?, _ id: String) {
    isEnding = true
    if let timer = awaited.removeValue(forKey: id) {
      timer.cancel()
      answered.remove(id)
      declined.insert(id)
    }
    if let session { client.end(session, takeUserInfo()) }
    isEnding = false
    // Another call keeps the audio.
    guard !callKit.hasCall(besides: id) else { return }
    if settings.resetsAudio { resetAudio() }
    if settings.audioDeinitialization == .endAction || !callKit.isAudioActive { client.audio.deinitialize() }
  }

  func changed(_ change: CallKitChange) {
    switch change {
    case .didActivate: if settings.audioEnabling == .didActivate { device.setAudioEnabled(true) }
    case .didDeactivate:
      // A held call goes on.
      if callKit.hasCall { device.setAudioEnabled(false) } else { takeDownAudio() }
    }
  }

  // MARK: Audio

  private func setUpAudio() {
    if settings.manualAudio == .beforeReport { device.setManualAudio(true) }
    client.initializeAudio()
  }

  private func resetAudio() {
    device.setAudioEnabled(false)
    device.setManualAudio(false)
  }

  private func takeDownAudio() {
    resetAudio()
    client.audio.deinitialize()
  }

  // MARK: The end

  func closed(_ session: ConnectyCubeSession, _ code: String) {
    switch settings.audioDeinitialization {
    case .sessionDidClose: client.audio.deinitialize()
    case .sessionDidCloseGuarded: if !callKit.isAudioActive { client.audio.deinitialize() }
    case .didDeactivate, .endAction: break
    }
    guard !isEnding else { return }
    let reason: CallKit.EndedReason =
      switch code {
      case "hung-up-by-user", "cancelled", "rejected": .remoteEnded
      case "no-answer", "missed": .unanswered
      default: .failed
      }
    callKit.reportCall(session.id, endedWith: reason)
    if !callKit.isAudioActive { takeDownAudio() }
  }

  func shutDown() {
    for timer in awaited.values { timer.cancel() }
    awaited = [:]
    resetAudio()
  }
}
