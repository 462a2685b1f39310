public import CallCore
internal import DTLS
internal import ICE
internal import SDP

/// Offers, answers and candidates.
extension CallSession {
  /// Whether a remote description has been set.
  public var hasRemoteDescription: Bool { jsep.remoteDescription != nil }

  /// The local description with the candidates found so far (W3C `localDescription`).
  public var localDescription: SessionDescriptionText? {
    guard let description = jsep.localDescription else { return nil }
    let kind: SessionDescriptionText.Kind
    switch signalingState {
    case .haveLocalOffer, .haveRemotePranswer: kind = .offer
    case .haveLocalPranswer: kind = .pranswer
    default: kind = jsep.wasOfferer ? .offer : .answer
    }
    return SessionDescriptionText(kind, sdp: description.text)
  }

  /// Makes the next offer bring new ICE credentials.
  public func restartICE() {
    guard connectionState != .closed else { return }
    hasNegotiated = true
    try? jsep.restartICE()
    settle()
  }

  /// Creates an offer (W3C `createOffer`, RFC 9429 section 4.1.8).
  ///
  /// - Throws: ``SessionError/invalidState(_:)`` when the signalling state allows no offer.
  public func createOffer() throws(SessionError) -> SessionDescriptionText {
    if offersRestart, (try? jsep.restartICE()) != nil { offersRestart = false }
    if !jsep.isRestartRequested || isRestarting {
      restartCredentials = nil
    } else if restartCredentials == nil {
      restartCredentials = ice.makeCredentials()
    }
    return try translating { () throws(JSEPError) in
      SessionDescriptionText(.offer, sdp: try jsep.createOffer(transportParameters(restartCredentials)).text)
    }
  }

  /// Creates an answer to the remote offer (W3C `createAnswer`, RFC 9429 section 4.1.9).
  ///
  /// - Throws: ``SessionError/invalidState(_:)`` when there is no remote offer to answer.
  public func createAnswer() throws(SessionError) -> SessionDescriptionText {
    try translating { () throws(JSEPError) in
      SessionDescriptionText(.answer, sdp: try jsep.createAnswer(transportParameters()).text)
    }
  }

  /// Sets the local description (W3C `setLocalDescription`, RFC 9429 section 4.1.13) and begins to gather candidates.
  ///
  /// - Throws: ``SessionError/invalidState(_:)`` when the signalling state does not allow the description, or another
  ///   error when its text cannot be used.
  public func setLocalDescription(
    _ description: SessionDescriptionText, at now: Instant
  ) throws(SessionError) {
    guard enter(at: now) else { throw .invalidState("closed") }
    if description.kind == .rollback { return try rollBack() }
    let parsed = try parse(description)
    let effects = try translating { () throws(JSEPError) in
      try jsep.setLocalDescription(Self.type(of: description), parsed)
    }
    if description.kind == .offer, !hasStartedICE { ice.setRole(.controlling, at: self.now) }
    // The restart begins only here: an offer that is created but never set must not restart ICE.
    if description.kind == .offer, let restartCredentials { try beginRestart(byPeer: false, with: restartCredentials) }
    hasNegotiated = true
    reportEnds(effects)
    if effects.isNegotiated { try applyNegotiation() }
    // An answer that rejects every section needs no candidates.
    if description.kind == .offer || jsep.transport != nil { gatherIfNeeded() }
    reportTracks(effects)
    settle()
  }

  /// Sets the remote description (W3C `setRemoteDescription`, RFC 9429 section 4.1.14). A remote offer rolls back a
  /// pending local offer.
  ///
  /// - Throws: ``SessionError/invalidState(_:)`` when the signalling state does not allow the description, or another
  ///   error when its text cannot be used.
  public func setRemoteDescription(
    _ description: SessionDescriptionText, at now: Instant
  ) throws(SessionError) {
    guard enter(at: now) else { throw .invalidState("closed") }
    if description.kind == .rollback { return try rollBack() }
    let parsed = try parse(description)
    // A remote offer rolls back our pending one (W3C webrtc-pc section 4.4.1.5, the polite peer). An impolite
    // application must not set it.
    if description.kind == .offer, signalingState == .haveLocalOffer { try rollBack() }
    let effects = try translating(description.sdp) { () throws(JSEPError) in
      try jsep.setRemoteDescription(Self.type(of: description), parsed)
    }
    hasNegotiated = true
    trickledCandidates = 0
    if description.kind == .offer {
      if !hasStartedICE { ice.setRole(.controlled, at: self.now) }
      if !effects.isRemoteICERestart { cancelRestart() } else if !isRestarting { try beginRestart(byPeer: true) }
    }
    reportEnds(effects)
    if effects.isNegotiated { try applyNegotiation() }
    reportTracks(effects)
    settle()
  }

