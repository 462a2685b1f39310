internal import CallCore

/// The changes caused by setting or rolling back a description.
package struct DescriptionEffects: Hashable, Sendable {
  /// Transceivers whose remote side now announces media (W3C: the track event).
  package internal(set) var tracksAdded: [Transceiver.ID] = []
  package internal(set) var tracksRemoved: [Transceiver.ID] = []
  /// Transceivers ended by negotiation; the session no longer lists them.
  package internal(set) var stopped: [Transceiver.ID] = []
  /// Whether the remote side has new ICE credentials; the answer to such an offer needs new ones too.
  package internal(set) var isRemoteICERestart = false
  /// Whether ``JSEPSession/media`` and ``JSEPSession/transport`` have changed.
  package internal(set) var isNegotiated = false

  package init() {}
}

extension JSEPSession {
  /// Sets the last created description as our own (RFC 9429 §5.9).
  @discardableResult
  package mutating func setLocalDescription(
    _ type: DescriptionType, _ description: SessionDescription
  ) throws(JSEPError) -> DescriptionEffects {
    guard let next = signalingState.next(.local, type) else { throw .wrongState(signalingState) }
    var effects = DescriptionEffects()
    if type == .offer {
      guard let createdOffer, createdOffer.description == description,
        createdOffer.transceivers.allSatisfy({ id in id == nil || transceivers.contains { $0.id == id } })
      else { throw .modifiedDescription }
      restoreStableAssociations()
      associate(createdOffer)
      pendingLocalDescription = description
    } else {
      guard createdAnswer == description, let offer = pendingRemoteDescription else { throw .modifiedDescription }
      let pair = DescriptionPair(local: description, remote: offer, isLocalOffer: false)
      try apply(pair, isFinal: type == .answer, effects: &effects)
    }
    signalingState = next
    return effects
  }

  /// Checks and sets the remote description (RFC 9429 §5.10, §5.11).
  @discardableResult
  package mutating func setRemoteDescription(
    _ type: DescriptionType, _ description: SessionDescription
  ) throws(JSEPError) -> DescriptionEffects {
    guard let next = signalingState.next(.remote, type) else { throw .wrongState(signalingState) }
    var effects = DescriptionEffects()
    try description.checkAsRemote()
    if type == .offer {
      try description.checkContinues(current, transceivers)
      try checkOfferedTransport(description, effects: &effects)
      takeBackTracks(effects: &effects)
      restoreStableAssociations()
      removeTransceiversOfRolledBackOffer()
      associate(description)
      associateData(description)
      pendingRemoteDescription = description
      createdAnswer = nil
      updateTracks(from: description, effects: &effects)
    } else {
      guard let offer = pendingLocalDescription else { throw .wrongState(signalingState) }
      try description.checkAnswers(offer)
      let pair = DescriptionPair(local: offer, remote: description, isLocalOffer: true)
      let answered = try negotiatedTransport(pair)
      for index in description.media.indices
      where description.media[index].port != 0 && description.media[index].kind != nil {
        guard !pair.codecPairs(at: index).isEmpty else { throw .noCommonCodec }
      }
      try checkDataAnswer(pair)
      if let answered, isRestart(answered.remote) {
        // RFC 8839 §4.4.1.1.1: only the offerer may restart.
        let offered = try transport(of: offer, at: answered.mLineIndex)
        if offered.isSameGeneration(as: localTransport) { throw .credentialsChanged }
        effects.isRemoteICERestart = true
      }
      updateTracks(from: description, effects: &effects)
      try apply(pair, isFinal: type == .answer, effects: &effects)
    }
    signalingState = next
    return effects
  }

  /// Rolls back the pending offer, local or remote, with all of its changes (RFC 9429 §4.1.10.2, §5.7).
  @discardableResult
  package mutating func rollback() throws(JSEPError) -> DescriptionEffects {
    guard signalingState == .haveLocalOffer || signalingState == .haveRemoteOffer else {
      throw .wrongState(signalingState)
    }
    var effects = DescriptionEffects()
    takeBackTracks(effects: &effects)
    if !Defect.rollbackKeepsMid.isPlanted { restoreStableAssociations() }
    if signalingState == .haveRemoteOffer, !Defect.rollbackKeepsTransceivers.isPlanted {
      removeTransceiversOfRolledBackOffer()
    }
    forgetPending()
    signalingState = .stable
    return effects
  }

