internal import VirtualPeer
internal import Vocabulary

/// The app's use of CallKit: the system shows what rings, activates the audio session, and holds the call for a cellular one.
extension CallService {
  private var callKit: CallKit { environment.callKit }

  /// Returns whether CallKit has the call, and asks the app to perform the action in an event of its own.
  func requests(_ kind: CallKitAction.Kind, of call: Call) -> Bool {
    guard usesCallKit, !isEndingForCallKit, callKit.has(call.callKitID) else { return false }
    callKit.request(CallKitAction(kind, of: call.callKitID))
    return true
  }

  /// Reports a call that rings. One that the system does not show is declined.
  func reportIncoming(_ call: Call) {
    environment.device.setManualAudio(true)
    if configuresAudio { configureAudio() }
    guard callKit.reportNewIncomingCall(call.callKitID) != nil else { return }
    try? decline()
  }

  func perform(_ action: CallKitAction) -> Bool {
    guard let call, call.callKitID == action.callID, state != "ended" else { return false }
    do throws(ActionError) {
      switch action.kind {
      case .start: break
      case .answer: try accept()
      case .end:
        isEndingForCallKit = true
        defer { isEndingForCallKit = false }
        try hangUp()
        resetAudio()
      case .setHeld(let isHeld):
        call.isHeld = isHeld
        call.connection?.setTrackEnabled(!isHeld && !call.isMuted, of: call.microphone)
      case .setMuted(let isMuted): mute(call, isMuted)
      }
      return true
    } catch {
      return false
    }
  }

  func callKitChanged(_ change: CallKitChange) {
    switch change {
    case .didActivate: environment.device.setAudioEnabled(true)
    case .didDeactivate:
      // A held call goes on.
      if callKit.hasCall { environment.device.setAudioEnabled(false) } else { takeDownAudio() }
    }
  }

  /// Tells CallKit that a call is over, unless the user has ended it there.
  func endForCallKit(_ call: Call, _ reason: EndReason) {
    let callKitReason: CallKit.EndedReason =
      switch reason {
      case .localHangup, .remoteHangup, .declined: .remoteEnded
      case .missed: .unanswered
      case .failed: .failed
      }
    if !isEndingForCallKit { callKit.reportCall(call.callKitID, endedWith: callKitReason) }
    if !callKit.isAudioActive { takeDownAudio() }
  }

  private func resetAudio() {
    environment.device.setAudioEnabled(false)
    environment.device.setManualAudio(false)
  }

  func takeDownAudio() {
    resetAudio()
    environment.device.setAudioSessionActive(false)
  }
}
