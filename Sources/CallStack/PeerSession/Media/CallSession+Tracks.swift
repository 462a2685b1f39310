internal import CallCore
public import SDP

/// Transceivers and their tracks, with W3C's methods. Additions take effect after negotiation; removals at once.
extension CallSession {
  /// The transceivers that are not stopped, in order of creation (W3C `getTransceivers`).
  package var transceivers: [Transceiver] { jsep.transceivers }

  /// Adds a track, on a transceiver that has never sent or on a new one, which also receives (W3C `addTrack`).
  ///
  /// - Throws: `notSupported` for video without ``SessionConfiguration/video``, and for settings that no encoder
  ///   supports; `invalidAccess` for a track that is already sent.
  @discardableResult
  public func addTrack(_ track: MediaStreamTrack = .microphone) throws(SessionError) -> Transceiver.ID {
    try requireOpen()
    try checkSource(track)
    let (kind, made) = (track.kind, media.makeTrack(track, track.kind))
    return try changing { session throws(JSEPError) in
      let id = try session.jsep.addTrack(kind, sender: made.sender)
      session.media.setTrack(made, of: id, kind, at: session.now)
      return id
    }
  }

  /// Adds a new transceiver that sends a track. It is never merged with one of the remote offer (W3C `addTransceiver`).
  @discardableResult
  public func addTransceiver(
    _ track: MediaStreamTrack, _ settings: TransceiverInit = TransceiverInit()
  ) throws(SessionError) -> Transceiver.ID {
    try requireOpen()
    try checkSource(track)
    return try addTransceiver(track.kind, track, settings)
  }

  /// Adds a transceiver without a track (W3C `addTransceiver` of a kind).
  @discardableResult
  public func addTransceiver(
    _ kind: MediaKind, _ settings: TransceiverInit = TransceiverInit()
  ) throws(SessionError) -> Transceiver.ID {
    try requireOpen()
    try checkKind(kind)
    if settings.direction.sends { try checkSettings(of: kind) }
    return try addTransceiver(kind, nil, settings)
  }

  private func addTransceiver(
    _ kind: MediaKind, _ track: MediaStreamTrack?, _ settings: TransceiverInit
  ) throws(SessionError) -> Transceiver.ID {
    let parameters = try settings.sendEncodings.checked(kind)
    try checkLimits(settings.sendEncodings)
    let made = media.makeTrack(
      track, kind, rids: parameters.count > 1 ? parameters.compactMap(\.rid) : [], streamIDs: settings.streamIDs)
    return try changing { session throws(JSEPError) in
      let id = try session.jsep.addTransceiver(
        kind, direction: settings.direction, sender: made.sender, hasTrack: track != nil)
      session.media.setTrack(made, of: id, kind, at: session.now)
      session.media.setParameters(parameters, of: id, kind, at: session.now)
      return id
    }
  }

  /// Ends the track of a sender; the transceiver continues to receive (W3C `removeTrack`).
  public func removeTrack(_ sender: Transceiver.ID) throws(SessionError) {
    try changing { session throws(JSEPError) in
      try session.jsep.removeTrack(sender)
      session.media.removeTrack(of: sender)
    }
  }

  /// Sets the direction, which takes effect after negotiation: holds and resumes (W3C `direction`).
  public func setDirection(
    _ direction: MediaDirection, of transceiver: Transceiver.ID
  ) throws(SessionError) {
    if direction.sends, try live(transceiver).sender == nil { try makeSender(of: transceiver, track: nil) }
    try changing { session throws(JSEPError) in try session.jsep.setDirection(direction, of: transceiver) }
  }

  /// Stops a transceiver for good (W3C `stop`). The next offer rejects its section, which can be reused after that.
  public func stop(_ transceiver: Transceiver.ID) throws(SessionError) {
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

  private func changing<Result>(
    _ body: (CallSession) throws(JSEPError) -> Result
  ) throws(SessionError) -> Result {
    let result: Result
    do throws(JSEPError) {
      result = try body(self)
    } catch {
      throw SessionError(error)
    }
    hasNegotiated = true
    settle()
    return result
  }

  /// Reports the remote tracks that a description has ended, except for transceivers that we stopped (W3C `stop`).
  func reportEnds(_ effects: DescriptionEffects) {
    for channel in media.channels where !channel.state.isStopped {
      guard let mid = channel.state.mid else { continue }
      if effects.tracksRemoved.contains(channel.transceiver) {
        channel.state.isAnnounced = false
        if !channel.state.isMuted { events.append(.mute(mid: mid)) }
        channel.state.isMuted = true
        events.append(.removeTrack(mid: mid))
      }
      if effects.stopped.contains(channel.transceiver) { events.append(.ended(mid: mid)) }
    }
  }

  /// Reports the tracks that the remote side announces.
  func reportTracks(_ effects: DescriptionEffects) {
    for id in effects.tracksAdded {
      guard let transceiver = jsep.transceiver(id), let mid = transceiver.mid else { continue }
      media.announce(id, transceiver.kind, mid: mid)
      events.append(.track(mid: mid, kind: transceiver.kind))
    }
  }
}