  /// Adds a remote candidate; nil or empty text signals the end of candidates.
  ///
  /// - Throws: ``SessionError/invalidCandidate(_:)`` for text that cannot be used, ``SessionError/invalidState(_:)``
  ///   without a remote description.
  public func addICECandidate(
    _ candidate: String?, mid: String?, mLineIndex: Int?, at now: Instant
  ) throws(SessionError) {
    guard enter(at: now) else { throw .invalidState("closed") }
    trickledCandidates += 1
    guard trickledCandidates <= Self.trickleLimit else {
      if trickledCandidates == Self.trickleLimit + 1 {
        events.append(.remoteCandidateRefused(candidate ?? "", reason: .tooMany))
      }
      return
    }
    let text = candidate ?? ""
    let parsed = text.isEmpty ? nil : ICECandidate(text)
    let isRefused = Defect.unresolvedNameFatal.isPlanted && parsed?.endpoint == nil
    guard text.isEmpty || (parsed != nil && !isRefused) else {
      throw .invalidCandidate("not a candidate: '\(text.prefix(200))'")
    }
    do throws(JSEPError) {
      guard try jsep.addRemoteCandidate(text, mid: mid, mLineIndex: mLineIndex ?? 0) else { return }
    } catch .unknownUsernameFragment {
      // The agent ignores one of an earlier generation, and keeps one that came before the description of a restart, as
      // libwebrtc does.
      if let parsed { addRemote(parsed) }
      return settle()
    } catch .noRemoteDescription {
      throw SessionError(.noRemoteDescription)
    } catch {
      throw .invalidCandidate("\(error)")
    }
    if let parsed { addRemote(parsed) } else { ice.endOfRemoteCandidates(at: self.now) }
    settle()
  }

  /// Supplies the address of a name requested by ``SessionCommand/nameResolutionNeeded(_:)``.
  package func nameResolved(_ name: String, to address: IPAddress, at now: Instant) {
    guard enter(at: now), unresolved.contains(where: { $0.address == .name(name) }) else { return }
    resolvedNames[name] = address
    for candidate in unresolved where candidate.address == .name(name) {
      ice.addRemoteCandidate(candidate.resolved(to: address), at: self.now)
    }
    unresolved.removeAll { $0.address == .name(name) }
    settle()
  }

  /// The number of candidates accepted after one description: more than an agent ever pairs.
  private static let trickleLimit = 500

  // MARK: Steps

  private func beginRestart(
    byPeer: Bool, with credentials: ICECredentials? = nil
  ) throws(SessionError) {
    do throws(ICEError) {
      try ice.restart(with: credentials, at: now)
    } catch {
      throw .invalidState("\(error)")
    }
    restartCredentials = nil
    isRestarting = true
    localCandidates = []
    events.append(.iceRestart(byPeer: byPeer))
  }

  private func rollBack() throws(SessionError) {
    let effects = try translating { () throws(JSEPError) in try jsep.rollback() }
    hasNegotiated = true
    cancelRestart()
    reportEnds(effects)
    media.forgetAll(but: jsep.transceivers)
    reportTracks(effects)
    settle()
  }

  /// Restores the candidates of the earlier generation. A restart that we requested stays pending (W3C restartIce): the
  /// next offer carries it.
  private func cancelRestart() {
    guard isRestarting, !Defect.rolledBackRestartStands.isPlanted, (try? ice.cancelRestart(at: now)) != nil else {
      return
    }
    isRestarting = false
    localCandidates = ice.localCandidates.filter { $0.type != .peerReflexive }
    cancelGathering()
  }

  /// Applies the result of offer and answer: the peer's transport, our DTLS role, and the codecs.
  private func applyNegotiation() throws(SessionError) {
    media.apply(jsep.media, of: jsep.transceivers, at: now)
    let isFinal = jsep.signalingState == .stable
    defer { applyDataNegotiation() }
    guard let transport = jsep.transport else {
      if isFinal, hasStartedICE { closeTransport() }
      return
    }
    if transport.remote.isLite { ice.setRemoteIsLite(at: now) }
    let credentials = ICECredentials(ufrag: transport.remote.usernameFragment, password: transport.remote.password)
    if ice.remoteCredentials != credentials {
      do throws(ICEError) {
        // A different endpoint than that of the provisional answer (serial forking, RFC 9429 section 3.6).
        if hasProvisionalPeer { ice.forgetRemote(at: now) }
        try ice.setRemoteCredentials(credentials, at: now)
      } catch {
        throw .invalidDescription("\(error)")
      }
      unresolved = []
      resolvedNames = [:]
    }
    hasProvisionalPeer = !isFinal
    isRestarting = false
    for text in transport.remote.candidates {
      if let candidate = ICECandidate(text) { addRemote(candidate) }
    }
    if transport.remote.endOfCandidates { ice.endOfRemoteCandidates(at: now) }
    hasStartedICE = true
    let hasDTLS = !transport.remote.fingerprints.isEmpty
    hasAgreedOnCleartext = configuration.dtlsPolicy == .off && !hasDTLS
    if configuration.protection == .dtlsSRTP, configuration.dtlsPolicy != .off, hasDTLS {
      try associate(with: transport)
    }
  }

