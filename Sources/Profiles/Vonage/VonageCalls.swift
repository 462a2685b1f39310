internal import CallCore
internal import VirtualPeer
internal import Vocabulary

/// The app's use of CallKit and PushKit: a VoIP push of the app's own backend invites its user to a session.
///
/// The product has sessions and no calls, so the id of a session is that of its call at CallKit. What the inviter is told
/// of it is nothing: who answers comes into the session.
final class VonageCalls {
  /// The time for which an invitation rings: a harness default.
  static let ringTime = Interval.seconds(45)

  private unowned let app: VonageApp
  private let environment: PeerEnvironment
  private var callKit: CallKit { environment.callKit }
  private var device: Device { environment.device }
  /// The invitation that rings, with the end of its time.
  private var ringing: (id: String, timer: PeerTimer)? { didSet { oldValue?.timer.cancel() } }
  /// Whether the app performs an end action.
  private var isEnding = false

  init(_ app: VonageApp, _ environment: PeerEnvironment) {
    self.app = app
    self.environment = environment
  }

  // MARK: The user in the app

  /// Connects to a session: as the answer to an invitation that rings, or as a call of this user's.
  func start(_ id: String) {
    if ringing?.id == id { return callKit.request(CallKitAction(.answer, of: id)) }
    setUpAudio()
    callKit.request(CallKitAction(.start, of: id))
  }

  /// Returns whether CallKit has the call, and asks the app to perform the action in an event of its own.
  func requests(_ kind: CallKitAction.Kind, of id: String) -> Bool {
    guard callKit.has(id) else { return false }
    callKit.request(CallKitAction(kind, of: id))
    return true
  }

  // MARK: Invitations

  func received(_ push: VoIPPush) {
    let id = push.payload["session"] ?? ""
    setUpAudio()
    switch callKit.reportNewIncomingCall(id) {
    case nil where app.isInSession || ringing != nil: callKit.reportCall(id, endedWith: .failed)
    case nil:
      let timer = environment.clock.schedule(after: Self.ringTime) { [weak self] in
        guard let self else { return }
        ringing = nil
        callKit.reportCall(id, endedWith: .unanswered)
        takeDownAudio()
      }
      ringing = (id, timer)
    case .callUUIDAlreadyExists: break
    default: takeDownAudio()
    }
    push.complete()
  }

  // MARK: CallKit

  func perform(_ action: CallKitAction) -> Bool {
    switch action.kind {
    case .start: return app.begin(action.callID)
    case .answer:
      guard ringing?.id == action.callID else { return false }
      ringing = nil
      return app.begin(action.callID)
    case .end:
      isEnding = true
      defer { isEnding = false }
      if ringing?.id == action.callID { ringing = nil } else { app.end(action.callID) }
      // Another call keeps the audio.
      if !callKit.hasCall(besides: action.callID) { resetAudio() }
      if !callKit.isAudioActive { takeDownAudio() }
    // The system takes the audio of a call that is held, and gives it back.
    case .setHeld: break
    case .setMuted(let isMuted): return app.setMuted(isMuted)
    }
    return true
  }

  func changed(_ change: CallKitChange) {
    switch change {
    case .didActivate: device.setAudioEnabled(true)
    case .didDeactivate: if callKit.hasCall { device.setAudioEnabled(false) } else { takeDownAudio() }
    }
  }

  // MARK: The session

  func connected(_ id: String) { callKit.reportOutgoingCallConnected(id) }

  func ended(_ id: String, byUser: Bool) {
    guard !isEnding else { return }
    callKit.reportCall(id, endedWith: byUser ? .remoteEnded : .failed)
    takeDownAudio()
  }

  // MARK: Audio

  /// Sets the audio session up before the system has a call: from then on it is the system's.
  private func setUpAudio() {
    guard !callKit.hasCall, !callKit.isAudioActive else { return }
    device.setManualAudio(true)
    device.configureAudioSession(category: .playAndRecord, mode: .videoChat, options: [])
  }

  private func resetAudio() {
    device.setAudioEnabled(false)
    device.setManualAudio(false)
  }

  /// Takes the audio down, unless the system still has it for a call.
  private func takeDownAudio() {
    guard !callKit.hasCall, !callKit.isAudioActive else { return }
    resetAudio()
    device.setAudioSessionActive(false)
  }

  func shutDown() {
    ringing = nil
    resetAudio()
  }
}
