public import SDP

/// Sender settings that need no negotiation (webrtc-pc section 5.2).
extension CallSession {
  /// The transceivers that are not stopped, in order of creation (W3C `getTransceivers`).
  public var rtpTransceivers: [RTPTransceiver] {
    jsep.transceivers.map { transceiver in
      let state = media.knownChannel(of: transceiver.id)?.state
      return RTPTransceiver(
        id: transceiver.id, kind: transceiver.kind, mid: transceiver.mid, direction: transceiver.direction,
        currentDirection: transceiver.currentDirection, sender: .init(track: state?.track?.source),
        receiver: .init(
          track: MediaStreamTrack(
            transceiver.kind, id: state?.remoteTrackID ?? "",
            from: .received(connection: number, transceiver: transceiver.id)),
          isMuted: state?.isMuted ?? true))
    }
  }

  /// Replaces the track of a sender, or with nil stops sending it, without negotiation (W3C `replaceTrack`).
  ///
  /// - Throws: `type` for a track of another kind, `invalidState` for a stopped transceiver.
  public func replaceTrack(_ track: MediaStreamTrack?, of id: Transceiver.ID) throws(SessionError) {
    let transceiver = try live(id)
    guard let track else {
      media.setSource(nil, of: id, transceiver.kind)
      return try translating { () throws(JSEPError) in try jsep.setTrack(false, of: id) }
    }
    try checkSource(track)
    guard track.kind == transceiver.kind else {
      throw .type("a \(track.kind) track cannot replace one of \(transceiver.kind)")
    }
    if transceiver.sender == nil { try makeSender(of: id, track: track) }
    media.setSource(track, of: id, transceiver.kind)
    try translating { () throws(JSEPError) in try jsep.setTrack(true, of: id) }
  }

  /// Returns a sender's parameters, and opens a transaction for changing them (W3C `getParameters`).
  public func sendParameters(of id: Transceiver.ID) throws(SessionError) -> SendParameters {
    let transceiver = try live(id)
    let section = jsep.media.first { $0.transceiver == id }
    transactions += 1
    openTransactions[id] = transactions
    return SendParameters(
      transaction: transactions, encodings: media.parameters(of: id),
      codecs: (section?.sendCodecs ?? []).map { codec in
        SendParameters.Codec(
          payloadType: codec.payloadType, mimeType: "\(transceiver.kind)/\(codec.name)", clockRate: codec.clockRate,
          channels: codec.channels, parameters: codec.parameters)
      },
      headerExtensions: section?.headerExtensions.filter { $0.direction?.sends ?? true } ?? [],
      cname: configuration.cname, usesReducedSizeRTCP: section?.reducedSizeRTCP ?? false)
  }

  /// Applies parameters, which must come from the last ``sendParameters(of:)`` (W3C `setParameters`).
  ///
  /// - Throws: `invalidState` when they were not requested, `invalidModification` for a change of a read-only part,
  ///   `range` for a number that no encoder accepts.
  public func setSendParameters(
    _ parameters: SendParameters, of id: Transceiver.ID
  ) throws(SessionError) {
    let kind = try live(id).kind
    guard let transaction = openTransactions[id] else {
      throw .invalidState("these parameters were already set; get them again before you change them")
    }
    guard transaction == parameters.transaction else {
      throw .invalidModification("these parameters are out of date; get them again")
    }
    guard parameters.encodings.map(\.rid) == media.parameters(of: id).map(\.rid) else {
      throw .invalidModification("encodings cannot be added, removed or renamed once a transceiver has been made")
    }
    for encoding in parameters.encodings { try encoding.check(kind) }
    try checkLimits(parameters.encodings)
    openTransactions[id] = nil
    media.setParameters(parameters.encodings, of: id, kind, at: now)
  }

  /// Restricts offers and answers to these codecs, the preferred one first; an empty array restores the default (W3C
  /// `setCodecPreferences`).
  ///
  /// - Throws: `invalidModification` for an unknown codec, and when only helper formats are left.
  public func setCodecPreferences(
    _ codecs: [CodecCapability], of id: Transceiver.ID
  ) throws(SessionError) {
    let known = self.codecs(for: try live(id).kind)
    var wanted: [CodecCapability] = []
    for codec in codecs where !wanted.contains(codec) {
      guard known.contains(codec) else {
        throw .invalidModification("the codec \(codec.name)/\(codec.clockRate) with these parameters is not supported")
      }
      wanted.append(codec)
    }
    guard wanted.isEmpty || wanted.contains(where: { $0.role == .media }) else {
      throw .invalidModification("the preferences contain only helper formats; add a media codec")
    }
    try translating { () throws(JSEPError) in
      try jsep.setCodecPreferences(wanted.isEmpty ? nil : wanted, of: id)
    }
  }

  /// Returns the codecs that can be negotiated for a kind of media (W3C `getCapabilities`).
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
    guard kind == .audio || configuration.video != nil else {
      throw .notSupported("a \(kind) track: this connection is configured without video")
    }
  }

  /// Refuses limits that need an encoder, in a session that forwards.
  func checkLimits(_ encodings: [EncodingParameters]) throws(SessionError) {
    guard configuration.forwards else { return }
    guard encodings.count < 2 else { throw .notSupported("several encodings of a forwarded track") }
    for encoding in encodings
    where encoding.maxBitrate != nil || encoding.maxFramerate != nil || encoding.scaleResolutionDownBy != nil {
      throw .notSupported("a limit of a forwarded track: it is not encoded again")
    }
  }

  func checkSettings(of kind: MediaKind) throws(SessionError) {
    try checkKind(kind)
    let problem = kind == .audio ? configuration.audio.problem : configuration.video?.problem
    if let problem { throw .notSupported(problem) }
    guard kind == .audio, configuration.media == .real,
      let codec = configuration.audio.codecs.first(where: \.isModelled)
    else { return }
    throw .notSupported("\(codec.rawValue) with real media: it is modelled, and takes synthetic media")
  }

  func checkSource(_ track: MediaStreamTrack) throws(SessionError) {
    try checkSettings(of: track.kind)
    guard (track.source != .device) == configuration.forwards else {
      throw .notSupported(
        configuration.forwards
          ? "a track of the device: this connection sends tracks that others receive"
          : "a received track: this connection forwards none")
    }
    guard track.id.isEmpty || !media.channels.contains(where: { $0.state.track?.source?.id == track.id }) else {
      throw .invalidAccess("the track '\(track.id)' is sent already")
    }
  }

  /// Gives a transceiver a sender with the identifiers for descriptions.
  func makeSender(of id: Transceiver.ID, track: MediaStreamTrack?) throws(SessionError) {
    let kind = try live(id).kind
    let made = media.makeTrack(track, kind)
    try translating { () throws(JSEPError) in try jsep.setSender(made.sender, of: id) }
    media.setTrack(made, of: id, kind, at: now)
  }
}
