internal import CallCore
public import SDP

/// Transceivers and their tracks, with the W3C's methods. What they change is sent and heard once it is negotiated; what
/// they end, ends at once.
extension CallSession {
  /// All that are not stopped, in the order of their making (W3C `getTransceivers`).
  public var transceivers: [Transceiver] { jsep.transceivers }

  /// Sends the microphone, on a transceiver that has never sent or on a new one, which also receives (W3C `addTrack`).
  ///
  /// - Throws: `notSupported` for video, and for audio settings that no encoder takes.
  @discardableResult
  public mutating func addTrack(_ kind: MediaKind) throws(SessionError) -> Transceiver.ID {
    guard kind == .audio else { throw .notSupported("\(kind)") }
    try requireOpen()
    try checkAudioSettings()
    let track = media.makeTrack()
    return try changing { session throws(JSEPError) in
      let id = try session.jsep.addTrack(.audio, sender: track.sender)
      session.media.setTrack(track, of: id, at: session.now)
      return id
    }
  }

  /// A transceiver of its own, never that of the far side's offer (W3C `addTransceiver`). It sends the microphone when
  /// the direction sends.
  @discardableResult
  public mutating func addAudioTransceiver(
    direction: MediaDirection = .sendrecv
  ) throws(SessionError) -> Transceiver.ID {
    try requireOpen()
    if direction.sends { try checkAudioSettings() }
    let track = direction.sends ? media.makeTrack() : nil
    return try changing { session throws(JSEPError) in
      let id = try session.jsep.addTransceiver(.audio, direction: direction, sender: track?.sender)
      if let track { session.media.setTrack(track, of: id, at: session.now) }
      return id
    }
  }

  /// Ends the track of a sender, whose transceiver goes on to receive (W3C `removeTrack`).
  public mutating func removeTrack(_ sender: Transceiver.ID) throws(SessionError) {
    try changing { session throws(JSEPError) in
      try session.jsep.removeTrack(sender)
      session.media.removeTrack(of: sender)
    }
  }

  /// Holds and resumes, after negotiation (W3C `direction`).
  public mutating func setDirection(
    _ direction: MediaDirection, of transceiver: Transceiver.ID
  ) throws(SessionError) {
    try changing { session throws(JSEPError) in try session.jsep.setDirection(direction, of: transceiver) }
  }

  /// Ends a transceiver for good (W3C `stop`). Its section is rejected in the next offer, and free for another after it.
  public mutating func stop(_ transceiver: Transceiver.ID) throws(SessionError) {
    try changing { session throws(JSEPError) in
      try session.jsep.stop(transceiver)
      session.media.stop(transceiver)
      session.media.forgetAll(but: session.jsep.transceivers)
    }
  }

  // MARK: Steps

  private func requireOpen() throws(SessionError) {
    guard connectionState != .closed else { throw .invalidState("closed") }
  }

  private func checkAudioSettings() throws(SessionError) {
    if let problem = configuration.audio.problem { throw .notSupported(problem) }
  }

  private mutating func changing<Result>(
    _ body: (inout CallSession) throws(JSEPError) -> Result
  ) throws(SessionError) -> Result {
    let result: Result
    do throws(JSEPError) {
      result = try body(&self)
    } catch {
      throw SessionError(error)
    }
    hasNegotiated = true
    settle()
    return result
  }

  /// Tells which of the far side's tracks a description has ended. What we stopped ourselves is no news (W3C `stop`).
  mutating func reportEnds(_ effects: DescriptionEffects) {
    for channel in media.channels where !channel.state.isStopped {
      guard let mid = channel.state.mid else { continue }
      if effects.tracksRemoved.contains(channel.state.transceiver) {
        channel.state.isAnnounced = false
        if !channel.state.isMuted { events.append(.mute(mid: mid)) }
        channel.state.isMuted = true
        events.append(.removeTrack(mid: mid))
      }
      if effects.stopped.contains(channel.state.transceiver) { events.append(.ended(mid: mid)) }
    }
  }

  /// Tells which tracks the far side announces.
  mutating func reportTracks(_ effects: DescriptionEffects) {
    for id in effects.tracksAdded {
      guard let mid = jsep.transceiver(id)?.mid else { continue }
      media.announce(id, mid: mid)
      events.append(.track(mid: mid))
    }
  }
}