  mutating func forgetPending() {
    pendingLocalDescription = nil
    pendingRemoteDescription = nil
    createdOffer = nil
    createdAnswer = nil
  }

  // MARK: Association of transceivers and sections

  private mutating func restoreStableAssociations() {
    for index in transceivers.indices { transceivers[index].association = transceivers[index].stable }
    dataSection.association = dataSection.stable
  }

  /// Removes the transceivers made by the offer, except those that addTrack has since used (RFC 9429 §4.1.10.2).
  private mutating func removeTransceiversOfRolledBackOffer() {
    transceivers.removeAll { $0.maker == .remoteOffer && $0.stable.mLineIndex == nil }
  }

  private mutating func associate(_ created: CreatedOffer) {
    for (index, id) in created.transceivers.enumerated() {
      guard let position = transceivers.firstIndex(where: { $0.id == id }) else { continue }
      transceivers[position].association.mLineIndex = index
      transceivers[position].association.mid = created.description.media[index].mid
    }
    if let index = created.dataIndex {
      dataSection.association = DataSection.Association(
        mid: created.description.media[index].mid, mLineIndex: index)
    }
  }

  /// Associates each section with its earlier transceiver, else with one that addTrack made and that has no section,
  /// else with a new one (RFC 9429 §5.10). A track cannot use a section in which the remote side does not receive.
  private mutating func associate(_ offer: SessionDescription) {
    for (index, section) in offer.media.enumerated() where !section.isRejected && section.isRTP {
      guard let kind = section.kind, !transceivers.contains(where: { $0.mLineIndex == index }) else { continue }
      let waiting = transceivers.first {
        $0.maker == .addTrack && $0.mLineIndex == nil && $0.kind == kind && !$0.isStopping
      }
      // A track of addTrack has one encoding; a simulcast needs a transceiver made for it (as in libwebrtc).
      let proposed = section.simulcast?.receive.compactMap(\.first?.id) ?? []
      let id = offer.direction(of: section).receives && proposed.isEmpty ? waiting?.id : nil
      let own = id ?? add(kind, direction: .recvonly, sender: nil, maker: .remoteOffer)
      guard let position = transceivers.firstIndex(where: { $0.id == own }) else { continue }
      transceivers[position].association.mLineIndex = index
      transceivers[position].association.mid = section.mid ?? "unnamed-\(index)"
      transceivers[position].proposedEncodings = proposed
    }
  }

  private func takeBackTracks(effects: inout DescriptionEffects) {
    for transceiver in transceivers
    where transceiver.association.hasRemoteTrack != transceiver.stable.hasRemoteTrack {
      if transceiver.stable.hasRemoteTrack {
        effects.tracksAdded.append(transceiver.id)
      } else {
        effects.tracksRemoved.append(transceiver.id)
      }
    }
  }

  private mutating func updateTracks(from remote: SessionDescription, effects: inout DescriptionEffects) {
    for position in transceivers.indices {
      guard let index = transceivers[position].mLineIndex, index < remote.media.count else { continue }
      let section = remote.media[index]
      let sends =
        !section.isRejected && remote.direction(of: section).sends
        && hasUsableCodec(section, for: transceivers[position])
      guard sends != transceivers[position].association.hasRemoteTrack else { continue }
      transceivers[position].association.hasRemoteTrack = sends
      if sends {
        effects.tracksAdded.append(transceivers[position].id)
      } else {
        effects.tracksRemoved.append(transceivers[position].id)
      }
    }
  }

  /// Returns whether we decode a codec of a section: one without will be rejected, so it does not become a track.
  private func hasUsableCodec(_ section: MediaDescription, for transceiver: Transceiver) -> Bool {
    let codecs = section.codecs
    let role = codecs.mainRole
    return codecs.answered(by: capabilities(transceiver).codecs, inTheirOrder: false).contains { $0.role == role }
  }
}
