internal import CallCore

/// What setting a description, or taking one back, changed for the owner.
package struct DescriptionEffects: Hashable, Sendable {
  /// Transceivers whose far side now announces media (W3C: the track event).
  package internal(set) var tracksAdded: [Transceiver.ID] = []
  package internal(set) var tracksRemoved: [Transceiver.ID] = []
  /// Transceivers that negotiation has ended; the session no longer lists them.
  package internal(set) var stopped: [Transceiver.ID] = []
  /// The far side has new ICE credentials: answer an offer like this with new ones of your own.
  package internal(set) var isRemoteICERestart = false
  /// ``JSEPSession/media`` and ``JSEPSession/transport`` are new.
  package internal(set) var isNegotiated = false

  package init() {}
}

extension JSEPSession {
  /// Makes the description created last our own (RFC 9429 §5.9).
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

  /// Checks and takes the far side's description (RFC 9429 §5.10, §5.11).
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
      if let answered, isRestart(answered.remote) {
        // RFC 8839 §4.4.1.1.1: who restarts is the offerer.
        let offered = try offer.transport(at: answered.mLineIndex)
        if offered.isSameGeneration(as: localTransport) { throw .credentialsChanged }
        effects.isRemoteICERestart = true
      }
      updateTracks(from: description, effects: &effects)
      try apply(pair, isFinal: type == .answer, effects: &effects)
    }
    signalingState = next
    return effects
  }

  /// Takes the pending offer back, ours or theirs, and with it all that it changed (RFC 9429 §4.1.10.2, §5.7).
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
  }

  /// A transceiver that addTrack took over since has a life of its own, and stays (RFC 9429 §4.1.10.2).
  private mutating func removeTransceiversOfRolledBackOffer() {
    transceivers.removeAll { $0.maker == .remoteOffer && $0.stable.mLineIndex == nil }
  }

  private mutating func associate(_ created: CreatedOffer) {
    for (index, id) in created.transceivers.enumerated() {
      guard let position = transceivers.firstIndex(where: { $0.id == id }) else { continue }
      transceivers[position].association.mLineIndex = index
      transceivers[position].association.mid = created.description.media[index].mid
    }
  }

  /// RFC 9429 §5.10: the transceiver of before, else one that addTrack made and that waits, else a new one. What the far
  /// side does not receive is no place for a track of ours.
  private mutating func associate(_ offer: SessionDescription) {
    for (index, section) in offer.media.enumerated() where !section.isRejected && section.isRTP {
      guard let kind = section.kind, !transceivers.contains(where: { $0.mLineIndex == index }) else { continue }
      let waiting = transceivers.first {
        $0.maker == .addTrack && $0.mLineIndex == nil && $0.kind == kind && !$0.isStopping
      }
      // A track that waits has one encoding, and a simulcast is for a transceiver that knows of it (as in libwebrtc).
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
      // What we can decode nothing of will be rejected, so it never becomes a track.
      let role = section.codecs.mainRole
      let isUsable = section.codecs(
        answeredBy: capabilities(transceivers[position]).codecs, inTheirOrder: false
      ).contains { $0.role == role }
      let sends = isUsable && !section.isRejected && remote.direction(of: section).sends
      guard sends != transceivers[position].association.hasRemoteTrack else { continue }
      transceivers[position].association.hasRemoteTrack = sends
      if sends {
        effects.tracksAdded.append(transceivers[position].id)
      } else {
        effects.tracksRemoved.append(transceivers[position].id)
      }
    }
  }
}
