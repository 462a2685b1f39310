public import SDP

/// What a sender sends and how, beside negotiation (webrtc-pc section 5.2).
extension CallSession {
  /// All that are not stopped, in the order of their making (W3C `getTransceivers`).
  public var rtpTransceivers: [RTPTransceiver] {
    jsep.transceivers.map { transceiver in
      let state = media.channels.first { $0.state.transceiver == transceiver.id }?.state
      return RTPTransceiver(
        id: transceiver.id, kind: transceiver.kind, mid: transceiver.mid, direction: transceiver.direction,
        currentDirection: transceiver.currentDirection, sender: .init(track: state?.track?.source),
        receiver: .init(
          track: MediaStreamTrack(transceiver.kind, id: state?.remoteTrackID ?? ""), isMuted: state?.isMuted ?? true))
    }
  }

  /// Sends another track from now on, or with nil none; nothing is negotiated (W3C `replaceTrack`).
  ///
  /// - Throws: `type` for a track of another kind, `invalidState` for a transceiver that is stopped.
  public mutating func replaceTrack(_ track: MediaStreamTrack?, of id: Transceiver.ID) throws(SessionError) {
    let transceiver = try live(id)
    guard let track else {
      media.setSource(nil, of: id)
      return try translating { () throws(JSEPError) in try jsep.setTrack(false, of: id) }
    }
    try checkSource(track)
    guard track.kind == transceiver.kind else {
      throw .type("a \(track.kind) track cannot replace one of \(transceiver.kind)")
    }
    if transceiver.sender == nil { try makeSender(of: id, track: track) }
    media.setSource(track, of: id)
    try translating { () throws(JSEPError) in try jsep.setTrack(true, of: id) }
  }

  /// How a sender sends now (W3C `getParameters`).
  public mutating func sendParameters(of id: Transceiver.ID) throws(SessionError) -> SendParameters {
    let transceiver = try live(id)
    let section = jsep.media.first { $0.transceiver == id }
    transactions += 1
    openTransactions[id] = transactions
    return SendParameters(
      transaction: transactions, encodings: [media.parameters(of: id)],
      codecs: (section?.sendCodecs ?? []).map { codec in
        SendParameters.Codec(
          payloadType: codec.payloadType, mimeType: "\(transceiver.kind)/\(codec.name)", clockRate: codec.clockRate,
          channels: codec.channels, parameters: codec.parameters)
      },
      headerExtensions: section?.headerExtensions.filter { $0.direction?.sends ?? true } ?? [],
      cname: configuration.cname, usesReducedSizeRTCP: section?.reducedSizeRTCP ?? false)
  }

  /// Sends as these parameters say, which have to come from the last ``sendParameters(of:)`` (W3C `setParameters`).
  ///
  /// - Throws: `invalidState` when they were not asked for, `invalidModification` when what cannot change has been changed,
  ///   `range` for a number that no encoder takes.
  public mutating func setSendParameters(
    _ parameters: SendParameters, of id: Transceiver.ID
  ) throws(SessionError) {
    _ = try live(id)
    guard let transaction = openTransactions[id] else {
      throw .invalidState("these parameters were set already; ask for them again before changing them")
    }
    guard transaction == parameters.transaction else {
      throw .invalidModification("the parameters are not those that were asked for last; ask for them again")
    }
    guard parameters.encodings.count == 1, let encoding = parameters.encodings.first, encoding.rid == nil else {
      throw .invalidModification("encodings cannot be added, removed or renamed once a transceiver has been made")
    }
    try encoding.check()
    openTransactions[id] = nil
    media.setParameters(encoding, of: id)
  }

  /// Offers and answers these codecs alone, the most wanted first; none for all there are (W3C `setCodecPreferences`).
  ///
  /// - Throws: `invalidModification` for a codec that there is not, and when only helpers are left.
  public mutating func setCodecPreferences(
    _ codecs: [CodecCapability], of id: Transceiver.ID
  ) throws(SessionError) {
    let known = self.codecs(for: try live(id).kind)
    var wanted: [CodecCapability] = []
    for codec in codecs where !wanted.contains(codec) {
      guard known.contains(codec) else {
        throw .invalidModification("there is no codec \(codec.name)/\(codec.clockRate) like that to prefer")
      }
      wanted.append(codec)
    }
    guard wanted.isEmpty || wanted.contains(where: { $0.role == .media }) else {
      throw .invalidModification("with none but helper formats there is nothing to send")
    }
    try translating { () throws(JSEPError) in
      try jsep.setCodecPreferences(wanted.isEmpty ? nil : wanted, of: id)
    }
  }

  /// What can be negotiated for a kind of media (W3C `getCapabilities`).
  public func codecs(for kind: MediaKind) -> [CodecCapability] {
    kind == .audio ? jsep.configuration.audio.codecs : jsep.configuration.video.codecs
  }

  // MARK: Steps

  func live(_ id: Transceiver.ID) throws(SessionError) -> Transceiver {
    guard connectionState != .closed else { throw .invalidState("closed") }
    guard let transceiver = jsep.transceiver(id) else { throw SessionError(JSEPError.unknownTransceiver) }
    guard !transceiver.isStopping, !transceiver.isStopped else { throw SessionError(JSEPError.transceiverStopped) }
    return transceiver
  }

  func checkKind(_ kind: MediaKind) throws(SessionError) {
    guard kind == .audio else {
      throw .notSupported("a \(kind) track: this stack has a microphone and no camera")
    }
  }

  func checkSource(_ track: MediaStreamTrack) throws(SessionError) {
    try checkKind(track.kind)
    if let problem = configuration.audio.problem { throw .notSupported(problem) }
    guard track.id.isEmpty || !media.channels.contains(where: { $0.state.track?.source?.id == track.id }) else {
      throw .invalidAccess("the track '\(track.id)' is sent already")
    }
  }

  /// Gives a transceiver what descriptions tell of a sender.
  mutating func makeSender(of id: Transceiver.ID, track: MediaStreamTrack?) throws(SessionError) {
    let made = media.makeTrack(track)
    try translating { () throws(JSEPError) in try jsep.setSender(made.sender, of: id) }
    media.setTrack(made, of: id, at: now)
  }
}
