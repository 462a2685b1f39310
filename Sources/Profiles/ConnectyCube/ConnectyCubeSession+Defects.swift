internal import CallCore
internal import PeerSession
internal import VirtualPeer

/// What planted defects do. Without one, no function here does anything.
extension ConnectyCubeSession {
  /// Returns the opponent whose signal somebody else's counts as.
  func obeyedFor(_ stranger: String) -> Opponent? {
    Defect.strangersObeyed.isPlanted ? opponents.first : nil
  }

  /// Obeys the offer of a ringing call instead of keeping it.
  ///
  /// - Returns: whether it did.
  func obeys(call sdp: String, from opponent: Opponent) -> Bool {
    guard state == .pending, !isAccepted, !opponent.isClosed else { return false }
    if Defect.updateAppliedWhileRinging.isPlanted, opponent.pendingOffer != nil {
      client.initializeAudio()
      opponent.pendingOffer = sdp
      answer(opponent, [])
      return true
    }
    if Defect.participantJoinsRinging.isPlanted, opponent.id != initiator {
      client.initializeAudio()
      opponent.pendingOffer = sdp
      pickUp(on: "acceptedByUser")
      return true
    }
    return false
  }
}

extension Opponent {
  /// Sets up the connection while the call rings, as apps do that want to be connected when the user accepts.
  func setUpEarly() throws(SessionError) {
    guard let sdp = pendingOffer else { return }
    let connection = try open()
    try connection.setRemoteDescription(SessionDescriptionText(.offer, sdp: session.limited(sdp)))
    let answer = try connection.createAnswer()
    earlyAnswer = answer
    try connection.setLocalDescription(answer)
  }

  /// Returns the answer of a connection that was set up while the call rang, when the user has accepted.
  func finishEarlySetup(_ offer: String, _ answer: SessionDescriptionText) -> String {
    (pendingOffer, earlyAnswer) = (nil, nil)
    startConnecting(with: SessionDescriptionText(.offer, sdp: offer))
    // The audio unit was started on an inactive session.
    session.environment.device.stopAudioUnit()
    session.environment.device.startAudioUnit()
    return session.limited(answer.sdp)
  }

  /// Closes the connection, and with it the microphone, a second after the call.
  func closeLate() {
    session.environment.clock.schedule(after: .seconds(1)) { [connection] in connection?.close() }
  }

  /// Mutes the connection in a completion handler, after media may leave.
  func completeMute() {
    session.environment.clock.schedule(after: .milliseconds(50)) { [weak self] in
      if let self, !isClosed { apply(session.tracks) }
    }
  }
}