  /// Closes the transport with its last section (RFC 9429 section 5.11). The next section gets a new transport: new
  /// credentials and candidates, another DTLS association, other keys.
  private func closeTransport() {
    transportNumber += 1
    if ice.connectionState != .new { events.append(.iceConnectionStateChange(.new)) }
    ice = ICEAgent(
      role: .controlling, settings: configuration.ice, random: random.stream("ice/\(transportNumber)"), at: now)
    replaceAssociation()
    remoteFingerprints = []
    hasAgreedOnCleartext = false
    (hasStartedICE, isRestarting, hasProvisionalPeer) = (false, false, false)
    localCandidates = []
    unresolved = []
    resolvedNames = [:]
    setGatheringState(.new)
  }

  /// The number of unresolved names accepted from a peer.
  private static let unresolvedLimit = 32

  /// Adds a remote candidate once its name is resolved. With the relay policy no name is resolved, because the query
  /// would reveal the peer to the server (draft-ietf-mmusic-mdns-ice-candidates section 3.3.2).
  private func addRemote(_ candidate: ICECandidate) {
    guard case .name(let name) = candidate.address, configuration.iceTransportPolicy == .all else {
      return ice.addRemoteCandidate(candidate, at: now)
    }
    if let address = resolvedNames[name] {
      return ice.addRemoteCandidate(candidate.resolved(to: address), at: now)
    }
    guard !unresolved.contains(candidate), unresolved.count < Self.unresolvedLimit else { return }
    if !unresolved.contains(where: { $0.address == candidate.address }) { events.append(.nameResolutionNeeded(name)) }
    unresolved.append(candidate)
  }

  /// Starts the DTLS association, or a new one when the peer's certificate has changed (RFC 8842 section 5.1).
  private func associate(with transport: NegotiatedTransport) throws(SessionError) {
    let fingerprints = transport.remote.fingerprints.compactMap { DTLS.Fingerprint($0.text) }
    if dtls.role != nil {
      if fingerprints.contains(where: remoteFingerprints.contains) { return }
      replaceAssociation()
    }
    remoteFingerprints = fingerprints
    let isActive = Defect.advertisedRoleNotActed.isPlanted ? ice.role == .controlled : transport.setup == .active
    do throws(DTLSError) {
      try dtls.start(as: isActive ? .client : .server, remoteFingerprints: fingerprints, at: now)
    } catch {
      throw .invalidDescription("\(error)")
    }
  }

  /// - Parameter restart: the credentials of the next generation, which has no candidates yet.
  private func transportParameters(_ restart: ICECredentials? = nil) -> TransportParameters {
    let fingerprint = SDP.Fingerprint(
      algorithm: "sha-256", digest: configuration.certificate.fingerprint(.sha256).digest)
    let credentials = restart ?? ice.localCredentials
    let candidates = restart == nil ? localCandidates.map(obfuscation.shown) : []
    return TransportParameters(
      usernameFragment: credentials.ufrag, password: credentials.password,
      fingerprints: configuration.dtlsPolicy == .off ? [] : [fingerprint], candidates: candidates.map(\.description),
      endOfCandidates: iceGatheringState == .complete && !candidates.isEmpty,
      defaultEndpoint: restart == nil ? defaultEndpoint : nil)
  }

  private func parse(_ description: SessionDescriptionText) throws(SessionError) -> SessionDescription {
    do throws(SDPError) {
      return try SessionDescription(parsing: description.sdp)
    } catch {
      throw .invalidDescription("\(error)")
    }
  }

  private static func type(of description: SessionDescriptionText) -> DescriptionType {
    switch description.kind {
    case .answer: .answer
    case .pranswer: .pranswer
    case .offer, .rollback: .offer
    }
  }

}

/// Runs a JSEP step and translates its errors into those of the session.
///
/// - Parameter remote: the remote description that the step reads.
func translating<Result>(
  _ remote: String? = nil, _ body: () throws(JSEPError) -> Result
) throws(SessionError) -> Result {
  do throws(JSEPError) {
    return try body()
  } catch {
    throw SessionError(error, reading: remote)
  }
}

extension SessionError {
  init(_ error: JSEPError, reading remote: String? = nil) {
    switch error {
    case .noCommonCodec: self = .noCommonCodec
    case .wrongState(let state): self = .invalidState(state.rawValue)
    case .dataUnsupported: self = .notSupported("data channels")
    case .unknownTransceiver: self = .invalidAccess("\(error)")
    case .modifiedDescription, .transceiverStopped, .nothingToNegotiate, .noRemoteDescription:
      self = .invalidState("\(error)")
    default:
      let line = remote.flatMap { error.line(in: $0) }
      self = .invalidDescription((line.map { "SDP line \($0): " } ?? "") + "\(error)")
    }
  }
}
