internal import CallCore

extension JSEPSession {
  /// Applies an answered pair of descriptions.
  mutating func apply(_ pair: DescriptionPair, isFinal: Bool, effects: inout DescriptionEffects) throws(JSEPError) {
    let negotiated = try negotiatedTransport(pair)
    let credentials = try negotiated.map { agreed throws(JSEPError) in
      try transport(of: pair.local, at: agreed.mLineIndex)
    }
    for position in transceivers.indices {
      guard let index = transceivers[position].mLineIndex, index < pair.answer.media.count else { continue }
      guard pair.answer.media[index].port != 0 else {
        if isFinal { transceivers[position].association.isStopped = true }
        continue
      }
      let direction = pair.direction(at: index)
      transceivers[position].association.currentDirection = direction
      if direction.sends { transceivers[position].hasSent = true }
    }
    media = pair.local.media.indices.compactMap { index in
      guard let owner = transceivers.first(where: { $0.mLineIndex == index && !$0.isStopped }), let mid = owner.mid
      else {
        return nil
      }
      return pair.media(at: index, mid: mid, transceiver: owner.id)
    }
    applyData(pair, isFinal: isFinal)
    transport = negotiated
    effects.isNegotiated = true
    if isFinal {
      if credentials?.isSameGeneration(as: localTransport) != true { isRestartRequested = false }
      localTransport = credentials
      settle(pair, effects: &effects)
    } else {
      pendingLocalDescription = pair.local
      pendingRemoteDescription = pair.remote
    }
  }

  /// Makes the pair the stable state, to which a rollback returns.
  private mutating func settle(_ pair: DescriptionPair, effects: inout DescriptionEffects) {
    if pair.isLocalOffer, let createdOffer { nextMid = createdOffer.nextMid }
    current = pair
    forgetPending()
    for position in transceivers.indices where transceivers[position].isStopped {
      effects.stopped.append(transceivers[position].id)
      if transceivers[position].association.hasRemoteTrack { effects.tracksRemoved.append(transceivers[position].id) }
    }
    transceivers.removeAll { $0.isStopped }
    for position in transceivers.indices { transceivers[position].stable = transceivers[position].association }
    dataSection.stable = dataSection.association
  }

  /// Returns the transport of the answer's first bundled section (RFC 9143 §7.3.1); nil when every section is rejected.
  func negotiatedTransport(_ pair: DescriptionPair) throws(JSEPError) -> NegotiatedTransport? {
    let tag = pair.answer.bundle.first.flatMap { mid in pair.answer.media.firstIndex { $0.mid == mid } }
    guard let index = tag ?? pair.answer.media.firstIndex(where: { $0.port != 0 }) else { return nil }
    let remote = try transport(of: pair.remote, at: index)
    let setup = try pair.isLocalOffer ? ownSetup(answeredBy: remote) : ownSetup(answering: remote)
    return NegotiatedTransport(mid: pair.answer.media[index].mid, mLineIndex: index, remote: remote, setup: setup)
  }

  func isRestart(_ remote: TransportDescription) -> Bool {
    transport.map { !remote.isSameGeneration(as: $0.remote) } ?? false
  }

  // MARK: DTLS roles (RFC 8842 §5)

  /// Returns the role of the running association, which lasts as long as the remote certificate.
  private func runningSetup(with remote: TransportDescription) -> SetupRole? {
    guard let transport, transport.remote.fingerprints.contains(where: remote.fingerprints.contains) else { return nil }
    return transport.setup
  }

  /// Returns our role in an answer. `actpass` is answered with `active` unless configured otherwise, so that the
  /// ClientHello need not wait for the answer; a running association keeps its roles.
  func ownSetup(answering remote: TransportDescription) -> SetupRole {
    if let running = runningSetup(with: remote), !Defect.roleForgottenInRenegotiation.isPlanted { return running }
    switch remote.setup {
    case .active: return .passive
    case .actpass where configuration.answersPassively: return .passive
    default: return .active
    }
  }

  private func ownSetup(answeredBy remote: TransportDescription) throws(JSEPError) -> SetupRole {
    // RFC 4145 §4.1: the default is active.
    let theirs = remote.setup ?? .active
    guard theirs == .active || theirs == .passive else { throw .invalidSetup(theirs) }
    // Some peers forget their role, announce the other one, and continue the running association. A new association
    // would need another certificate (RFC 8842 §4), so the roles stay regardless of the answer.
    if let running = runningSetup(with: remote) { return running }
    return theirs == .active ? .passive : .active
  }

  private func isLive(_ section: MediaDescription) -> Bool {
    !section.isRejected && (section.isRTP || (configuration.data != nil && section.sctp != nil))
  }

  /// Returns the transport of a section, which has a fingerprint unless this side does without.
  func transport(of description: SessionDescription, at index: Int) throws(JSEPError) -> TransportDescription {
    try description.transport(at: index, needsFingerprint: configuration.needsFingerprint)
  }

  /// Checks that every live section has a transport, and that the one in use keeps its DTLS role.
  func checkOfferedTransport(_ offer: SessionDescription, effects: inout DescriptionEffects) throws(JSEPError) {
    let live = offer.media.indices.filter { isLive(offer.media[$0]) }
    for index in live {
      let remote = try transport(of: offer, at: index)
      if remote.setup == .holdconn { throw .invalidSetup(.holdconn) }
      if let setup = remote.setup, setup != .actpass, setup == runningSetup(with: remote) { throw .setupChanged }
    }
    let tagged = offer.bundle.first.flatMap { tag in live.first { offer.media[$0].mid == tag } } ?? live.first
    if let tagged {
      effects.isRemoteICERestart = isRestart(try transport(of: offer, at: tagged))
    }
  }
}

extension TransportDescription {
  /// Returns whether the credentials are the same; different ones are an ICE restart (RFC 8839 §4.4.3).
  func isSameGeneration(as other: TransportDescription?) -> Bool {
    usernameFragment == other?.usernameFragment && password == other?.password
  }
}
