internal import CallCore
internal import PeerSession
internal import VirtualPeer

/// What planted defects do. Without one, no function here is called.
extension CallService {
  /// Sets up the connection of a ringing call with a closed microphone, as apps do that want to be connected when the
  /// user accepts.
  ///
  /// - Parameter withholding: whether the candidates of messages wait for the user, in both directions.
  func setUpEarly(_ call: Call, withholding: Bool) {
    guard let offer = call.pendingOffer else { return }
    let connection = environment.connections.make()
    connection.delegate = self
    call.connection = connection
    // The audio session is not active yet, so that the audio unit does not record.
    apply(call) { () throws(SessionError) in try connection.addTrack() }
    answer(call, offer: offer)
    if withholding { call.withheld = [] }
  }

  /// Continues a call whose connection was set up while it was ringing, when the user has accepted.
  func finishEarlySetup(_ call: Call) {
    startMicrophone(call)
    let withheld = call.withheld ?? []
    call.withheld = nil
    for candidate in withheld { candidate() }
    startSetupTimer(call)
    if let connection = call.connection { connectionChanged(to: connection.connectionState, call) }
  }

  /// Activates the audio session and starts the audio unit anew.
  func startMicrophone(_ call: Call) {
    configureAudio()
    environment.device.stopAudioUnit()
    environment.device.startAudioUnit()
  }

  /// Mutes the connection in a completion handler, after media may leave.
  func completeMute(_ call: Call) {
    environment.clock.schedule(after: .milliseconds(50)) { [weak call] in
      if let call { call.connection?.setTrackEnabled(!call.isMuted) }
    }
  }

  /// Returns whether an offer comes from somebody who takes part in the call, and is not the call's own.
  func joins(_ call: Call, _ caller: String, _ offer: KnotosMessage) -> Bool {
    caller == environment.userID || (caller == call.peer && offer.callID != call.id)
  }
}
